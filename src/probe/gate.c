/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits and breaker together, and the lines of the log about them: one for each change, none for
 * a single failure.
 */
#include "gate.h"

#include "quota.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/log.h"
#include "reconciled/base/random.h"

/* A shorter pause is everyday life and told to nobody. */
#define PAUSE_TOLD (10 * SECOND)

void
gate_init(struct gate *gate, struct isolation *isolation, const struct gate_options *options)
{
	*gate = (struct gate){ .target = options->target, .isolation = isolation };
	limits_init(&gate->limits, &options->limits, clock_monotonic_us());
	breaker_init(&gate->breaker, &options->breaker);
	gate->random = random_seed();
	TAILQ_INSERT_TAIL(&isolation->gates, gate, link);
}

void
gate_finish(struct gate *gate)
{
	TAILQ_REMOVE(&gate->isolation->gates, gate, link);
}

uint64_t
gate_random(struct gate *gate)
{
	return random_next(&gate->random);
}

int64_t
gate_now_us(const struct gate *gate)
{
	bool timed = limits_is_timed(&gate->limits) || gate->breaker.state == BREAKER_OPEN;

	return timed ? clock_monotonic_us() : 0;
}

int
gate_free(const struct gate *gate, int64_t now_us)
{
	int allowed = breaker_free(&gate->breaker, now_us);
	int free = limits_free(&gate->limits, now_us);

	if (gate->breaker.state != BREAKER_CLOSED && isolation_holds_back(gate->isolation, gate))
		return 0;
	return free < allowed ? free : allowed;
}

bool
gate_take(struct gate *gate, unsigned *ret_ticket)
{
	int64_t now_us = gate_now_us(gate);

	if (gate_free(gate, now_us) == 0 || !limits_take(&gate->limits, now_us))
		return false;
	if (gate->breaker.state == BREAKER_OPEN)
		log_info("target is tried again", F_STR("target", gate->target));
	*ret_ticket = breaker_take(&gate->breaker);
	return true;
}

void
gate_give(struct gate *gate, unsigned ticket)
{
	limits_give(&gate->limits);
	breaker_give(&gate->breaker, ticket);
	if (gate->isolation->on)
		gate->isolation->wake(gate->isolation->owner);
}

static void
note_quota(struct gate *gate, const struct reading *reading, int64_t began_us, int64_t now_us)
{
	const struct response *response = reading->response;
	bool was_paused = limits_is_paused(&gate->limits, now_us);
	bool refused = grade_answer(reading) == ANSWER_REFUSED;
	int64_t wait_us = quota_wait_us(&(struct quota_answer){
		.status = response->status,
		.throttled = refused,
		.headers = response->headers,
		.headers_count = response->headers_count,
		.wall_us = clock_wall_us(),
	});

	if (refused)
		wait_us = limits_refuse(&gate->limits, wait_us, began_us, now_us);
	else
		limits_pause(&gate->limits, wait_us, now_us);
	if (grade_answer(reading) == ANSWER_USABLE)
		limits_accept(&gate->limits, began_us);
	if (!was_paused && wait_us >= PAUSE_TOLD)
		log_info("target asks for a pause", F_STR("target", gate->target),
			 F_INT("seconds", wait_us / SECOND));
}

/* To half-open is told when the question leaves. A failed trial is no news worth a warning. */
static void
report(const struct gate *gate, enum breaker_state before, int64_t now_us)
{
	const struct breaker *breaker = &gate->breaker;

	if (breaker->state == BREAKER_CLOSED)
		log_info("target answers again", F_STR("target", gate->target));
	else
		log_at(before == BREAKER_CLOSED ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO,
		       "target fails, it is left alone for a while", F_STR("target", gate->target),
		       F_STR("reason", reason_name(breaker->cause)),
		       F_INT("seconds", (breaker->retry_at_us - now_us) / SECOND));
}

static void
note_breaker(struct gate *gate, unsigned ticket, const struct reading *reading, int64_t now_us)
{
	struct isolation *isolation = gate->isolation;
	enum breaker_state before = gate->breaker.state;
	bool changed = breaker_answer(&gate->breaker, ticket, reading, now_us, gate_random(gate));

	if (changed)
		report(gate, before, now_us);
	if (grade_answer(reading) != ANSWER_UNREACHED) {
		isolation_end(isolation, now_us);
	} else if (changed) {
		isolation_consider(isolation);
		isolation->wake(isolation->owner); /* a place on trial became free */
	}
}

void
gate_note(struct gate *gate, unsigned ticket, const struct reading *reading, int64_t began_us)
{
	int64_t now_us = clock_monotonic_us();

	gate->asked = true;
	limits_give(&gate->limits);
	note_quota(gate, reading, began_us, now_us);
	note_breaker(gate, ticket, reading, now_us);
}

bool
gate_is_due_for_trial(const struct gate *gate, int64_t now_us)
{
	return gate->breaker.state == BREAKER_OPEN && now_us >= gate->breaker.retry_at_us;
}

int64_t
gate_open_at_us(const struct gate *gate, int64_t now_us)
{
	int64_t at_us = limits_open_at_us(&gate->limits, now_us);

	if (gate->breaker.state == BREAKER_OPEN && gate->breaker.retry_at_us > at_us)
		return gate->breaker.retry_at_us;
	return at_us;
}

void
gate_inherit(struct gate *gate, const struct gate *before)
{
	int64_t now_us = clock_monotonic_us();

	gate->asked = before->asked;
	limits_inherit(&gate->limits, &before->limits, now_us);
	breaker_inherit(&gate->breaker, &before->breaker, now_us);
	if (before->isolation->on)
		gate->isolation->on = true;
}
