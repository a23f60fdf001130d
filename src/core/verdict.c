/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of classes, reasons and actions, and what each reason means for exit codes and give_up.
 */
#include "reconciled/core/verdict.h"

#include <stddef.h>
#include <string.h>

#include "reconciled/base/attributes.h"

static const char *const classes[CLASS_COUNT] = {
	[CLASS_NONE] = "",
	[CLASS_MISSING] = "missing",
	[CLASS_CORRECT] = "correct",
	[CLASS_DIVERGENT] = "divergent",
	[CLASS_AMBIGUOUS] = "ambiguous",
	[CLASS_NOT_APPLICABLE] = "not_applicable",
	[CLASS_WAITING] = "waiting",
	[CLASS_INCONCLUSIVE] = "inconclusive",
};

static const char *const actions[ACTION_COUNT] = {
	[ACTION_WAIT] = "wait",	      [ACTION_CONFIRM] = "confirm",
	[ACTION_REQUEUE] = "requeue", [ACTION_COMPENSATE] = "compensate",
	[ACTION_REVIEW] = "review",   [ACTION_CLOSE] = "close",
};

enum {
	UNAVAILABLE = 1, /* no usable answer came */
	ANSWERED = 2,	 /* inconclusive, but the target did answer */
};

static const struct {
	const char *name;
	unsigned marks;
} reasons[REASON_COUNT] = {
	[REASON_FIELDS_EQUAL] = { "fields_equal", 0 },
	[REASON_FIELD_DIFFERS] = { "field_differs", 0 },
	[REASON_OLDER] = { "older", 0 },
	[REASON_NEWER] = { "newer", 0 },
	[REASON_DUPLICATE_EFFECT] = { "duplicate_effect", 0 },
	[REASON_SEVERAL_AT_TARGET] = { "several_at_target", 0 },
	[REASON_GONE_AT_TARGET] = { "gone_at_target", 0 },
	[REASON_ABSENT_CONFIRMED] = { "absent_confirmed", 0 },
	[REASON_ABSENT_UNCONFIRMED] = { "absent_unconfirmed", 0 },
	[REASON_TOO_EARLY] = { "too_early", 0 },
	[REASON_NEVER_SENT] = { "never_sent", 0 },
	[REASON_BEYOND_HORIZON] = { "beyond_horizon", 0 },
	[REASON_ABSENCE_PROVES_NOTHING] = { "absence_proves_nothing", 0 },
	[REASON_UNFINISHED_AT_TARGET] = { "unfinished_at_target", 0 },
	[REASON_STUCK_AT_TARGET] = { "stuck_at_target", 0 },
	[REASON_BAD_REFERENCE] = { "bad_reference", 0 },
	[REASON_NO_RELIABLE_QUERY] = { "no_reliable_query", 0 },
	[REASON_UNREADABLE] = { "unreadable", 0 },
	[REASON_UNKNOWN_STATE] = { "unknown_state", 0 },
	[REASON_JUDGED] = { "judged", 0 },
	[REASON_GIVE_UP] = { "give_up", 0 },
	[REASON_SUPERSEDED] = { "superseded", 0 },
	[REASON_TIMEOUT] = { "timeout", UNAVAILABLE },
	[REASON_REFUSED] = { "refused", UNAVAILABLE },
	[REASON_DNS] = { "dns", UNAVAILABLE },
	[REASON_TLS] = { "tls", UNAVAILABLE },
	[REASON_TRANSPORT] = { "transport", UNAVAILABLE },
	[REASON_TRUNCATED] = { "truncated", UNAVAILABLE | ANSWERED },
	[REASON_REDIRECT] = { "redirect", UNAVAILABLE | ANSWERED },
	[REASON_HTTP_4XX] = { "http_4xx", UNAVAILABLE | ANSWERED },
	[REASON_HTTP_5XX] = { "http_5xx", UNAVAILABLE },
	[REASON_THROTTLED] = { "throttled", UNAVAILABLE },
	[REASON_BROKEN] = { "broken", UNAVAILABLE | ANSWERED },
	[REASON_EMPTY_BODY] = { "empty_body", ANSWERED },
	[REASON_NOT_JSON] = { "not_json", ANSWERED },
	[REASON_TOO_LARGE] = { "too_large", ANSWERED },
	[REASON_TOO_DEEP] = { "too_deep", ANSWERED },
	[REASON_UNRECOGNISED] = { "unrecognised", ANSWERED },
	[REASON_INCOMPLETE] = { "incomplete", ANSWERED },
	[REASON_NOT_COVERED] = { "not_covered", ANSWERED },
	[REASON_CONTROL] = { "control", 0 },
	[REASON_BAD_RECEIPT] = { "bad_receipt", ANSWERED },
};

/* Index of a name in a table, or -1. */
static int
find(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return -1;
}

const char *class_name(enum verdict_class class)
{
	return classes[class];
}

bool
class_from_name(const char *name, enum verdict_class *ret_class)
{
	int at = find(classes, ARRAY_LEN(classes), name);

	if (at < 0)
		return false;
	*ret_class = (enum verdict_class)at;
	return true;
}

bool class_is_verdict(enum verdict_class class)
{
	return class >= CLASS_MISSING && class <= CLASS_NOT_APPLICABLE;
}

const char *
reason_name(enum reason reason)
{
	return reasons[reason].name;
}

bool
reason_from_name(const char *name, enum reason *ret_reason)
{
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (strcmp(reasons[i].name, name) == 0) {
			*ret_reason = (enum reason)i;
			return true;
		}
	return false;
}

const char *
action_name(enum action action)
{
	return actions[action];
}

bool
action_from_name(const char *name, enum action *ret_action)
{
	int at = find(actions, ARRAY_LEN(actions), name);

	if (at < 0)
		return false;
	*ret_action = (enum action)at;
	return true;
}

bool
reason_is_unavailable(enum reason reason)
{
	return reasons[reason].marks & UNAVAILABLE;
}

bool
reason_counts_to_give_up(enum reason reason)
{
	return reasons[reason].marks & ANSWERED;
}
