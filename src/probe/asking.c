/* SPDX-License-Identifier: Apache-2.0
 *
 * A run is reused after its callback returned; the slot is free before, so that the callback may
 * start the next one. While a question waits for its retry it has no slot: others are asked
 * meanwhile, and it goes first when its time has come. Between two pages it goes first at once, so
 * that its slot is its own as long as the rate lets it.
 */
#include "asking.h"

#include <assert.h>
#include <stdlib.h>

#include "batch.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/xalloc.h"
#include "target.h"

static void on_page(void *owner, enum http_outcome outcome);

/* The operations of all its runs, as long as the request is being made. */
static void
list_operations(struct asking *asking)
{
	const struct operation **ops =
		arena_array(asking->query.arena, const struct operation *, asking->runs_count);
	const struct probe_run *run;
	size_t count = 0;

	TAILQ_FOREACH(run, &asking->runs, link)
		ops[count++] = run->op;
	asking->query.ops = ops;
	asking->query.ops_count = count;
}

static void
ask(struct asking *asking)
{
	struct probe_target *target = asking->target;

	standstill_enter(&target->engine->standstill);
	asking->asked_us = clock_monotonic_us();
	if (asking->query.page.index == 0)
		asking->began_us = asking->asked_us;
	TAILQ_INSERT_TAIL(&target->running, asking, link);
	list_operations(asking);
	http_start(target->peer, &asking->query);
}

void
asking_hold(struct asking *asking, int64_t delay_us)
{
	asking->is_held = true;
	asking->held_us = clock_monotonic_us();
	asking->due_us = asking->held_us + delay_us;
	TAILQ_INSERT_TAIL(&asking->target->held, asking, link);
}

/* What it waited for its turn is no pause of the reading. */
static void
release(struct asking *asking, int64_t now_us)
{
	asking->is_held = false;
	if (asking->answered)
		asking->past.waited_us += now_us - asking->held_us;
	TAILQ_REMOVE(&asking->target->held, asking, link);
}

/* Nobody wants to know any more. */
static void
retire(struct asking *asking)
{
	arena_destroy(asking->shared);
	asking->shared = NULL;
	TAILQ_INSERT_HEAD(&asking->target->idle, asking, link);
}

static void
remove_run(struct probe_run *run)
{
	struct asking *asking = run->asking;

	TAILQ_REMOVE(&asking->runs, run, link);
	asking->runs_count--;
}

/* A callback may cancel other runs of the same batch. */
static void
deliver(struct asking *asking)
{
	struct probe_target *target = asking->target;
	struct probe_run *run;

	asking->delivering = true;
	while ((run = TAILQ_FIRST(&asking->runs)) != NULL) {
		const struct probe_answer answer = { .reading = run->reading,
						     .control = target->control.state,
						     .began_us = asking->began_us,
						     .answered_us = asking->answered_us };

		remove_run(run);
		run->done(run->owner, &answer);
		TAILQ_INSERT_HEAD(&target->idle_runs, run, link);
	}
	asking->delivering = false;
	retire(asking);
}

static int64_t
expires_at(const struct asking *asking)
{
	return asking->held_us + asking->target->retry.max_us - asking->past.waited_us;
}

/*
 * Nothing good can come of waiting. A retry is pointless while the breaker doubts the target. What
 * waits only for its turn (a slot, the rate) will get it, however long that takes.
 */
static bool
is_hopeless(const struct asking *asking, int64_t now_us)
{
	const struct gate *gate = &asking->target->gate;
	bool in_turn = limits_is_ours(&gate->limits) && !limits_is_paused(&gate->limits, now_us) &&
		       gate->breaker.state == BREAKER_CLOSED;

	if (asking->answered && gate->breaker.state != BREAKER_CLOSED)
		return true;
	if (asking->due_us > now_us)
		return false;
	if (gate->breaker.state == BREAKER_OPEN && !gate_is_due_for_trial(gate, now_us))
		return true;
	return !in_turn && now_us >= expires_at(asking);
}

/* The next one that is held and need not be any longer. */
static struct asking *
next_held(const struct probe_target *target, int64_t now_us)
{
	struct asking *asking;
	bool open = gate_free(&target->gate, now_us) > 0;

	TAILQ_FOREACH(asking, &target->held, link)
		if ((open && asking->due_us <= now_us) || is_hopeless(asking, now_us))
			return asking;
	return NULL;
}

/* Why it was not asked: the target wants no questions, or it failed. */
static enum reason
shut_by(const struct gate *gate)
{
	return gate->breaker.state == BREAKER_CLOSED ? REASON_THROTTLED : gate->breaker.cause;
}

/* Each run gets a reading of its own from the same pages. */
static void
judge(struct asking *asking)
{
	struct probe_run *run;

	TAILQ_FOREACH(run, &asking->runs, link)
		run->reading = http_reading(&asking->query, run->arena, run->op);
}

static void
leave(struct asking *asking, int64_t now_us)
{
	struct probe_target *target = asking->target;

	if (asking->query.page.index == 0)
		asking->began_us = asking->answered_us = now_us;
	list_operations(asking);
	http_leave(target->peer, &asking->query, shut_by(&target->gate));
	judge(asking);
}

static void
settle(struct asking *asking, int64_t now_us)
{
	struct probe_target *target = asking->target;

	release(asking, now_us);
	if (!is_hopeless(asking, now_us)) {
		bool taken = gate_take(&target->gate, &asking->ticket);

		assert(taken);
		ask(asking);
		return;
	}
	if (!asking->answered)
		leave(asking, now_us);
	deliver(asking);
}

/* What is held from inside a callback is due later than now, so this ends. */
void
asking_serve(struct probe_target *target)
{
	struct asking *asking;
	int64_t now_us;

	if (TAILQ_EMPTY(&target->held))
		return;
	now_us = clock_monotonic_us();
	while ((asking = next_held(target, now_us)) != NULL)
		settle(asking, now_us);
}

int64_t
asking_next_us(const struct asking *asking, int64_t now_us, int64_t next_us)
{
	int64_t at_us = asking->due_us > now_us ? asking->due_us : expires_at(asking);

	return at_us > now_us && at_us < next_us ? at_us : next_us;
}

static int64_t
retry_delay(const struct asking *asking, const struct reading *reading)
{
	struct gate *gate = &asking->target->gate;

	if (reading->kind != READING_UNAVAILABLE || gate->breaker.state != BREAKER_CLOSED)
		return RETRY_NOT;
	return retry_delay_us(&asking->target->retry, &asking->past, reading,
			      probe_target_closed_us(asking->target), gate_random(gate));
}

/* Of several operations one may need what is on further pages when another does not. */
static const struct page *
next_page(const struct asking *asking)
{
	const struct probe_run *run;

	TAILQ_FOREACH(run, &asking->runs, link)
		if (run->reading->next != NULL)
			return run->reading->next;
	return NULL;
}

static const char *
keep_text(struct asking *asking, const char *text)
{
	return text != NULL ? arena_strdup(asking->query.arena, text) : NULL;
}

/* What names the page may be in the arena of a run that is cancelled before it is asked. */
static void
turn_page(struct asking *asking, const struct page *page)
{
	asking->query.page = (struct page){ .index = asking->query.page.index + 1,
					    .token = keep_text(asking, page->token),
					    .link = keep_text(asking, page->link) };
	asking->past.asked = 0;
	asking->answered = false;
	asking_hold(asking, 0);
}

static void
conclude(struct asking *asking, const struct reading *reading)
{
	const struct page *next = next_page(asking);
	int64_t delay_us;

	if (next != NULL) {
		turn_page(asking, next);
		return;
	}
	asking->answered = true;
	delay_us = retry_delay(asking, reading);
	if (delay_us == RETRY_NOT)
		deliver(asking);
	else
		asking_hold(asking, delay_us);
}

static void
note_time(struct asking *asking)
{
	struct standstill *standstill = &asking->target->engine->standstill;
	int64_t answered_us = standstill_answered_us(standstill, asking->asked_us);

	if (asking->query.page.index == 0 || answered_us < asking->answered_us)
		asking->answered_us = answered_us;
	standstill_leave(standstill);
}

/* A login that was refused is no answer to the question. */
static void
ask_again(struct asking *asking)
{
	gate_give(&asking->target->gate, asking->ticket);
	asking_hold(asking, 0);
}

static void
on_page(void *owner, enum http_outcome outcome)
{
	struct asking *asking = owner;
	struct probe_target *target = asking->target;
	const struct reading *reading;

	note_time(asking);
	TAILQ_REMOVE(&target->running, asking, link);
	if (outcome == HTTP_AGAIN) {
		ask_again(asking);
		target_step(target);
		return;
	}
	asking->past.asked++;
	judge(asking);
	reading = TAILQ_FIRST(&asking->runs)->reading;
	gate_note(&target->gate, asking->ticket, reading, asking->asked_us);
	target_tell(target, reading);
	conclude(asking, reading);
	target_step(target);
}

static struct asking *
take_idle(struct probe_target *target)
{
	struct asking *asking = TAILQ_FIRST(&target->idle);

	if (asking == NULL)
		return xcalloc(1, sizeof(*asking));
	TAILQ_REMOVE(&target->idle, asking, link);
	return asking;
}

static struct probe_run *
take_idle_run(struct probe_target *target)
{
	struct probe_run *run = TAILQ_FIRST(&target->idle_runs);

	if (run == NULL)
		return xcalloc(1, sizeof(*run));
	TAILQ_REMOVE(&target->idle_runs, run, link);
	return run;
}

struct asking *
asking_begin(struct probe_target *target, const struct probe_question *question, bool batch)
{
	struct asking *asking = take_idle(target);
	struct arena *shared = batch ? arena_create() : NULL;

	*asking = (struct asking){ .target = target,
				   .shared = shared,
				   .query = { .arena = batch ? shared : question->arena,
					      .probe = question->probe,
					      .done = on_page,
					      .owner = asking } };
	TAILQ_INIT(&asking->runs);
	return asking;
}

void
asking_add(struct asking *asking, struct probe_run *run)
{
	run->asking = asking;
	TAILQ_INSERT_TAIL(&asking->runs, run, link);
	asking->runs_count++;
	if (asking->shared != NULL)
		arena_hold(run->arena, asking->shared);
}

/* The next question of a look may find the rate used up, or a pause: then it waits as well. */
static void
start_alone(struct asking *asking)
{
	struct probe_target *target = asking->target;

	if (gate_take(&target->gate, &asking->ticket)) {
		ask(asking);
		return;
	}
	asking_hold(asking, 1);
	target_alarm(target, asking->due_us, asking->held_us);
}

struct probe_run *
probe_start(struct probe_target *target, const struct probe_question *question, probe_done_fn *done,
	    void *owner)
{
	struct probe_run *run = take_idle_run(target);

	*run = (struct probe_run){
		.arena = question->arena, .op = question->op, .done = done, .owner = owner
	};
	if (question->probe->batch_max > 1) {
		batch_start(target, question, run);
	} else {
		struct asking *asking = asking_begin(target, question, false);

		asking_add(asking, run);
		start_alone(asking);
	}
	target->wanted |= target->gate.limits.taken >= target->gate.limits.concurrent;
	return run;
}

static void
stop(struct asking *asking)
{
	struct probe_target *target = asking->target;

	if (asking->is_held) {
		release(asking, asking->held_us);
	} else {
		http_cancel(&asking->query);
		standstill_leave(&target->engine->standstill);
		TAILQ_REMOVE(&target->running, asking, link);
		gate_give(&target->gate, asking->ticket);
	}
	retire(asking);
	target_wake(target);
}

/* The others in its batch go on. */
void
probe_cancel(struct probe_run *run)
{
	struct asking *asking = run->asking;

	remove_run(run);
	TAILQ_INSERT_HEAD(&asking->target->idle_runs, run, link);
	if (asking->runs_count == 0 && !asking->delivering)
		stop(asking);
}

static void
cancel_list(struct asking_list *list)
{
	struct asking *asking;

	while ((asking = TAILQ_FIRST(list)) != NULL)
		probe_cancel(TAILQ_FIRST(&asking->runs));
}

void
asking_cancel_all(struct probe_target *target)
{
	cancel_list(&target->running);
	cancel_list(&target->held);
}

void
asking_free_idle(struct probe_target *target)
{
	struct asking *asking;
	struct probe_run *run;

	while ((asking = TAILQ_FIRST(&target->idle)) != NULL) {
		TAILQ_REMOVE(&target->idle, asking, link);
		free(asking);
	}
	while ((run = TAILQ_FIRST(&target->idle_runs)) != NULL) {
		TAILQ_REMOVE(&target->idle_runs, run, link);
		free(run);
	}
}
