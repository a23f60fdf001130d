/* SPDX-License-Identifier: Apache-2.0
 *
 * What may be asked at one target, and when: room for new questions, control, timer. One timer does
 * all waiting; it is armed only while something is held or wanted, or the control object is lost.
 */
#include "target.h"

#include <stdlib.h>

#include <event2/event.h>

#include "batch.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"

/* Those whose time has come go before anything new. */
static int
free_for_new(const struct probe_target *target, int64_t now_us)
{
	const struct asking *asking;
	int free = gate_free(&target->gate, now_us);

	if (!control_is_settled(&target->control))
		return 0;
	TAILQ_FOREACH(asking, &target->held, link)
		free -= asking->due_us <= now_us || batch_is_open(asking);
	return free > 0 ? free : 0;
}

static int64_t
now_if_needed_us(const struct probe_target *target)
{
	bool needed = !TAILQ_EMPTY(&target->held) || control_is_lost(&target->control);

	return needed ? clock_monotonic_us() : gate_now_us(&target->gate);
}

void
target_alarm(struct probe_target *target, int64_t at_us, int64_t now_us)
{
	if (target->timer_at_us != 0 && target->timer_at_us <= at_us)
		return;
	target->timer_at_us = at_us;
	timer_set(&target->timer, at_us - now_us);
}

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The next moment at which something changes without an answer. */
static void
arm(struct probe_target *target)
{
	int64_t now_us = now_if_needed_us(target), next_us = INT64_MAX;
	int64_t open_us = gate_open_at_us(&target->gate, now_us);
	const struct asking *asking;

	if (open_us > now_us && (target->wanted || !TAILQ_EMPTY(&target->held)))
		next_us = open_us;
	else if (control_is_lost(&target->control))
		next_us = later(target->control.ask_at_us, open_us);
	if (next_us <= now_us)
		next_us = INT64_MAX;
	TAILQ_FOREACH(asking, &target->held, link)
		next_us = asking_next_us(asking, now_us, next_us);
	if (next_us != INT64_MAX)
		target_alarm(target, next_us, now_us);
}

static void
announce(struct probe_target *target)
{
	struct probe_engine *engine = target->engine;

	if (!target->wanted || free_for_new(target, now_if_needed_us(target)) == 0)
		return;
	target->wanted = false;
	if (engine->ready != NULL)
		engine->ready(engine->ready_owner, target);
}

void
target_step(struct probe_target *target)
{
	control_step(&target->control);
	asking_serve(target);
	announce(target);
	arm(target);
}

static void
on_timer(evutil_socket_t fd, short what, void *owner)
{
	struct probe_target *target = owner;

	target->timer_at_us = 0;
	target_step(target);
}

void
target_wake(struct probe_target *target)
{
	if (target->wanted || !TAILQ_EMPTY(&target->held))
		target_alarm(target, 1, 1);
}

void
target_tell(const struct probe_target *target, const struct reading *reading)
{
	const struct probe_engine *engine = target->engine;
	bool unavailable = reading->kind == READING_UNAVAILABLE;

	if (engine->answered != NULL)
		engine->answered(engine->answered_owner, target->options.rules->target,
				 unavailable ? reading->reason : REASON_COUNT,
				 reading->response->elapsed_us);
}

static void
on_control(void *owner, const struct reading *reading)
{
	struct probe_target *target = owner;

	target_tell(target, reading);
	target_step(target);
}

static struct gate_options
gate_options(const struct probe_target_options *options)
{
	return (struct gate_options){
		.target = options->rules->target,
		.limits = { .concurrent = options->concurrent,
			    .rate_count = options->rate_count,
			    .rate_period_us = options->rate_period_us,
			    .rate_burst = options->rate_burst },
		.breaker = { .failures = options->breaker_failures,
			     .trial = options->breaker_trial,
			     .open_us = options->breaker_open_us },
	};
}

struct probe_target *
target_create(struct probe_engine *engine, const struct probe_target_options *options)
{
	struct probe_target *target = xcalloc(1, sizeof(*target));
	struct gate_options gate = gate_options(options);

	target->engine = engine;
	target->options = *options;
	target->retry = (struct retry_options){ .attempts = options->retry_attempts,
						.backoff_us = options->retry_backoff_us,
						.max_us = options->retry_max_us };
	target->peer = http_peer_create(engine->curl, &target->options);
	gate_init(&target->gate, &engine->isolation, &gate);
	TAILQ_INIT(&target->running);
	TAILQ_INIT(&target->held);
	TAILQ_INIT(&target->idle);
	TAILQ_INIT(&target->idle_runs);
	evtimer_assign(&target->timer, engine->base, on_timer, target);
	target->control = (struct control){ .target = options->rules->target,
					    .probe = options->rules->control,
					    .peer = target->peer,
					    .gate = &target->gate,
					    .settled = on_control,
					    .owner = target,
					    .every_us = options->control_every_us };
	control_init(&target->control);
	return target;
}

void
target_destroy(struct probe_target *target)
{
	asking_cancel_all(target);
	asking_free_idle(target);
	control_finish(&target->control);
	event_del(&target->timer);
	gate_finish(&target->gate);
	http_peer_destroy(target->peer);
	free(target);
}

/* Whoever found nothing free is called when there is. */
static int
noted(struct probe_target *target, int free)
{
	if (free == 0) {
		target->wanted = true;
		arm(target);
	}
	return free;
}

int
probe_target_free(struct probe_target *target)
{
	control_step(&target->control);
	return noted(target, free_for_new(target, now_if_needed_us(target)));
}

int
probe_target_room(struct probe_target *target, const struct policy *policy)
{
	int64_t now_us;
	int free;

	control_step(&target->control);
	now_us = now_if_needed_us(target);
	free = free_for_new(target, now_us);
	return noted(target, batch_room(target, policy, free, now_us));
}

void
probe_target_set_part(struct probe_target *target, int part, int parts)
{
	limits_set_part(&target->gate.limits, part, parts, clock_monotonic_us());
	target_wake(target);
}

int64_t
probe_target_closed_us(const struct probe_target *target)
{
	int64_t now_us, open_us;

	if (!limits_is_ours(&target->gate.limits))
		return HOUR;
	now_us = gate_now_us(&target->gate);
	open_us = gate_open_at_us(&target->gate, now_us);
	return open_us > now_us ? open_us - now_us : 0;
}

enum breaker_state
probe_target_breaker(const struct probe_target *target)
{
	return target->gate.breaker.state;
}

enum control_state
probe_target_control(const struct probe_target *target)
{
	return target->control.state;
}

void
probe_target_inherit(struct probe_target *target, const struct probe_target *before)
{
	gate_inherit(&target->gate, &before->gate);
	control_inherit(&target->control, &before->control);
	http_peer_inherit(target->peer, before->peer);
}
