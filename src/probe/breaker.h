/* SPDX-License-Identifier: Apache-2.0
 *
 * The circuit breaker of a target: after failures in a row nothing is asked for a while, then a few
 * questions on trial decide. Pure; says when its state changed, the log is for others.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "grade.h"
#include "reconciled/probe/engine.h"

struct breaker_options {
	int failures; /* in a row; 0: it never opens */
	int trial;    /* questions that must succeed; below 1: 1 */
	int64_t open_us;
};

struct breaker {
	struct breaker_options options;
	enum breaker_state state;
	/* Changes with the state. An answer to what was asked before a change proves nothing. */
	unsigned generation;
	int failed;	       /* CLOSED: in a row */
	int trials, succeeded; /* HALF_OPEN: left to be asked; answered well */
	int64_t retry_at_us;   /* OPEN: from then on questions on trial may go */
	enum reason cause;     /* of the last failure */
	bool unreached;	       /* nothing came back: the last failure was on the way */
};

void breaker_init(struct breaker *breaker, const struct breaker_options *options);

/* How many questions it lets out; INT_MAX while it is closed. */
int breaker_free(const struct breaker *breaker, int64_t now_us);

/* One of them goes; the first after the pause makes it half-open. The ticket goes with it. */
unsigned breaker_take(struct breaker *breaker);

/* The question got no answer of its own (cancelled): its place on trial is free again. */
void breaker_give(struct breaker *breaker, unsigned ticket);

/* True: the state changed. random spreads the pause, so that instances do not fall into step. */
bool breaker_answer(struct breaker *breaker, unsigned ticket, const struct reading *reading,
		    int64_t now_us, uint64_t random);

/* An open one may be tried from now on. */
void breaker_try_now(struct breaker *breaker, int64_t now_us);

void breaker_inherit(struct breaker *breaker, const struct breaker *before, int64_t now_us);
