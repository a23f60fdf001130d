/* SPDX-License-Identifier: Apache-2.0
 *
 * A table over the reasons of unavailable readings; of 4xx the status decides.
 */
#include "grade.h"

static const struct {
	enum answer_grade grade;
	bool retry;
} reasons[REASON_COUNT] = {
	/* No retry of what has used up the whole time of an answer already. */
	[REASON_TIMEOUT] = { ANSWER_UNREACHED, false },
	[REASON_REFUSED] = { ANSWER_UNREACHED, true },
	[REASON_DNS] = { ANSWER_UNREACHED, true },
	/* A certificate does not become right within seconds. */
	[REASON_TLS] = { ANSWER_UNREACHED, false },
	[REASON_TRANSPORT] = { ANSWER_UNREACHED, true },
	[REASON_TRUNCATED] = { ANSWER_FAILED, true },
	[REASON_REDIRECT] = { ANSWER_FAILED, false },
	[REASON_HTTP_5XX] = { ANSWER_FAILED, true },
	[REASON_BROKEN] = { ANSWER_FAILED, false },
	[REASON_THROTTLED] = { ANSWER_REFUSED, true },
};

/* Who may not log in gets nothing, and a proxy that refuses lets nobody through. */
static bool
is_locked_out(int status)
{
	return status == 401 || status == 403 || status == 407;
}

enum answer_grade
grade_answer(const struct reading *reading)
{
	if (reading->kind != READING_UNAVAILABLE)
		return ANSWER_USABLE;
	if (reading->reason == REASON_HTTP_4XX)
		return is_locked_out(reading->response->status) ? ANSWER_FAILED : ANSWER_USABLE;
	return reasons[reading->reason].grade;
}

bool
grade_is_worth_a_retry(const struct reading *reading)
{
	int status = reading->response->status;

	if (reading->kind != READING_UNAVAILABLE)
		return false;
	if (reading->reason == REASON_HTTP_4XX)
		return status == 408 || status == 425;
	return reasons[reading->reason].retry;
}
