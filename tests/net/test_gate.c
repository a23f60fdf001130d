/* SPDX-License-Identifier: Apache-2.0
 *
 * What keeps questions back: rates, pauses that a target asks for, retries within a reading, the
 * breaker, and all targets failing at once. The server counts; nothing here asserts how long
 * something took, only what did not come too early.
 */
#include "asking.h"

#include <stdlib.h>

enum { CROWD_MAX = 64 };

/* Several questions; as many at a time as the target lets. */
struct crowd {
	struct probe_target *target;
	const struct probe *probe;
	int wanted, started, calls;
	int by_kind[READING_INCOMPLETE + 1];
	enum reason reason; /* of the last one */
	int64_t began_us[CROWD_MAX];
};

static void
on_one(void *owner, const struct probe_answer *answer)
{
	struct crowd *crowd = owner;

	crowd->began_us[crowd->calls++] = answer->began_us;
	crowd->by_kind[answer->reading->kind]++;
	crowd->reason = answer->reading->reason;
}

static void
fill(struct crowd *crowd)
{
	while (crowd->started < crowd->wanted && probe_target_free(crowd->target) > 0) {
		struct probe_question question = { .arena = arena, .probe = crowd->probe, .op = &op };

		crowd->started++;
		probe_start(crowd->target, &question, on_one, crowd);
	}
}

static void
on_room(void *owner, struct probe_target *target)
{
	struct crowd *crowd = owner;

	for (; crowd->target != NULL; crowd++)
		if (crowd->target == target)
			fill(crowd);
}

/* The list of crowds ends with one without target. */
static void
start_crowds(struct crowd *crowds)
{
	probe_engine_on_ready(engine, on_room, crowds);
	for (; crowds->target != NULL; crowds++)
		fill(crowds);
}

/* The most questions that left within any window of this length. */
static int
busiest(const struct crowd *crowd, int64_t window_us)
{
	int most = 0;

	for (int i = 0; i < crowd->calls; i++) {
		int count = 0;

		for (int j = 0; j < crowd->calls; j++)
			count += crowd->began_us[j] >= crowd->began_us[i] &&
				 crowd->began_us[j] < crowd->began_us[i] + window_us;
		most = count > most ? count : most;
	}
	return most;
}

/* A new engine and a server that has forgotten; limits in small times. */
static struct probe_target_options
begin_with(const char *folder)
{
	begin();
	server_says("/forget", "");

	struct probe_target_options with = options("http", server.plain, folder);

	with.retry_backoff_us = 20 * MILLISECOND;
	with.retry_max_us = 700 * MILLISECOND;
	with.breaker_trial = 1;
	with.breaker_open_us = 150 * MILLISECOND;
	return with;
}

static int
arrivals(void)
{
	return atoi(server_says("/stats", "arrivals"));
}

static const struct {
	const char *name, *path;
	int attempts;
	enum reading_kind kind;
	enum reason reason;
	int asked;
} retries[] = {
	{ "503, then it is there", "/steps/503a50-200/a", 2, READING_FOUND, REASON_COUNT, 2 },
	{ "500, then it is not there", "/steps/500-404/b", 2, READING_ABSENT, REASON_COUNT, 2 },
	{ "408", "/steps/408-200/c", 2, READING_FOUND, REASON_COUNT, 2 },
	{ "425", "/steps/425-200/d", 2, READING_FOUND, REASON_COUNT, 2 },
	{ "429 with a time", "/steps/429a100-200/e", 2, READING_FOUND, REASON_COUNT, 2 },
	{ "closed without an answer", "/steps/nothing-200/f", 2, READING_FOUND, REASON_COUNT, 2 },
	{ "cut off", "/steps/toolong-200/g", 2, READING_FOUND, REASON_COUNT, 2 },
	{ "reset", "/steps/reset-200/h", 2, READING_FOUND, REASON_COUNT, 2 },
	{ "a third time", "/steps/500-502-200/i", 3, READING_FOUND, REASON_COUNT, 3 },
	{ "not more often than told", "/steps/500-500-200/j", 2, READING_UNAVAILABLE,
	  REASON_HTTP_5XX, 2 },
	{ "not at all", "/steps/500-200/k", 1, READING_UNAVAILABLE, REASON_HTTP_5XX, 1 },
	{ "400 is no accident", "/steps/400-200/l", 2, READING_UNAVAILABLE, REASON_HTTP_4XX, 1 },
	{ "401", "/steps/401-200/m", 2, READING_UNAVAILABLE, REASON_HTTP_4XX, 1 },
	{ "a redirect", "/steps/302-200/n", 2, READING_UNAVAILABLE, REASON_REDIRECT, 1 },
	{ "404 is an answer", "/steps/404-200/o", 2, READING_ABSENT, REASON_COUNT, 1 },
	{ "200 is one", "/steps/200-500/p", 2, READING_FOUND, REASON_COUNT, 1 },
	{ "longer than we wait", "/steps/429a900-200/q", 2, READING_UNAVAILABLE, REASON_THROTTLED,
	  1 },
	{ "refused without a time", "/steps/429-200/r", 2, READING_UNAVAILABLE, REASON_THROTTLED,
	  1 },
};

static void
test_retries(void)
{
	for (size_t i = 0; i < ARRAY_LEN(retries); i++) {
		struct probe_target_options with = begin_with("");

		with.retry_attempts = retries[i].attempts;

		struct seen seen = ask_with(&with, retries[i].path);

		expect(&seen, retries[i].kind, retries[i].reason, retries[i].name);
		tap_int(arrivals(), retries[i].asked, retries[i].name);
	}
}

/* The time of an answer, for the absence rule, is that of the question it answers. */
static int64_t last_began_us;

static void
on_began(void *owner, const struct probe_answer *answer)
{
	last_began_us = answer->began_us;
	++*(int *)owner;
}

static void
test_began(void)
{
	struct probe_target_options with = begin_with("");
	int64_t before = clock_monotonic_us();
	int calls = 0;

	with.retry_attempts = 2;
	with.retry_backoff_us = 100 * MILLISECOND;

	struct probe_question question = { .arena = arena,
					   .probe = asks("/steps/500-404/a"),
					   .op = &op };

	probe_start(probe_engine_add(engine, &with), &question, on_began, &calls);
	turn(base, &calls, 1);
	tap_ok(last_began_us >= before + 75 * MILLISECOND,
	       "asking began with the last question of a reading, after the pause");
}

static void
test_slot_during_pause(void)
{
	struct probe_target_options with = begin_with("");
	struct seen first = { 0 }, second = { 0 };

	with.concurrent = 1;
	with.retry_attempts = 2;
	with.retry_backoff_us = 2 * SECOND;
	with.retry_max_us = 5 * SECOND;

	struct probe_target *target = probe_engine_add(engine, &with);

	probe_target_free(target);
	start(target, asks("/steps/500-200/a"), &first);
	tap_int(probe_target_free(target), 0, "one at a time");
	turn(base, &ready_calls, 1);
	tap_int(probe_target_free(target), 1, "while a reading waits its slot is free");
	start(target, asks("/steps/200/b"), &second);
	turn(base, &second.calls, 1);
	tap_int(first.calls, 0, "others are asked meanwhile");
	turn(base, &first.calls, 1);
	expect(&first, READING_FOUND, REASON_COUNT, "then it is asked again");
	tap_str(server_says("/stats", "most"), "1", "never two at a time");
}

static void
on_counted(void *owner, const char *target, enum reason cause, int64_t elapsed_us)
{
	++*(int *)owner;
}

static void
test_cancel_in_pause(void)
{
	struct probe_target_options with = begin_with("");
	struct seen seen = { 0 };
	int answers = 0;

	with.retry_attempts = 2;
	with.retry_backoff_us = 100 * MILLISECOND;

	struct probe_target *target = probe_engine_add(engine, &with);
	struct probe_run *run = start(target, asks("/steps/500-200/a"), &seen);

	probe_engine_on_answered(engine, on_counted, &answers);
	turn(base, &answers, 1);
	probe_cancel(run);
	start(target, asks("/steps/500-200/b"), &seen);
	turn(base, &seen.calls, 1);
	turn_for(base, 150 * MILLISECOND);
	tap_int(seen.calls, 1, "what was cancelled during its pause never calls");
	tap_int(arrivals(), 3, "and is not asked again");
	answers = 0;
	start(target, asks("/steps/500-200/c"), &seen);
	turn(base, &answers, 1);
	begin();
	turn_for(base, 200 * MILLISECOND);
	tap_int(seen.calls, 1, "nor is what ended with the engine");
}

/* Retries and the control count; the server counts over every window. */
static void
test_rate(void)
{
	struct probe_target_options with = begin_with("");

	with.rules = rules_with_control("/control");
	with.control_every_us = 200 * MILLISECOND;
	with.rate_count = 10;
	with.rate_period_us = 500 * MILLISECOND;
	with.rate_burst = 3;
	with.retry_attempts = 3;
	with.concurrent = 4;

	struct probe_target *target = probe_engine_add(engine, &with);
	struct crowd crowds[] = { { .target = target, .wanted = 25 }, { 0 } };

	crowds[0].probe = asks("/steps/500-200-500-200-200/a");
	start_crowds(crowds);
	turn(base, &crowds[0].calls, 25);
	tap_int(crowds[0].by_kind[READING_FOUND], 25, "all of them come to their end");
	tap_ok(arrivals() >= 28, "25, two retries, and the control");
	tap_ok(busiest(&crowds[0], 500 * MILLISECOND) <= 10 + 3,
	       "no 500 ms have more questions than the rate and the burst");
	tap_ok(busiest(&crowds[0], 100 * MILLISECOND) <= 2 + 3, "nor 100 ms");
	tap_ok(atoi(server_says("/busiest/500", "arrivals")) <= 10 + 3 + 3,
	       "as the server counts them, the control and retries among them");
	tap_ok(atoi(server_says("/stats", "most")) <= 4, "and never more than four at once");
}

static void
test_part_of_rate(void)
{
	struct probe_target_options with = begin_with("");

	with.rate_count = 10;
	with.rate_period_us = 100 * MILLISECOND;
	with.rate_burst = 3;

	struct probe_target *target = probe_engine_add(engine, &with);
	struct crowd crowds[] = { { .target = target, .wanted = 12 }, { 0 } };

	probe_target_set_part(target, 1, 3);
	crowds[0].probe = asks("/steps/200/a");
	start_crowds(crowds);
	turn(base, &crowds[0].calls, 12);
	tap_ok(busiest(&crowds[0], 150 * MILLISECOND) <= 5 + 1,
	       "a third of the rate and of the burst");
	tap_ok(atoi(server_says("/stats", "most")) <= 3, "and of the slots");
}

static void
test_part(void)
{
	/* 8 slots */
	static const struct {
		int part, parts, free;
	} parts[] = { { 0, 1, 8 }, { 0, 3, 3 }, { 1, 3, 3 }, { 2, 3, 2 }, { 7, 8, 1 }, { 0, 0, 0 } };
	struct probe_target_options with = begin_with("");
	struct probe_target *target = probe_engine_add(engine, &with);

	tap_int(probe_target_free(target), 8, "the whole target from the start");
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		probe_target_set_part(target, parts[i].part, parts[i].parts);
		tap_int(probe_target_free(target), parts[i].free, "its part of the slots");
	}
	tap_int(probe_target_closed_us(target), HOUR, "closed while none of it is ours");
	turn_for(base, 20 * MILLISECOND);
	tap_int(ready_calls, 0, "nothing to announce");
	probe_target_set_part(target, 0, 1);
	tap_int(ready_calls, 0, "never from inside the call");
	turn(base, &ready_calls, 1);
	tap_int(probe_target_free(target), 8, "announced when a part is ours again");
	tap_int(probe_target_closed_us(target), 0, "open");
}

/* A smaller part while more is under way: that runs to its end, nothing new begins. */
static void
test_smaller_part(void)
{
	struct probe_target_options with = begin_with("");
	struct probe_target *target = probe_engine_add(engine, &with);
	struct crowd crowds[] = { { .target = target, .wanted = 20 }, { 0 } };

	crowds[0].probe = asks("/steps/200/a");
	start_crowds(crowds);
	probe_target_set_part(target, 0, 4);
	tap_int(probe_target_free(target), 0, "eight are under way, two are ours");
	turn(base, &crowds[0].calls, 8);
	server_says("/forget", "");
	turn(base, &crowds[0].calls, 20);
	tap_int(crowds[0].by_kind[READING_FOUND], 20, "none is lost");
	tap_str(server_says("/stats", "most"), "2", "then two at a time");
}

static const struct {
	const char *name, *path;
	int gap_ms;
} pauses[] = {
	{ "Retry-After", "/steps/429a300-200/a", 300 },
	{ "Retry-After of a 503", "/steps/503a300-200/a", 300 },
	{ "used up", "/steps/200q300-200/a", 300 },
	{ "refused without a time: a second of our own", "/steps/429-200/a", 1000 },
	{ "zero is no time either", "/steps/429a0-200/a", 1000 },
};

static void
test_pauses(void)
{
	for (size_t i = 0; i < ARRAY_LEN(pauses); i++) {
		struct probe_target_options with = begin_with("");

		with.concurrent = 1;

		struct probe_target *target = probe_engine_add(engine, &with);
		struct crowd crowds[] = { { .target = target, .wanted = 3 }, { 0 } };

		crowds[0].probe = asks(pauses[i].path);
		start_crowds(crowds);
		turn(base, &crowds[0].calls, 1);
		tap_int(probe_target_free(target), 0, pauses[i].name);
		tap_ok(probe_target_closed_us(target) > 0, "%s: closed", pauses[i].name);
		turn(base, &crowds[0].calls, 3);
		tap_ok(atoi(server_says("/gap/1", "ms")) >= pauses[i].gap_ms,
		       "%s: nothing arrives before", pauses[i].name);
		tap_ok(probe_target_breaker(target) == BREAKER_CLOSED, "%s: no failure",
		       pauses[i].name);
	}
}

/* Eight refused at once are one refusal: the pause of our own does not double eight times. */
static void
test_refused_together(void)
{
	struct probe_target_options with = begin_with("");
	struct probe_target *target = probe_engine_add(engine, &with);
	struct crowd crowds[] = { { .target = target, .wanted = 8 }, { 0 } };

	crowds[0].probe = asks("/steps/429/a");
	start_crowds(crowds);
	turn(base, &crowds[0].calls, 8);
	tap_ok(probe_target_closed_us(target) <= SECOND, "a second, once");
}

/* The breaker opens after exactly as many failures as told, and lets one question through. */
static void
test_breaker(void)
{
	struct probe_target_options with = begin_with("");

	with.concurrent = 1;
	with.breaker_failures = 3;

	struct probe_target_options other_with = with;
	struct probe_target *target = probe_engine_add(engine, &with);
	struct probe_target *other = probe_engine_add(engine, &other_with);
	struct crowd crowds[] = { { .target = target, .wanted = 10 },
				  { .target = other, .wanted = 10 },
				  { 0 } };

	crowds[0].probe = asks("/steps/500-500-500-500-200/a");
	crowds[1].probe = asks("/steps/200/b");
	start_crowds(crowds);
	turn(base, &crowds[0].calls, 3);
	tap_str(breaker_state_name(probe_target_breaker(target)), "open", "after three");
	tap_int(probe_target_free(target), 0, "nothing can be started");
	tap_ok(probe_target_closed_us(target) > 0, "and it is told for how long");
	turn(base, &crowds[1].calls, 10);
	tap_int(crowds[1].by_kind[READING_FOUND], 10, "the other target is not affected");
	tap_str(breaker_state_name(probe_target_breaker(other)), "closed", "nor its breaker");
	tap_int(arrivals(), 13, "three were asked here");
	turn(base, &crowds[0].calls, 4);
	tap_int(arrivals(), 14, "one on trial");
	tap_str(breaker_state_name(probe_target_breaker(target)), "open", "which fails");
	turn(base, &crowds[0].calls, 10);
	tap_str(breaker_state_name(probe_target_breaker(target)), "closed", "the next is answered");
	tap_int(crowds[0].by_kind[READING_UNAVAILABLE], 4, "four failures, all reported");
	tap_int(crowds[0].by_kind[READING_FOUND], 6, "all others found");
}

static void
test_half_open(void)
{
	struct probe_target_options with = begin_with("");

	with.concurrent = 4;
	with.breaker_failures = 2;
	with.breaker_trial = 2;

	struct probe_target *target = probe_engine_add(engine, &with);
	struct crowd crowds[] = { { .target = target, .wanted = 4 }, { 0 } };

	crowds[0].probe = asks("/steps/500-500-500-500-200/a");
	start_crowds(crowds);
	turn(base, &crowds[0].calls, 4);
	tap_int(crowds[0].by_kind[READING_UNAVAILABLE], 4, "what comes in while it opens is reported");
	tap_str(breaker_state_name(probe_target_breaker(target)), "open", "open");
	crowds[0].wanted = 20;
	ready_calls = 0;
	probe_target_free(target);
	while (probe_target_breaker(target) == BREAKER_OPEN)
		event_base_loop(base, EVLOOP_ONCE);
	tap_str(breaker_state_name(probe_target_breaker(target)), "half_open", "half-open");
	tap_int(crowds[0].started, 6, "two are on trial");
	tap_int(probe_target_free(target), 0, "and no others");
	turn(base, &crowds[0].calls, 20);
	tap_str(breaker_state_name(probe_target_breaker(target)), "closed", "both were answered");
	tap_int(crowds[0].by_kind[READING_FOUND], 16, "and then the others");
}

static const struct {
	const char *name, *path;
	bool opens;
} failures[] = {
	{ "401", "/steps/401/a", true },	{ "403", "/steps/403/a", true },
	{ "407", "/steps/407/a", true },	{ "500", "/steps/500/a", true },
	{ "302", "/steps/302/a", true },	{ "cut off", "/steps/toolong/a", true },
	{ "reset", "/steps/reset/a", true },
	{ "400", "/steps/400/a", false },	{ "404", "/steps/404/a", false },
	{ "408", "/steps/408/a", false },	{ "success between", "/steps/500-200-500-404/a", false },
	{ "429", "/steps/429a1/a", false },	{ "no JSON", "/steps/garbage/a", true },
};

static void
test_failures(void)
{
	for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
		struct probe_target_options with = begin_with("");

		with.concurrent = 1;
		with.breaker_failures = 2;
		with.breaker_open_us = MINUTE;

		struct probe_target *target = probe_engine_add(engine, &with);
		struct crowd crowds[] = { { .target = target, .wanted = 4 }, { 0 } };

		crowds[0].probe = asks(failures[i].path);
		start_crowds(crowds);
		turn(base, &crowds[0].calls, failures[i].opens ? 2 : 4);
		tap_int(arrivals(), failures[i].opens ? 2 : 4, failures[i].name);
		tap_ok((probe_target_breaker(target) == BREAKER_OPEN) == failures[i].opens,
		       "%s: %s", failures[i].name, failures[i].opens ? "opens" : "stays closed");
	}
}

/* A retry is no use while the target is doubted: the readings end with what was seen last. */
static void
test_retry_and_breaker(void)
{
	struct probe_target_options with = begin_with("");

	with.retry_attempts = 3;
	with.retry_backoff_us = 10 * SECOND;
	with.retry_max_us = MINUTE;
	with.breaker_failures = 8;
	with.breaker_open_us = MINUTE;

	struct probe_target *target = probe_engine_add(engine, &with);
	struct crowd crowds[] = { { .target = target, .wanted = 8 }, { 0 } };

	crowds[0].probe = asks("/steps/500/a");
	start_crowds(crowds);
	turn(base, &crowds[0].calls, 8);
	tap_int(arrivals(), 8, "seven waited for their retry when the eighth opened the breaker");
	tap_int(crowds[0].by_kind[READING_UNAVAILABLE], 8, "all are reported");
	tap_str(reason_name(crowds[0].reason), "http_5xx", "with their last answer");
}

/* The control object is the first that is asked on trial; what it shows counts at once. */
static void
test_control_on_trial(void)
{
	struct probe_target_options with = begin_with("");

	server_says("/return_control", "");
	with.rules = rules_with_control("/control");
	with.breaker_failures = 2;
	with.concurrent = 2;

	struct probe_target *target = probe_engine_add(engine, &with);

	probe_target_free(target);
	turn(base, &ready_calls, 1);
	tap_ok(probe_target_control(target) == CONTROL_FOUND, "the control is there");
	for (int i = 0; i < 2; i++)
		ask(target, "/steps/500-500-404/a");
	tap_str(breaker_state_name(probe_target_breaker(target)), "open", "open");
	tap_int(arrivals(), 3, "the control and two questions");
	server_says("/take_control", "");
	ready_calls = 0;
	tap_int(probe_target_free(target), 0, "closed");
	turn(base, &ready_calls, 1);
	tap_int(arrivals(), 4, "one on trial: the control, before it was time for it");
	tap_str(breaker_state_name(probe_target_breaker(target)), "closed", "it was answered");
	tap_ok(probe_target_control(target) == CONTROL_LOST, "but the object was lost meanwhile");

	struct seen seen = ask(target, "/steps/500-500-404/a");

	expect(&seen, READING_ABSENT, REASON_COUNT, "absent");
	tap_ok(seen.control == CONTROL_LOST, "which does not count");
	server_says("/return_control", "");
}

static void
test_cancelled_trial(void)
{
	struct probe_target_options with = begin_with("");
	struct seen seen = { 0 };

	with.breaker_failures = 1;

	struct probe_target *target = probe_engine_add(engine, &with);

	ask(target, "/steps/500-200/a");
	tap_int(probe_target_free(target), 0, "open");
	turn(base, &ready_calls, 1);
	tap_int(probe_target_free(target), 1, "one may go on trial");

	struct probe_run *run = start(target, asks("/never"), &seen);

	turn_for(base, 30 * MILLISECOND);
	tap_int(probe_target_free(target), 0, "it is under way");
	probe_cancel(run);
	tap_int(probe_target_free(target), 1, "cancelled: another one may go");
	start(target, asks("/steps/500-200/a"), &seen);
	turn(base, &seen.calls, 1);
	tap_str(breaker_state_name(probe_target_breaker(target)), "closed", "and decides");
}

/* P03 b at two targets: nothing can be reached, so it is us. */
static void
test_isolation(void)
{
	struct probe_target_options with = begin_with("");
	struct probe_target_options asleep_with = with;

	with.base = options("http", server.refused, "").base;
	asleep_with.base = options("http", server.asleep, "").base;
	with.breaker_failures = asleep_with.breaker_failures = 2;
	with.breaker_open_us = asleep_with.breaker_open_us = 100 * MILLISECOND;

	struct probe_target *dead = probe_engine_add(engine, &with);
	struct probe_target *asleep = probe_engine_add(engine, &asleep_with);
	struct crowd crowds[] = { { .target = dead, .wanted = CROWD_MAX },
				  { .target = asleep, .wanted = CROWD_MAX },
				  { 0 } };

	probe_engine_add(engine, &asleep_with); /* never asked: no witness */
	crowds[0].probe = crowds[1].probe = asks("/steps/200/a");
	ask(dead, "/found");
	ask(dead, "/found");
	tap_ok(!probe_engine_is_isolated(engine), "one target that fails is the target's fault");
	ask(asleep, "/found");
	ask(asleep, "/found");
	tap_ok(probe_engine_is_isolated(engine), "all of them are ours");
	start_crowds(crowds);
	tap_int(crowds[0].started + crowds[1].started, 0, "nothing is asked");
	for (int calls = 1; calls <= 4; calls++) {
		while (crowds[0].calls + crowds[1].calls < calls)
			event_base_loop(base, EVLOOP_ONCE);
		tap_ok(crowds[0].started + crowds[1].started <= calls + 1, "one at a time");
	}
	tap_ok(crowds[0].calls >= 1 && crowds[1].calls >= 1, "by turns");
	tap_ok(probe_engine_is_isolated(engine), "still");
	server_says("/awaken", "");
	while (probe_target_breaker(asleep) != BREAKER_CLOSED)
		event_base_loop(base, EVLOOP_ONCE);
	tap_ok(!probe_engine_is_isolated(engine), "one answer ends it");
	tap_int(probe_target_closed_us(dead), 0, "and the other may be tried at once");
	turn(base, &crowds[1].calls, CROWD_MAX);
	tap_ok(crowds[1].by_kind[READING_FOUND] > 50, "the rest is found");
	tap_ok(!probe_engine_is_isolated(engine), "the one that stays away is alone with it");
}

static void
test_inherit(void)
{
	struct probe_target_options with = begin_with("");

	with.rules = rules_with_control("/control");
	with.breaker_failures = 1;
	with.breaker_open_us = MINUTE;

	struct probe_target *before = probe_engine_add(engine, &with);
	struct probe_target *target = probe_engine_add(engine, &with);

	probe_target_free(before);
	turn(base, &ready_calls, 1);
	ask(before, "/steps/500/a");
	probe_target_set_part(before, 1, 4);
	probe_target_inherit(target, before);
	tap_str(breaker_state_name(probe_target_breaker(target)), "open", "open stays open");
	tap_ok(probe_target_closed_us(target) > 30 * SECOND, "for as long");
	tap_ok(probe_target_control(target) == CONTROL_FOUND, "the control is known");
	tap_int(probe_target_free(target), 0, "nothing is asked");
	turn_for(base, 20 * MILLISECOND);
	tap_int(arrivals(), 2, "not even the control");

	with.rules = build_target(arena, "{}");
	before = probe_engine_add(engine, &with);
	target = probe_engine_add(engine, &with);
	ask(before, "/steps/429a60000/a");
	probe_target_inherit(target, before);
	tap_int(probe_target_free(target), 0, "a pause stays a pause");
	tap_ok(probe_target_closed_us(target) > 30 * SECOND, "for as long");
}

struct counts {
	int calls, failed;
	enum reason cause;
	bool named;
};

static void
on_answered(void *owner, const char *target, enum reason cause, int64_t elapsed_us)
{
	struct counts *counts = owner;

	counts->calls++;
	if (cause != REASON_COUNT) {
		counts->failed++;
		counts->cause = cause;
	}
	counts->named = strcmp(target, "test_target") == 0 && elapsed_us > 0;
}

static void
test_answered(void)
{
	struct probe_target_options with = begin_with("");
	struct counts counts = { 0 };

	with.rules = rules_with_control("/control");
	with.retry_attempts = 2;

	struct probe_target *target = probe_engine_add(engine, &with);

	probe_engine_on_answered(engine, on_answered, &counts);
	probe_target_free(target);
	turn(base, &counts.calls, 1);
	tap_ok(counts.failed == 0 && counts.named, "the control is an answer");
	ask(target, "/steps/500-200/a");
	tap_int(counts.calls, 3, "each try is one");
	tap_int(counts.failed, 1, "one of them failed");
	tap_str(reason_name(counts.cause), "http_5xx", "with its cause");
	ask(target, "/empty");
	tap_int(counts.failed, 1, "what cannot be read was answered all the same");
}

struct chain {
	struct probe_target *target;
	const struct probe *probe;
	int calls, wanted;
	enum reading_kind kind;
	enum reason reason;
};

static void
on_link(void *owner, const struct probe_answer *answer)
{
	struct chain *chain = owner;
	struct probe_question question = { .arena = arena, .probe = chain->probe, .op = &op };

	chain->kind = answer->reading->kind;
	chain->reason = answer->reading->reason;
	if (++chain->calls < chain->wanted)
		probe_start(chain->target, &question, on_link, chain);
}

static void
run_chain(struct chain *chain)
{
	struct probe_question question = { .arena = arena, .probe = chain->probe, .op = &op };

	probe_start(chain->target, &question, on_link, chain);
	turn(base, &chain->calls, chain->wanted);
}

/* The next probe of a look waits its turn. */
static void
test_next_question(void)
{
	struct probe_target_options with = begin_with("");

	with.rate_count = 1;
	with.rate_period_us = 100 * MILLISECOND;
	with.retry_max_us = 50 * MILLISECOND;

	struct chain chain = { .target = probe_engine_add(engine, &with), .wanted = 4 };

	chain.probe = asks("/steps/404/a");
	run_chain(&chain);
	tap_ok(chain.kind == READING_ABSENT, "all four are asked, however slow the rate");
	tap_ok(atoi(server_says("/busiest/99", "arrivals")) <= 2, "at that rate");

	with = begin_with("");
	with.retry_max_us = 100 * MILLISECOND;
	chain = (struct chain){ .target = probe_engine_add(engine, &with), .wanted = 2 };
	chain.probe = asks("/steps/200q50-404/a");
	run_chain(&chain);
	tap_ok(chain.kind == READING_ABSENT, "a short pause is waited for");

	with = begin_with("");
	with.retry_max_us = 100 * MILLISECOND;
	chain = (struct chain){ .target = probe_engine_add(engine, &with), .wanted = 2 };
	chain.probe = asks("/steps/200q60000/a");
	run_chain(&chain);
	tap_ok(chain.kind == READING_UNAVAILABLE, "a long one is not");
	tap_str(reason_name(chain.reason), "throttled", "the reading says why");
	tap_int(arrivals(), 1, "it was not asked");

	with = begin_with("");
	with.breaker_failures = 1;
	with.breaker_open_us = MINUTE;
	chain = (struct chain){ .target = probe_engine_add(engine, &with), .wanted = 3 };
	chain.probe = asks("/steps/500/a");
	run_chain(&chain);
	tap_str(reason_name(chain.reason), "http_5xx", "at an open breaker nothing is waited for");
	tap_int(arrivals(), 1, "and nothing is asked");
}

int
main(void)
{
	setup();
	test_retries();
	test_began();
	test_slot_during_pause();
	test_cancel_in_pause();
	test_rate();
	test_part_of_rate();
	test_part();
	test_smaller_part();
	test_pauses();
	test_refused_together();
	test_breaker();
	test_half_open();
	test_failures();
	test_retry_and_breaker();
	test_control_on_trial();
	test_cancelled_trial();
	test_isolation();
	test_inherit();
	test_answered();
	test_next_question();
	return teardown();
}
