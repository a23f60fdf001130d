/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks targets: limits, the control object, and the drivers that fetch. Questions go in, readings
 * come out; what they mean is for others to say.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/core/classify.h"
#include "reconciled/probe/target_options.h"

struct arena;
struct curl_loop;
struct event_base;

struct probe_engine;
struct probe_target; /* a target inside the engine */
struct probe_run;    /* one probe under way */

/* One question about one operation. Everything is borrowed until done was called or the run was
 * cancelled. In the responses of the reading, headers and tree are in the arena, or in one that it
 * holds; body is NULL, its bytes were the connection's. */
struct probe_question {
	struct arena *arena; /* the reading is made in it */
	const struct probe *probe;
	const struct operation *op;
};

/* Times: CLOCK_MONOTONIC. */
struct probe_answer {
	const struct reading *reading;
	enum control_state control;
	int64_t began_us;    /* the request left, the last one where it was repeated */
	int64_t answered_us; /* as old as the answer may be: before now when the process stood still */
};

/* Exactly once per probe that was not cancelled, from the loop, never from inside probe_start. */
typedef void probe_done_fn(void *owner, const struct probe_answer *answer);

struct probe_engine *probe_engine_create(struct event_base *base, struct curl_loop *curl);
/* Cancels what runs. Not from inside a callback of the engine. */
void probe_engine_destroy(struct probe_engine *engine);

struct probe_target *probe_engine_add(struct probe_engine *engine,
				      const struct probe_target_options *options);

/* How many more probes of this target may be started now. Asking shows need: a control without a
 * recent answer is asked now, and there are 0 until it answered. */
int probe_target_free(struct probe_target *target);

/* The same for operations of a policy, of which one question may ask about several (batch): as many
 * as there are free slots, times the most that one question takes. */
int probe_target_room(struct probe_target *target, const struct policy *policy);

/* One of how many equal parts of the target's limits is ours; parts 0: none. Whole targets (part 0
 * of 1) from the start. What is under way beyond a smaller part runs to its end. The caller sees to
 * it that parts is not above concurrent: one instance has the whole target then. */
void probe_target_set_part(struct probe_target *target, int part, int parts);

/* How long nothing can be started, as far as is known: 0 now or as soon as an answer comes, else
 * the rest of what the target asked for (Retry-After, a used up rate) or of the open breaker; an
 * hour when no part is ours. */
int64_t probe_target_closed_us(const struct probe_target *target);

enum breaker_state { BREAKER_CLOSED, BREAKER_HALF_OPEN, BREAKER_OPEN };
const char *breaker_state_name(enum breaker_state state);
enum breaker_state probe_target_breaker(const struct probe_target *target);
enum control_state probe_target_control(const struct probe_target *target);

/* What was learnt of a target (breaker, what its rates allow, control) goes over to the one that
 * replaces it after a reload. */
void probe_target_inherit(struct probe_target *target, const struct probe_target *before);

/* Every target failed at once, and there are several: the fault is on our side. Then one target is
 * tried at a time until one answers. */
bool probe_engine_is_isolated(const struct probe_engine *engine);

/* After each single answer (a reading may need several), from the loop. cause: of an answer that
 * is unavailable, else REASON_COUNT. */
typedef void probe_answered_fn(void *owner, const char *target, enum reason cause,
			       int64_t elapsed_us);
void probe_engine_on_answered(struct probe_engine *engine, probe_answered_fn *answered,
			      void *owner);

/* Called (from the loop) whenever probe_target_free may have grown from 0. */
typedef void probe_ready_fn(void *owner, struct probe_target *target);
void probe_engine_on_ready(struct probe_engine *engine, probe_ready_fn *ready, void *owner);

/* Needs a free slot or, with a batch, room; without one, or from inside done, it waits its turn
 * where slots, the rate, or a pause of up to retry_max_us hold it back. A probe with a batch is sent
 * when the batch is full, or after a moment in which others may join. Cannot fail: what goes wrong
 * is a reading. */
struct probe_run *probe_start(struct probe_target *target, const struct probe_question *question,
			      probe_done_fn *done, void *owner);
void probe_cancel(struct probe_run *run); /* done will not be called */
