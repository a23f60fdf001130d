/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits of a target and its breaker, by a clock that the test turns; and when a reading tries
 * again.
 */
#include "../../src/probe/limits.h"

#include "../../src/probe/breaker.h"
#include "../../src/probe/grade.h"
#include "../../src/probe/retry.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "tap.h"

#define START (1000 * SECOND)

static struct limits
limits_of(int concurrent, int count, int64_t period_us, int burst)
{
	const struct limits_options options = { .concurrent = concurrent,
						.rate_count = count,
						.rate_period_us = period_us,
						.rate_burst = burst };
	struct limits limits;

	limits_init(&limits, &options, START);
	return limits;
}

/* Takes all there is, gives the slots back. */
static int
drain(struct limits *limits, int64_t now_us)
{
	int count = 0;

	for (; limits_take(limits, now_us); count++)
		limits_give(limits);
	return count;
}

static void
test_slots(void)
{
	struct limits limits = limits_of(2, 0, 0, 0);

	tap_ok(!limits_is_timed(&limits), "without rate and pause the time does not matter");
	tap_int(limits_free(&limits, 0), 2, "two slots");
	tap_ok(limits_take(&limits, 0) && limits_take(&limits, 0), "both taken");
	tap_ok(!limits_take(&limits, 0), "no third");
	limits_give(&limits);
	tap_int(limits_free(&limits, 0), 1, "given back");
	limits_set_part(&limits, 1, 2, 0);
	tap_int(limits_free(&limits, 0), 0, "one is ours, and taken");
	limits_set_part(&limits, 0, 0, 0);
	tap_ok(limits_free(&limits, 0) == 0 && !limits_is_ours(&limits), "none is ours");
	limits_give(&limits);
	tap_int(limits_free(&limits, 0), 0, "still none");
}

/* The parts of n instances add up to the whole. */
static void
test_parts_of_slots(void)
{
	for (int concurrent = 1; concurrent <= 20; concurrent++)
		for (int parts = 1; parts <= concurrent; parts++) {
			int sum = 0, least = concurrent, most = 0;

			for (int part = 0; part < parts; part++) {
				struct limits limits = limits_of(concurrent, 0, 0, 0);
				int free;

				limits_set_part(&limits, part, parts, START);
				free = limits_free(&limits, START);
				sum += free;
				least = free < least ? free : least;
				most = free > most ? free : most;
			}
			if (sum != concurrent || least < 1 || most - least > 1)
				tap_ok(false, "%d slots in %d parts", concurrent, parts);
		}
	tap_ok(true, "up to 20 slots divide evenly and without a rest");
}

static void
test_rate(void)
{
	struct limits limits = limits_of(100, 7, SECOND, 3);

	tap_ok(limits_is_timed(&limits), "a rate needs the time");
	tap_int(limits_free(&limits, START), 3, "the burst");
	tap_int(drain(&limits, START), 3, "is used up");
	tap_int(limits_open_at_us(&limits, START), START + 142858, "1/7 s, rounded up");
	tap_int(drain(&limits, START + 142857), 0, "not a microsecond earlier");
	tap_int(drain(&limits, START + 142858), 1, "one");

	int64_t now = START + SECOND, end = START + 1000 * SECOND;
	int count = drain(&limits, now);

	tap_int(count, 3, "no more than the burst is saved up");
	for (count = 0; now < end; now += 1000)
		count += drain(&limits, now);
	tap_int(count, 7 * 999 - 1, "seven a second, over 999 seconds, with no loss");
}

static void
test_parts_of_rate(void)
{
	int sum = 0;

	for (int part = 0; part < 3; part++) {
		struct limits limits = limits_of(100, 7, SECOND, 5);

		limits_set_part(&limits, part, 3, START);
		tap_int(drain(&limits, START), 1, "a third of the burst, rounded down");
		for (int64_t now = START; now <= START + 300 * SECOND + MILLISECOND;
		     now = limits_open_at_us(&limits, now))
			sum += drain(&limits, now);
	}
	tap_int(sum, 7 * 300, "three thirds are the whole rate");
}

static void
test_change_of_part(void)
{
	struct limits limits = limits_of(100, 10, SECOND, 6);

	for (int i = 0; i < 100; i++)
		limits_set_part(&limits, 0, 1, START + i);
	tap_int(limits_free(&limits, START), 6, "the same part again changes nothing");
	limits_set_part(&limits, 0, 3, START);
	tap_int(limits_free(&limits, START), 2, "a third of the burst");
	limits_set_part(&limits, 0, 1, START);
	tap_int(limits_free(&limits, START), 2, "what is there does not grow by itself");
	limits_set_part(&limits, 0, 0, START);
	limits_set_part(&limits, 0, 1, START + HOUR);
	tap_int(limits_free(&limits, START + HOUR), 0, "who takes over begins with nothing");
	tap_int(limits_free(&limits, START + HOUR + SECOND), 6, "and fills up");
}

static void
test_pause(void)
{
	struct limits limits = limits_of(2, 0, 0, 0);

	limits_pause(&limits, 5 * SECOND, START);
	limits_pause(&limits, 2 * SECOND, START);
	tap_int(limits_open_at_us(&limits, START), START + 5 * SECOND, "a pause never shrinks");
	tap_int(limits_free(&limits, START + 5 * SECOND - 1), 0, "nothing before");
	tap_ok(limits_take(&limits, START + 5 * SECOND), "then it goes on");
	tap_ok(!limits_is_timed(&limits), "and the pause is forgotten");
}

static void
test_refusals(void)
{
	static const int64_t own[] = { 1, 2, 4, 8, 16, 32, 60, 60 };
	struct limits limits = limits_of(8, 0, 0, 0);
	int64_t now = START;

	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		now += MINUTE;
		tap_int(limits_refuse(&limits, -1, now - 1, now), own[i] * SECOND,
			"pauses of our own double up to a minute");
		tap_int(limits_refuse(&limits, -1, now - 1, now), own[i] * SECOND,
			"a second refusal of what was asked before is none");
	}
	limits_accept(&limits, now - 1);
	tap_int(limits_refuse(&limits, -1, now + MINUTE, now + MINUTE), MINUTE,
		"nor does a late answer make it good");
	limits_accept(&limits, now + 2 * MINUTE);
	now += 3 * MINUTE;
	tap_int(limits_refuse(&limits, -1, now, now), SECOND, "an answer afterwards does");
	now += MINUTE;
	tap_int(limits_refuse(&limits, 90 * SECOND, now, now), 90 * SECOND, "its own word counts");
}

static const struct response answered = { .fault = REASON_COUNT, .status = 200 };
static const struct response forbidden = { .fault = REASON_COUNT, .status = 403 };
static const struct response bad_request = { .fault = REASON_COUNT, .status = 400 };

static struct reading
reading_of(enum reason reason)
{
	return (struct reading){ .kind = READING_UNAVAILABLE,
				 .reason = reason,
				 .response = &answered };
}

/* One letter for a call, one for the state after it. */
struct breaker_step {
	char call; /* t take, f failure, s success, r refusal, g give, + 10 s */
	char state;
};

static const struct {
	const char *name;
	int failures, trial;
	struct breaker_step steps[16];
} courses[] = {
	{ "opens after three", 3, 1,
	  { { 'f', 'c' }, { 'f', 'c' }, { 'f', 'o' } } },
	{ "a success between", 3, 1,
	  { { 'f', 'c' }, { 'f', 'c' }, { 's', 'c' }, { 'f', 'c' }, { 'f', 'c' }, { 'f', 'o' } } },
	{ "a refusal is neither", 2, 1, { { 'f', 'c' }, { 'r', 'c' }, { 'f', 'o' } } },
	{ "never", 0, 1, { { 'f', 'c' }, { 'f', 'c' }, { 'f', 'c' }, { 'f', 'c' } } },
	{ "a trial that succeeds", 1, 1, { { 'f', 'o' }, { '+', 'o' }, { 't', 'h' }, { 's', 'c' } } },
	{ "a trial that fails", 1, 1,
	  { { 'f', 'o' }, { '+', 'o' }, { 't', 'h' }, { 'f', 'o' }, { '+', 'o' }, { 't', 'h' } } },
	{ "two trials", 1, 2,
	  { { 'f', 'o' }, { '+', 'o' }, { 't', 'h' }, { 't', 'h' }, { 's', 'h' }, { 's', 'c' } } },
	{ "the second of two fails", 1, 2,
	  { { 'f', 'o' }, { '+', 'o' }, { 't', 'h' }, { 't', 'h' }, { 's', 'h' }, { 'f', 'o' } } },
	{ "a trial that is cancelled", 1, 1,
	  { { 'f', 'o' }, { '+', 'o' }, { 't', 'h' }, { 'g', 'o' }, { 't', 'h' }, { 's', 'c' } } },
	{ "a trial that is refused", 1, 1,
	  { { 'f', 'o' }, { '+', 'o' }, { 't', 'h' }, { 'r', 'o' }, { 't', 'h' }, { 's', 'c' } } },
};

static void
call_breaker(struct breaker *breaker, char call, int64_t *now_us)
{
	struct reading failure = reading_of(REASON_TIMEOUT), refusal = reading_of(REASON_THROTTLED);
	struct reading success = { .kind = READING_ABSENT, .response = &answered };
	const struct reading *reading = call == 'f' ? &failure : call == 'r' ? &refusal : &success;

	if (call == 't')
		breaker_take(breaker);
	else if (call == 'g')
		breaker_give(breaker, breaker->generation);
	else if (call == '+')
		*now_us += 11 * SECOND;
	else
		breaker_answer(breaker, breaker->generation, reading, *now_us, 0);
}

static void
test_breaker(void)
{
	for (size_t i = 0; i < ARRAY_LEN(courses); i++) {
		const struct breaker_options options = { courses[i].failures, courses[i].trial,
							 10 * SECOND };
		int64_t now = START;
		struct breaker breaker;

		breaker_init(&breaker, &options);
		for (const struct breaker_step *step = courses[i].steps; step->call; step++) {
			call_breaker(&breaker, step->call, &now);
			tap_ok(breaker_state_name(breaker.state)[0] == step->state, "%s: %c is %s",
			       courses[i].name, step->call, breaker_state_name(breaker.state));
		}
	}
}

static void
test_breaker_times(void)
{
	const struct breaker_options options = { 1, 2, 10 * SECOND };
	struct reading failure = reading_of(REASON_DNS);
	struct reading success = { .kind = READING_FOUND, .response = &answered };
	struct breaker breaker;
	unsigned early;

	breaker_init(&breaker, &options);
	tap_ok(breaker_free(&breaker, START) > 1000, "closed: no limit");
	early = breaker_take(&breaker);
	tap_ok(breaker_answer(&breaker, early, &failure, START, 0), "the change is told");
	tap_int(breaker_free(&breaker, START + 10 * SECOND - 1), 0, "shut for ten seconds");
	tap_int(breaker_free(&breaker, START + 10 * SECOND), 2, "then two");
	tap_ok(!breaker_answer(&breaker, early, &success, START, 0) &&
		       breaker.state == BREAKER_OPEN,
	       "an answer to what was asked before it opened does not close it");
	breaker_take(&breaker);
	tap_int(breaker_free(&breaker, START + 10 * SECOND), 1, "one is under way");
	tap_ok(!breaker_answer(&breaker, early, &failure, START, 0) &&
		       breaker.state == BREAKER_HALF_OPEN,
	       "nor does it open again");
	for (uint64_t random = 0; random < 5000000; random += 999999) {
		breaker_init(&breaker, &options);
		breaker_answer(&breaker, 0, &failure, START, random);
		tap_ok(breaker.retry_at_us >= START + 10 * SECOND &&
			       breaker.retry_at_us <= START + 11 * SECOND,
		       "spread by up to a tenth");
	}
}

/* What an answer says about the target, and whether a second try is worth it. */
static const struct {
	enum reason reason;
	const struct response *response;
	enum answer_grade grade;
	bool retry;
} grades[] = {
	{ REASON_TIMEOUT, &answered, ANSWER_UNREACHED, false },
	{ REASON_REFUSED, &answered, ANSWER_UNREACHED, true },
	{ REASON_DNS, &answered, ANSWER_UNREACHED, true },
	{ REASON_TLS, &answered, ANSWER_UNREACHED, false },
	{ REASON_TRANSPORT, &answered, ANSWER_UNREACHED, true },
	{ REASON_TRUNCATED, &answered, ANSWER_FAILED, true },
	{ REASON_REDIRECT, &answered, ANSWER_FAILED, false },
	{ REASON_HTTP_5XX, &answered, ANSWER_FAILED, true },
	{ REASON_BROKEN, &answered, ANSWER_FAILED, false },
	{ REASON_THROTTLED, &answered, ANSWER_REFUSED, true },
	{ REASON_HTTP_4XX, &forbidden, ANSWER_FAILED, false },
	{ REASON_HTTP_4XX, &bad_request, ANSWER_USABLE, false },
};

static void
test_grades(void)
{
	for (size_t i = 0; i < ARRAY_LEN(grades); i++) {
		struct reading reading = reading_of(grades[i].reason);

		reading.response = grades[i].response;
		tap_int(grade_answer(&reading), grades[i].grade, reason_name(grades[i].reason));
		tap_ok(grade_is_worth_a_retry(&reading) == grades[i].retry, "%s: %s",
		       reason_name(grades[i].reason), grades[i].retry ? "again" : "not again");
		reading.kind = READING_INCOMPLETE;
		tap_ok(grade_answer(&reading) == ANSWER_USABLE &&
			       !grade_is_worth_a_retry(&reading),
		       "what could be asked is usable");
	}
	for (enum reason reason = 0; reason < REASON_COUNT; reason++) {
		struct reading reading = reading_of(reason);
		bool listed = false;

		for (size_t i = 0; i < ARRAY_LEN(grades); i++)
			listed |= grades[i].reason == reason;
		tap_ok(listed || grade_answer(&reading) == ANSWER_USABLE, "%s is in the table",
		       reason_name(reason));
		tap_ok(listed == reason_is_unavailable(reason), "%s: unavailable, or not listed",
		       reason_name(reason));
	}
}

static const struct {
	const char *name;
	int asked;
	int64_t waited_ms, closed_ms;
	int64_t least_ms, most_ms; /* -1: not again */
} retries[] = {
	{ "the first pause, ± a quarter", 1, 0, 0, 150, 250 },
	{ "twice as long", 2, 200, 0, 300, 500 },
	{ "the last try was used", 3, 600, 0, -1, -1 },
	{ "as the target asks", 1, 0, 2000, 2000, 2000 },
	{ "no longer than allowed", 1, 0, 5001, -1, -1 },
	{ "all pauses together", 2, 3500, 2000, -1, -1 },
};

static void
test_retries(void)
{
	const struct retry_options options = { 3, 200 * MILLISECOND, 5 * SECOND };
	struct reading reading = reading_of(REASON_HTTP_5XX);

	for (size_t i = 0; i < ARRAY_LEN(retries); i++)
		for (uint64_t random = 0; random < 400000; random += 49999) {
			const struct retry_past past = { retries[i].asked,
							 retries[i].waited_ms * MILLISECOND };
			int64_t delay = retry_delay_us(&options, &past, &reading,
						       retries[i].closed_ms * MILLISECOND, random);

			if (retries[i].least_ms < 0)
				tap_int(delay, RETRY_NOT, retries[i].name);
			else
				tap_ok(delay >= retries[i].least_ms * MILLISECOND &&
					       delay <= retries[i].most_ms * MILLISECOND,
				       "%s", retries[i].name);
		}
}

int
main(void)
{
	test_slots();
	test_parts_of_slots();
	test_rate();
	test_parts_of_rate();
	test_change_of_part();
	test_pause();
	test_refusals();
	test_breaker();
	test_breaker_times();
	test_grades();
	test_retries();
	return tap_done();
}
