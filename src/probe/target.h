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

#include "control.h"
#include "gate.h"
#include "http.h"
#include "reconciled/probe/engine.h"
#include "retry.h"
#include "standstill.h"

TAILQ_HEAD(run_list, probe_run);
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
	struct run_list running, held, idle;
	int delivering; /* callbacks of it on the stack */
	bool wanted;	/* somebody found nothing free */
	struct event timer;
	int64_t timer_at_us; /* 0: not armed */
};

struct probe_target *target_create(struct probe_engine *engine,
				   const struct probe_target_options *options);
void target_destroy(struct probe_target *target);

/* From the loop, soon: looks again at what is held and what is wanted. */
void target_wake(struct probe_target *target);
