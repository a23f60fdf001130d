/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of states and arrows. One row per pair and per who may take it.
 */
#include "reconciled/core/lifecycle.h"

#include <string.h>

#include "reconciled/base/attributes.h"

static const char *const names[STATUS_COUNT] = {
	[STATUS_PENDING] = "pending",
	[STATUS_PROCESSING] = "processing",
	[STATUS_AWAITING_CONFIRMATION] = "awaiting_confirmation",
	[STATUS_RETRY_SCHEDULED] = "retry_scheduled",
	[STATUS_MANUAL_REVIEW] = "manual_review",
	[STATUS_COMPENSATING] = "compensating",
	[STATUS_CONFIRMED] = "confirmed",
	[STATUS_COMPENSATED] = "compensated",
	[STATUS_NOT_APPLICABLE] = "not_applicable",
};

static const char *const who_names[] = {
	[WHO_APPLICATION] = "application",
	[WHO_WORKER] = "worker",
	[WHO_RECONCILER] = "reconciler",
	[WHO_OPERATOR] = "operator",
};

#define ARROW(from, to, who, on, when)                                                             \
	{                                                                                          \
		STATUS_##from, STATUS_##to, WHO_##who, on, when                                    \
	}

/* clang-format off */
static const struct lifecycle_arrow arrows[] = {
	ARROW(PENDING, PROCESSING, WORKER, "start() or claim()", NULL),
	ARROW(RETRY_SCHEDULED, PROCESSING, WORKER, "start() or claim()", "next_attempt_at is reached"),
	ARROW(PROCESSING, AWAITING_CONFIRMATION, WORKER, "sent()", "the request left, its outcome is not known"),
	ARROW(PROCESSING, RETRY_SCHEDULED, WORKER, "retry()", "known to have had no effect"),
	ARROW(PROCESSING, MANUAL_REVIEW, WORKER, "retry()", "attempts.max is reached"),
	ARROW(PROCESSING, CONFIRMED, WORKER, "confirm()", "never seen divergent or several"),
	ARROW(AWAITING_CONFIRMATION, CONFIRMED, WORKER, "confirm()", "never seen divergent or several"),
	ARROW(RETRY_SCHEDULED, CONFIRMED, WORKER, "confirm()", "never seen divergent or several"),
	ARROW(MANUAL_REVIEW, CONFIRMED, WORKER, "confirm()", "never seen divergent or several"),
	ARROW(COMPENSATING, COMPENSATING, WORKER, "confirm()", "only the remote id is stored"),
	ARROW(COMPENSATED, MANUAL_REVIEW, WORKER, "confirm()", "a late effect"),
	ARROW(NOT_APPLICABLE, MANUAL_REVIEW, WORKER, "confirm()", "a late effect"),
	ARROW(PROCESSING, NOT_APPLICABLE, WORKER, "reject()", "refused for good, there is no effect"),
	ARROW(AWAITING_CONFIRMATION, NOT_APPLICABLE, WORKER, "reject()", "refused for good, there is no effect"),

	ARROW(PENDING, CONFIRMED, RECONCILER, "correct", NULL),
	ARROW(PROCESSING, CONFIRMED, RECONCILER, "correct", NULL),
	ARROW(AWAITING_CONFIRMATION, CONFIRMED, RECONCILER, "correct", NULL),
	ARROW(RETRY_SCHEDULED, CONFIRMED, RECONCILER, "correct", NULL),
	ARROW(MANUAL_REVIEW, CONFIRMED, RECONCILER, "correct", "it was only missing or uncertain"),
	ARROW(PROCESSING, RETRY_SCHEDULED, RECONCILER, "missing", "every clause of a safe requeue holds"),
	ARROW(AWAITING_CONFIRMATION, RETRY_SCHEDULED, RECONCILER, "missing", "every clause of a safe requeue holds"),
	ARROW(PROCESSING, COMPENSATING, RECONCILER, "divergent", "the policy compensates"),
	ARROW(AWAITING_CONFIRMATION, COMPENSATING, RECONCILER, "divergent", "the policy compensates"),
	ARROW(RETRY_SCHEDULED, COMPENSATING, RECONCILER, "divergent", "the policy compensates"),
	ARROW(COMPENSATING, COMPENSATED, RECONCILER, "compensation", "the reversal is confirmed"),
	ARROW(COMPENSATING, MANUAL_REVIEW, RECONCILER, "compensation", "the reversal ended otherwise"),
	ARROW(PENDING, MANUAL_REVIEW, RECONCILER, "review", NULL),
	ARROW(PROCESSING, MANUAL_REVIEW, RECONCILER, "review", NULL),
	ARROW(AWAITING_CONFIRMATION, MANUAL_REVIEW, RECONCILER, "review", NULL),
	ARROW(RETRY_SCHEDULED, MANUAL_REVIEW, RECONCILER, "review", NULL),
	ARROW(PENDING, NOT_APPLICABLE, RECONCILER, "not_applicable", "a documented rule"),
	ARROW(PROCESSING, NOT_APPLICABLE, RECONCILER, "not_applicable", "a documented rule"),
	ARROW(AWAITING_CONFIRMATION, NOT_APPLICABLE, RECONCILER, "not_applicable", "a documented rule"),
	ARROW(RETRY_SCHEDULED, NOT_APPLICABLE, RECONCILER, "not_applicable", "a documented rule"),
	ARROW(MANUAL_REVIEW, NOT_APPLICABLE, RECONCILER, "not_applicable", "a documented rule"),
	ARROW(COMPENSATING, NOT_APPLICABLE, RECONCILER, "not_applicable", "a documented rule"),
	ARROW(CONFIRMED, MANUAL_REVIEW, RECONCILER, "late effect", "a later check refutes it"),
	ARROW(COMPENSATED, MANUAL_REVIEW, RECONCILER, "late effect", "a late or second effect"),
	ARROW(NOT_APPLICABLE, MANUAL_REVIEW, RECONCILER, "late effect", "a late or second effect"),

	ARROW(PENDING, NOT_APPLICABLE, APPLICATION, "cancel()", "nothing was sent"),
	ARROW(PROCESSING, NOT_APPLICABLE, APPLICATION, "cancel()", "nothing was sent"),
	ARROW(AWAITING_CONFIRMATION, NOT_APPLICABLE, APPLICATION, "cancel()", "nothing was sent"),
	ARROW(RETRY_SCHEDULED, NOT_APPLICABLE, APPLICATION, "cancel()", "nothing was sent"),
	ARROW(MANUAL_REVIEW, NOT_APPLICABLE, APPLICATION, "cancel()", "nothing was sent"),
	ARROW(COMPENSATING, NOT_APPLICABLE, APPLICATION, "cancel()", "nothing was sent"),

	ARROW(MANUAL_REVIEW, CONFIRMED, OPERATOR, "decide()", "revision and evidence as shown"),
	ARROW(MANUAL_REVIEW, RETRY_SCHEDULED, OPERATOR, "decide()", "revision and evidence as shown"),
	ARROW(MANUAL_REVIEW, COMPENSATING, OPERATOR, "decide()", "revision and evidence as shown"),
	ARROW(MANUAL_REVIEW, NOT_APPLICABLE, OPERATOR, "decide()", "revision and evidence as shown"),
	ARROW(MANUAL_REVIEW, AWAITING_CONFIRMATION, OPERATOR, "decide()", "revision and evidence as shown"),
	ARROW(CONFIRMED, AWAITING_CONFIRMATION, OPERATOR, "decide()", "recheck"),
	ARROW(COMPENSATED, AWAITING_CONFIRMATION, OPERATOR, "decide()", "recheck"),
	ARROW(NOT_APPLICABLE, AWAITING_CONFIRMATION, OPERATOR, "decide()", "recheck"),
};
/* clang-format on */

const char *
status_name(enum status status)
{
	return names[status];
}

bool
status_from_name(const char *name, enum status *ret_status)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], name) == 0) {
			*ret_status = (enum status)i;
			return true;
		}
	return false;
}

bool
status_is_final(enum status status)
{
	return status == STATUS_CONFIRMED || status == STATUS_COMPENSATED ||
	       status == STATUS_NOT_APPLICABLE;
}

const char *
lifecycle_who_name(enum lifecycle_who who)
{
	return who_names[who];
}

const struct lifecycle_arrow *
lifecycle_arrows(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(arrows);
	return arrows;
}

bool
lifecycle_allows(enum status from, enum status to)
{
	if (from == to)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(arrows); i++)
		if (arrows[i].from == from && arrows[i].to == to)
			return true;
	return false;
}
