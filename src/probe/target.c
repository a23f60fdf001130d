/* SPDX-License-Identifier: Apache-2.0
 *
 * The probes at one target. A run is reused after its callback returned; its slot is free before,
 * so that the callback may start the next one. While a reading waits for its retry it has no slot:
 * others are asked meanwhile, and it goes first when its time has come. One timer does all waiting;
 * it is armed only while something is held or wanted, or the control object is lost.
 */
#include "target.h"

#include <assert.h>
#include <stdlib.h>

#include <event2/event.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"

struct probe_run {
	struct probe_target *target;
	TAILQ_ENTRY(probe_run) link;
	struct http_query query;
	probe_done_fn *done;
	void *owner;
	int64_t began_us;    /* the last time it was asked */
	int64_t answered_us; /* how old that answer is */
	unsigned ticket;
	struct retry_past past;
	const struct reading *reading; /* of the last answer; NULL: not asked yet */
	bool is_held;
	int64_t held_us, due_us; /* while it is: since when; not before */
};

static void on_reading(void *owner, const struct reading *reading);

static void
ask(struct probe_run *run)
{
	standstill_enter(&run->target->engine->standstill);
	run->began_us = clock_monotonic_us();
	TAILQ_INSERT_TAIL(&run->target->running, run, link);
	http_start(run->target->peer, &run->query);
}

static void
hold(struct probe_run *run, int64_t delay_us)
{
	run->is_held = true;
	run->held_us = clock_monotonic_us();
	run->due_us = run->held_us + delay_us;
	TAILQ_INSERT_TAIL(&run->target->held, run, link);
}

static void
release(struct probe_run *run, int64_t now_us)
{
	run->is_held = false;
	run->past.waited_us += now_us - run->held_us;
	TAILQ_REMOVE(&run->target->held, run, link);
}

static void
deliver(struct probe_run *run)
{
	struct probe_target *target = run->target;
	const struct probe_answer answer = { .reading = run->reading,
					     .control = target->control.state,
					     .began_us = run->began_us,
					     .answered_us = run->answered_us };

	target->delivering++;
	run->done(run->owner, &answer);
	target->delivering--;
	TAILQ_INSERT_HEAD(&target->idle, run, link);
}

static int64_t
expires_at(const struct probe_run *run)
{
	return run->held_us + run->target->retry.max_us - run->past.waited_us;
}

/*
 * Nothing good can come of waiting. A retry is pointless while the breaker doubts the target. What
 * waits only for its turn (a slot, the rate) will get it, however long that takes.
 */
static bool
is_hopeless(const struct probe_run *run, int64_t now_us)
{
	const struct gate *gate = &run->target->gate;
	bool in_turn = limits_is_ours(&gate->limits) && !limits_is_paused(&gate->limits, now_us) &&
		       gate->breaker.state == BREAKER_CLOSED;

	if (run->reading != NULL && gate->breaker.state != BREAKER_CLOSED)
		return true;
	if (run->due_us > now_us)
		return false;
	return gate->breaker.state == BREAKER_OPEN || (!in_turn && now_us >= expires_at(run));
}

/* The next one that is held and need not be any longer. */
static struct probe_run *
next_held(const struct probe_target *target, int64_t now_us)
{
	struct probe_run *run;
	bool open = gate_free(&target->gate, now_us) > 0;

	TAILQ_FOREACH(run, &target->held, link)
	if ((open && run->due_us <= now_us) || is_hopeless(run, now_us))
		return run;
	return NULL;
}

/* Why it was not asked: the target wants no questions, or it failed. */
static enum reason
shut_by(const struct gate *gate)
{
	return gate->breaker.state == BREAKER_CLOSED ? REASON_THROTTLED : gate->breaker.cause;
}

static void
settle(struct probe_run *run, int64_t now_us)
{
	struct probe_target *target = run->target;

	release(run, now_us);
	if (!is_hopeless(run, now_us)) {
		bool taken = gate_take(&target->gate, &run->ticket);

		assert(taken);
		ask(run);
		return;
	}
	if (run->reading == NULL) {
		run->began_us = run->answered_us = now_us;
		run->reading = http_unasked(target->peer, &run->query, shut_by(&target->gate));
	}
	deliver(run);
}

/* What is held from inside a callback is due later than now, so this ends. */
static void
serve_held(struct probe_target *target)
{
	struct probe_run *run;
	int64_t now_us;

	if (TAILQ_EMPTY(&target->held))
		return;
	now_us = clock_monotonic_us();
	while ((run = next_held(target, now_us)) != NULL)
		settle(run, now_us);
}

/* Those whose time has come go before anything new. */
static int
free_for_new(const struct probe_target *target, int64_t now_us)
{
	const struct probe_run *run;
	int free = gate_free(&target->gate, now_us);

	if (!control_is_settled(&target->control))
		return 0;
	TAILQ_FOREACH(run, &target->held, link)
	free -= run->due_us <= now_us;
	return free > 0 ? free : 0;
}

static int64_t
now_if_needed_us(const struct probe_target *target)
{
	bool needed = !TAILQ_EMPTY(&target->held) || control_is_lost(&target->control);

	return needed ? clock_monotonic_us() : gate_now_us(&target->gate);
}

static void
alarm_at(struct probe_target *target, int64_t at_us, int64_t now_us)
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
	const struct probe_run *run;

	if (open_us > now_us && (target->wanted || !TAILQ_EMPTY(&target->held)))
		next_us = open_us;
	else if (control_is_lost(&target->control))
		next_us = later(target->control.ask_at_us, open_us);
	if (next_us <= now_us)
		next_us = INT64_MAX;
	TAILQ_FOREACH(run, &target->held, link)
	{
		int64_t at_us = run->due_us > now_us ? run->due_us : expires_at(run);

		if (at_us > now_us && at_us < next_us)
			next_us = at_us;
	}
	if (next_us != INT64_MAX)
		alarm_at(target, next_us, now_us);
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

/* Something may have changed. From the loop. */
static void
step(struct probe_target *target)
{
	control_step(&target->control);
	serve_held(target);
	announce(target);
	arm(target);
}

static void
on_timer(evutil_socket_t fd, short what, void *owner)
{
	struct probe_target *target = owner;

	target->timer_at_us = 0;
	step(target);
}

void
target_wake(struct probe_target *target)
{
	if (target->wanted || !TAILQ_EMPTY(&target->held))
		alarm_at(target, 1, 1);
}

static void
tell(const struct probe_target *target, const struct reading *reading)
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

	tell(target, reading);
	step(target);
}

static int64_t
retry_delay(struct probe_run *run, const struct reading *reading)
{
	struct gate *gate = &run->target->gate;

	if (reading->kind != READING_UNAVAILABLE || gate->breaker.state != BREAKER_CLOSED)
		return RETRY_NOT;
	return retry_delay_us(&run->target->retry, &run->past, reading,
			      probe_target_closed_us(run->target), gate_random(gate));
}

static void
on_reading(void *owner, const struct reading *reading)
{
	struct probe_run *run = owner;
	struct probe_target *target = run->target;
	int64_t delay_us;

	run->past.asked++;
	run->reading = reading;
	run->answered_us = standstill_answered_us(&target->engine->standstill, run->began_us);
	standstill_leave(&target->engine->standstill);
	TAILQ_REMOVE(&target->running, run, link);
	gate_note(&target->gate, run->ticket, reading, run->began_us);
	tell(target, reading);
	delay_us = retry_delay(run, reading);
	if (delay_us == RETRY_NOT)
		deliver(run);
	else
		hold(run, delay_us);
	step(target);
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

static void
cancel_runs(struct run_list *runs)
{
	struct probe_run *run;

	while ((run = TAILQ_FIRST(runs)) != NULL)
		probe_cancel(run);
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

void
target_destroy(struct probe_target *target)
{
	cancel_runs(&target->running);
	cancel_runs(&target->held);
	free_runs(&target->idle);
	control_finish(&target->control);
	event_del(&target->timer);
	gate_finish(&target->gate);
	http_peer_destroy(target->peer);
	free(target);
}

int
probe_target_free(struct probe_target *target)
{
	int free;

	control_step(&target->control);
	free = free_for_new(target, now_if_needed_us(target));
	if (free == 0) {
		target->wanted = true;
		arm(target);
	}
	return free;
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

/* The next question of a look may find the rate used up, or a pause: then it waits as well. */
struct probe_run *
probe_start(struct probe_target *target, const struct probe_question *question, probe_done_fn *done,
	    void *owner)
{
	struct probe_run *run = take_idle(target);

	*run = (struct probe_run){ .target = target,
				   .done = done,
				   .owner = owner,
				   .query = { .arena = question->arena,
					      .probe = question->probe,
					      .op = question->op,
					      .done = on_reading,
					      .owner = run } };
	if (gate_take(&target->gate, &run->ticket)) {
		ask(run);
	} else {
		assert(target->delivering > 0);
		hold(run, 1);
	}
	target->wanted |= target->gate.limits.taken >= target->gate.limits.concurrent;
	return run;
}

void
probe_cancel(struct probe_run *run)
{
	struct probe_target *target = run->target;

	if (run->is_held) {
		release(run, run->held_us);
	} else {
		http_cancel(&run->query);
		standstill_leave(&target->engine->standstill);
		TAILQ_REMOVE(&target->running, run, link);
		gate_give(&target->gate, run->ticket);
	}
	TAILQ_INSERT_HEAD(&target->idle, run, link);
	target_wake(target);
}
