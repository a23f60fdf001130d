/* SPDX-License-Identifier: Apache-2.0
 *
 * Closed, open, half-open. It becomes half-open when a question on trial really leaves, not when it
 * could: a target that nobody asks about keeps nobody waiting.
 */
#include "breaker.h"

/* The pause is longer by up to a tenth. */
enum { SPREAD = 10 };

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

void
breaker_init(struct breaker *breaker, const struct breaker_options *options)
{
	*breaker = (struct breaker){ .options = *options, .cause = REASON_COUNT };
	if (breaker->options.trial < 1)
		breaker->options.trial = 1;
}

int
breaker_free(const struct breaker *breaker, int64_t now_us)
{
	switch (breaker->state) {
	case BREAKER_CLOSED:
		return INT32_MAX;
	case BREAKER_HALF_OPEN:
		return breaker->trials;
	case BREAKER_OPEN:
		return now_us >= breaker->retry_at_us ? breaker->options.trial : 0;
	}
	return 0;
}

static void
change(struct breaker *breaker, enum breaker_state state)
{
	breaker->state = state;
	breaker->generation++;
	breaker->failed = breaker->succeeded = 0;
	breaker->trials = breaker->options.trial;
}

unsigned
breaker_take(struct breaker *breaker)
{
	if (breaker->state == BREAKER_OPEN)
		change(breaker, BREAKER_HALF_OPEN);
	if (breaker->state == BREAKER_HALF_OPEN)
		breaker->trials--;
	return breaker->generation;
}

/* With nothing on trial and nothing learnt it is as open as before, and may be tried at once. */
void
breaker_give(struct breaker *breaker, unsigned ticket)
{
	if (breaker->state != BREAKER_HALF_OPEN || ticket != breaker->generation)
		return;
	breaker->trials++;
	if (breaker->trials == breaker->options.trial)
		change(breaker, BREAKER_OPEN);
}

static void
open_it(struct breaker *breaker, int64_t now_us, uint64_t random)
{
	int64_t pause = breaker->options.open_us;

	change(breaker, BREAKER_OPEN);
	breaker->retry_at_us = now_us + pause + (int64_t)(random % ((uint64_t)pause / SPREAD + 1));
}

static bool
fail(struct breaker *breaker, int64_t now_us, uint64_t random)
{
	breaker->failed++;
	if (breaker->state == BREAKER_CLOSED &&
	    (breaker->options.failures == 0 || breaker->failed < breaker->options.failures))
		return false;
	open_it(breaker, now_us, random);
	return true;
}

static bool
succeed(struct breaker *breaker)
{
	breaker->failed = 0;
	if (breaker->state == BREAKER_CLOSED)
		return false;
	if (++breaker->succeeded < breaker->options.trial)
		return false;
	change(breaker, BREAKER_CLOSED);
	return true;
}

bool
breaker_answer(struct breaker *breaker, unsigned ticket, const struct reading *reading,
	       int64_t now_us, uint64_t random)
{
	enum answer_grade grade = grade_answer(reading);

	if (ticket != breaker->generation)
		return false;
	switch (grade) {
	case ANSWER_USABLE:
		return succeed(breaker);
	case ANSWER_REFUSED:
		breaker_give(breaker, ticket);
		return false;
	case ANSWER_FAILED:
	case ANSWER_UNREACHED:
		breaker->cause = reading->reason;
		breaker->unreached = grade == ANSWER_UNREACHED;
		return fail(breaker, now_us, random);
	}
	return false;
}

void
breaker_try_now(struct breaker *breaker, int64_t now_us)
{
	if (breaker->state == BREAKER_OPEN && breaker->retry_at_us > now_us)
		breaker->retry_at_us = now_us;
}

/* What is on trial belongs to the other one; here a trial may begin at once. */
void
breaker_inherit(struct breaker *breaker, const struct breaker *before, int64_t now_us)
{
	breaker->cause = before->cause;
	breaker->unreached = before->unreached;
	breaker->failed = before->state == BREAKER_CLOSED ? before->failed : 0;
	if (before->state == BREAKER_CLOSED || breaker->options.failures == 0)
		return;
	change(breaker, BREAKER_OPEN);
	breaker->retry_at_us = before->state == BREAKER_OPEN ? before->retry_at_us : now_us;
}
