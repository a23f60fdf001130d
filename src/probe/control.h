/* SPDX-License-Identifier: Apache-2.0
 *
 * The control object of a target: something known to exist. While it is not found, "not there" says
 * nothing about anything else. Asked when there is need and the last answer is old, so an idle
 * daemon asks nothing; but one that was lost is asked again also then, so that its alarm ends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gate.h"
#include "http.h"

typedef void control_settled_fn(void *owner, const struct reading *reading);

struct control {
	const char *target;
	const struct probe *probe; /* NULL: the target declares none */
	struct http_peer *peer;
	struct gate *gate; /* its question passes like any other */
	control_settled_fn *settled;
	void *owner;
	int64_t every_us, pause_us, ask_at_us, began_us;
	int64_t answered_us; /* 0: the last answer does not count */
	enum control_state state;
	bool known; /* state is that of an answer */
	bool asking;
	unsigned ticket;
	struct arena *arena;
	struct http_query query;
};

/* The caller sets target, probe, peer, gate, settled, owner, every_us. */
void control_init(struct control *control);
void control_finish(struct control *control);

/*
 * Asks if it is time to and the gate is open; of what a breaker lets out on trial it is the first.
 * settled is called from the loop once it is answered.
 */
void control_step(struct control *control);

/* It was answered, and not found. */
bool control_is_lost(const struct control *control);

/* The state may be used: nothing to ask, or the answer is not too old. */
bool control_is_settled(const struct control *control);

/* The state of another configuration's control is known, but it is asked anew before it counts. */
void control_inherit(struct control *control, const struct control *before);
