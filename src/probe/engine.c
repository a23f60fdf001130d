/* SPDX-License-Identifier: Apache-2.0
 *
 * Targets and the probes under way at them. A run is reused after its callback returned; its slot
 * is free before, so that the callback may start the next one.
 */
#include "reconciled/probe/engine.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/queue.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#include "control.h"
#include "http.h"
#include "limits.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/xalloc.h"

TAILQ_HEAD(run_list, probe_run);
TAILQ_HEAD(target_list, probe_target);

struct probe_engine {
	struct event_base *base;
	struct curl_loop *curl;
	struct target_list targets;
	probe_ready_fn *ready;
	void *ready_owner;
	probe_answered_fn *answered;
	void *answered_owner;
};

struct probe_target {
	struct probe_engine *engine;
	TAILQ_ENTRY(probe_target) link;
	struct probe_target_options options;
	struct http_peer *peer;
	struct limits limits;
	struct control control;
	struct run_list running, idle;
	struct event freed; /* a slot was given back outside the loop */
};

struct probe_run {
	struct probe_target *target;
	TAILQ_ENTRY(probe_run) link;
	struct http_query query;
	probe_done_fn *done;
	void *owner;
	int64_t began_us;
};

struct probe_engine *
probe_engine_create(struct event_base *base, struct curl_loop *curl)
{
	struct probe_engine *engine = xcalloc(1, sizeof(*engine));

	engine->base = base;
	engine->curl = curl;
	TAILQ_INIT(&engine->targets);
	return engine;
}

void
probe_engine_on_ready(struct probe_engine *engine, probe_ready_fn *ready, void *owner)
{
	engine->ready = ready;
	engine->ready_owner = owner;
}

void
probe_engine_on_answered(struct probe_engine *engine, probe_answered_fn *answered, void *owner)
{
	engine->answered = answered;
	engine->answered_owner = owner;
}

bool
probe_engine_is_isolated(const struct probe_engine *engine)
{
	return false;
}

static void
announce(struct probe_target *target)
{
	if (target->engine->ready != NULL && probe_target_free(target) > 0)
		target->engine->ready(target->engine->ready_owner, target);
}

static void
on_settled(void *owner)
{
	announce(owner);
}

static void
on_freed(evutil_socket_t fd, short what, void *owner)
{
	announce(owner);
}

struct probe_target *
probe_engine_add(struct probe_engine *engine, const struct probe_target_options *options)
{
	struct probe_target *target = xcalloc(1, sizeof(*target));

	target->engine = engine;
	target->options = *options;
	target->peer = http_peer_create(engine->curl, &target->options);
	limits_init(&target->limits, options->concurrent);
	TAILQ_INIT(&target->running);
	TAILQ_INIT(&target->idle);
	evtimer_assign(&target->freed, engine->base, on_freed, target);
	target->control = (struct control){ .target = options->rules->target,
					    .probe = options->rules->control,
					    .peer = target->peer,
					    .limits = &target->limits,
					    .settled = on_settled,
					    .owner = target,
					    .every_us = options->control_every_us };
	control_init(&target->control);
	TAILQ_INSERT_TAIL(&engine->targets, target, link);
	return target;
}

static void
free_runs(struct run_list *runs)
{
	struct probe_run *run;

	while ((run = TAILQ_FIRST(runs)) != NULL) {
		TAILQ_REMOVE(runs, run, link);
		free(run);
	}
}

static void
target_destroy(struct probe_target *target)
{
	struct probe_run *run;

	while ((run = TAILQ_FIRST(&target->running)) != NULL)
		probe_cancel(run);
	free_runs(&target->idle);
	control_finish(&target->control);
	event_del(&target->freed);
	http_peer_destroy(target->peer);
	free(target);
}

void
probe_engine_destroy(struct probe_engine *engine)
{
	struct probe_target *target;

	if (engine == NULL)
		return;
	while ((target = TAILQ_FIRST(&engine->targets)) != NULL) {
		TAILQ_REMOVE(&engine->targets, target, link);
		target_destroy(target);
	}
	free(engine);
}

int
probe_target_free(struct probe_target *target)
{
	control_step(&target->control);
	return control_is_settled(&target->control) ? limits_free(&target->limits) : 0;
}

void
probe_target_set_part(struct probe_target *target, int part, int parts)
{
	int whole = target->options.concurrent;

	target->limits.concurrent =
		parts == 0 ? 0 : whole / parts + (part < whole % parts ? 1 : 0);
	announce(target);
}

int64_t
probe_target_closed_us(const struct probe_target *target)
{
	return 0;
}

const char *
breaker_state_name(enum breaker_state state)
{
	static const char *const names[] = {
		[BREAKER_CLOSED] = "closed",
		[BREAKER_HALF_OPEN] = "half_open",
		[BREAKER_OPEN] = "open",
	};

	return names[state];
}

enum breaker_state
probe_target_breaker(const struct probe_target *target)
{
	return BREAKER_CLOSED;
}

enum control_state
probe_target_control(const struct probe_target *target)
{
	return target->control.state;
}

void
probe_target_inherit(struct probe_target *target, const struct probe_target *before)
{
}

static void
on_reading(void *owner, const struct reading *reading)
{
	struct probe_run *run = owner;
	struct probe_target *target = run->target;
	bool was_full = limits_free(&target->limits) == 0;

	TAILQ_REMOVE(&target->running, run, link);
	limits_give(&target->limits);
	if (target->engine->answered != NULL)
		target->engine->answered(target->engine->answered_owner,
					 target->options.rules->target, reading->reason,
					 reading->response->elapsed_us);
	run->done(run->owner, reading, target->control.state, run->began_us);
	TAILQ_INSERT_HEAD(&target->idle, run, link);
	control_step(&target->control);
	if (was_full)
		announce(target);
}

static struct probe_run *
take_idle(struct probe_target *target)
{
	struct probe_run *run = TAILQ_FIRST(&target->idle);

	if (run == NULL)
		return xcalloc(1, sizeof(*run));
	TAILQ_REMOVE(&target->idle, run, link);
	return run;
}

struct probe_run *
probe_start(struct probe_target *target, const struct probe_question *question, probe_done_fn *done,
	    void *owner)
{
	struct probe_run *run = take_idle(target);
	bool taken = limits_take(&target->limits);

	assert(taken);
	*run = (struct probe_run){ .target = target,
				   .done = done,
				   .owner = owner,
				   .began_us = clock_monotonic_us(),
				   .query = { .arena = question->arena,
					      .probe = question->probe,
					      .op = question->op,
					      .done = on_reading,
					      .owner = run } };
	TAILQ_INSERT_TAIL(&target->running, run, link);
	http_start(target->peer, &run->query);
	return run;
}

void
probe_cancel(struct probe_run *run)
{
	static const struct timeval at_once = { 0 };
	struct probe_target *target = run->target;

	http_cancel(&run->query);
	TAILQ_REMOVE(&target->running, run, link);
	TAILQ_INSERT_HEAD(&target->idle, run, link);
	limits_give(&target->limits);
	event_add(&target->freed, &at_once);
}
