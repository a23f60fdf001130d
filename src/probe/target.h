/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside probe: a target and the probes under way at it. engine.c keeps the list of targets, this
 * what happens at one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <event2/event_struct.h>

#include "asking.h"
#include "control.h"
#include "gate.h"
#include "reconciled/probe/engine.h"
#include "standstill.h"

TAILQ_HEAD(target_list, probe_target);

struct probe_engine {
	struct event_base *base;
	struct curl_loop *curl;
	struct target_list targets;
	struct isolation isolation;
	struct standstill standstill;
	probe_ready_fn *ready;
	void *ready_owner;
	probe_answered_fn *answered;
	void *answered_owner;
};

struct probe_target {
	struct probe_engine *engine;
	TAILQ_ENTRY(probe_target) link;
	struct probe_target_options options;
	struct retry_options retry;
	struct http_peer *peer;
	struct gate gate;
	struct control control;
	/* held: waiting to be asked, for the first time or again */
	struct asking_list running, held, idle;
	struct run_list idle_runs;
	bool wanted; /* somebody found nothing free */
	struct event timer;
	int64_t timer_at_us; /* 0: not armed */
};

struct probe_target *target_create(struct probe_engine *engine,
				   const struct probe_target_options *options);
void target_destroy(struct probe_target *target);

/* After an answer, from the loop: control, what is held, who waits for a slot, the timer. */
void target_step(struct probe_target *target);

/* Each answer is told to whoever counts them. */
void target_tell(const struct probe_target *target, const struct reading *reading);

/* target_step not later than then. */
void target_alarm(struct probe_target *target, int64_t at_us, int64_t now_us);

/* From the loop, soon: looks again at what is held and what is wanted. */
void target_wake(struct probe_target *target);
