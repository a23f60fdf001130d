/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside probe: one question on its way to a target, with all its tries and pages, for one
 * operation or, where the probe has a batch, for several.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "http.h"
#include "reconciled/probe/engine.h"
#include "retry.h"

struct asking;

/* The part of one operation in it. */
struct probe_run {
	struct asking *asking;
	TAILQ_ENTRY(probe_run) link;
	struct arena *arena;
	const struct operation *op;
	probe_done_fn *done;
	void *owner;
	const struct reading *reading; /* of the last answer; NULL: none yet */
};

TAILQ_HEAD(run_list, probe_run);

struct asking {
	struct probe_target *target;
	TAILQ_ENTRY(asking) link;
	struct run_list runs; /* who still wants to know */
	size_t runs_count;
	struct arena *shared; /* of a batch: its pages, held by the arenas of all runs */
	struct http_query query;
	unsigned ticket;
	struct retry_past past; /* of the page */
	bool answered;		/* there is a reading, but it may be asked again */
	int64_t asked_us;	/* the last request */
	int64_t began_us;	/* the one that brought the first page */
	int64_t answered_us;	/* how old the oldest page is */
	bool is_held, delivering;
	int64_t held_us, due_us; /* while it is held: since when; not before */
};

TAILQ_HEAD(asking_list, asking);

/* batch: with pages of its own that the arenas of all runs hold. Without a run yet. */
struct asking *asking_begin(struct probe_target *target, const struct probe_question *question,
			    bool batch);
void asking_add(struct asking *asking, struct probe_run *run);

/* Keeps it back, for so long at least. */
void asking_hold(struct asking *asking, int64_t delay_us);

/* Sends what is held and may go, and gives up what may not; from the loop. */
void asking_serve(struct probe_target *target);

/* The next moment at which something of it changes without an answer, if that is before next_us. */
int64_t asking_next_us(const struct asking *asking, int64_t now_us, int64_t next_us);

void asking_cancel_all(struct probe_target *target);
void asking_free_idle(struct probe_target *target);
