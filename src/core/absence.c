/* SPDX-License-Identifier: Apache-2.0
 *
 * When "not there" means missing: never at once, never while the target may be blind, never beyond
 * what it remembers.
 */
#include <string.h>

#include "earned.h"
#include "judgement.h"

#include "reconciled/base/clock.h"

static const char ABSENCE[] = "absence";

/* Age of a cached answer; 0 when it says nothing readable. */
static int64_t
age_us(const struct response *response)
{
	static const int64_t limit = 100 * 365 * DAY / SECOND;
	const char *text = NULL;
	int64_t seconds = 0;

	for (size_t i = 0; i < response->headers_count && text == NULL; i++)
		if (strcmp(response->headers[i].name, "age") == 0)
			text = response->headers[i].value;
	if (text == NULL)
		return 0;
	for (; *text >= '0' && *text <= '9'; text++)
		if (seconds < limit)
			seconds = seconds * 10 + (*text - '0');
	return (seconds < limit ? seconds : limit) * SECOND;
}

/* The age of the oldest page. */
static int64_t
oldest_us(const struct reading *reading)
{
	int64_t oldest = 0;

	for (size_t i = 0; i < reading->pages_count; i++) {
		int64_t us = age_us(reading->pages[i].response);

		oldest = us > oldest ? us : oldest;
	}
	return oldest;
}

/* A cache answered with what the target said before the effect had to be visible. */
static bool
is_from_before(const struct look *look, int64_t after_us)
{
	for (size_t i = 0; i < look->count; i++)
		if (look->readings[i]->kind == READING_ABSENT &&
		    look->at_us - oldest_us(look->readings[i]) < after_us)
			return true;
	return false;
}

static bool
is_beyond_horizon(const struct judgement *of)
{
	int64_t horizon_us = of->policy->absence_horizon_us;

	return horizon_us > 0 && look_now_us(of->look) > earned_basis_us(of->op) + horizon_us;
}

/* Counted already. */
static void
judge_counted(struct judgement *of)
{
	struct scene scene = { .arena = of->arena, .op = of->op };

	if (is_beyond_horizon(of))
		judgement_fire(of, ABSENCE, CLASS_AMBIGUOUS, REASON_BEYOND_HORIZON);
	else if (!earned_enough(of->policy, &of->verdict->earned, of->look->at_us))
		judgement_fire(of, ABSENCE, CLASS_WAITING, REASON_ABSENT_UNCONFIRMED);
	else if (of->policy->absence_proves == PROVES_NOTHING)
		judgement_fire(of, ABSENCE, CLASS_AMBIGUOUS, REASON_ABSENCE_PROVES_NOTHING);
	else if (!judgement_rows(of, "on_absent", &of->policy->on_absent, &scene))
		judgement_fire(of, ABSENCE, CLASS_MISSING, REASON_ABSENT_CONFIRMED);
}

void
judge_absence(struct judgement *of)
{
	int64_t at_us = of->look->at_us;

	if (!judgement_may_count(of, ABSENCE))
		return;
	if (is_from_before(of->look, earned_after_us(of->policy, of->op))) {
		judgement_inconclusive(of, "probe", REASON_NOT_COVERED);
		return;
	}
	of->verdict->earned = earned_with(of->policy, of->op, CLASS_MISSING, at_us);
	judge_counted(of);
}
