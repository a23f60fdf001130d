/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of a judgement: classes, reasons, actions. Names are public (database, metrics, CLI):
 * add, never rename.
 */
#pragma once

#include <stdbool.h>

enum verdict_class {
	CLASS_NONE,
	CLASS_MISSING,
	CLASS_CORRECT,
	CLASS_DIVERGENT,
	CLASS_AMBIGUOUS,
	CLASS_NOT_APPLICABLE,
	CLASS_WAITING,	    /* no class: it may still change, or more looks are needed */
	CLASS_INCONCLUSIVE, /* no class: the reading is no evidence */
	CLASS_COUNT,
};

enum reason {
	REASON_FIELDS_EQUAL,
	REASON_FIELD_DIFFERS,
	REASON_OLDER,
	REASON_NEWER,
	REASON_DUPLICATE_EFFECT,
	REASON_SEVERAL_AT_TARGET,
	REASON_GONE_AT_TARGET,
	REASON_ABSENT_CONFIRMED,
	REASON_ABSENT_UNCONFIRMED,
	REASON_TOO_EARLY,
	REASON_NEVER_SENT,
	REASON_BEYOND_HORIZON,
	REASON_ABSENCE_PROVES_NOTHING,
	REASON_UNFINISHED_AT_TARGET,
	REASON_STUCK_AT_TARGET,
	REASON_BAD_REFERENCE,
	REASON_NO_RELIABLE_QUERY,
	REASON_UNREADABLE,
	REASON_UNKNOWN_STATE,
	REASON_JUDGED,
	REASON_GIVE_UP,
	REASON_SUPERSEDED,
	/* inconclusive */
	REASON_TIMEOUT,
	REASON_REFUSED,
	REASON_DNS,
	REASON_TLS,
	REASON_TRANSPORT,
	REASON_TRUNCATED,
	REASON_REDIRECT,
	REASON_HTTP_4XX,
	REASON_HTTP_5XX,
	REASON_THROTTLED,
	REASON_BROKEN,
	REASON_EMPTY_BODY,
	REASON_NOT_JSON,
	REASON_TOO_LARGE,
	REASON_TOO_DEEP,
	REASON_UNRECOGNISED,
	REASON_INCOMPLETE,
	REASON_NOT_COVERED,
	REASON_CONTROL,
	REASON_BAD_RECEIPT,
	REASON_COUNT,
};

enum action {
	ACTION_WAIT,
	ACTION_CONFIRM,
	ACTION_REQUEUE,
	ACTION_COMPENSATE,
	ACTION_REVIEW,
	ACTION_CLOSE,
	ACTION_COUNT,
};

const char *class_name(enum verdict_class class); /* "" for CLASS_NONE */
bool class_from_name(const char *name, enum verdict_class *ret_class);
bool class_is_verdict(enum verdict_class class); /* one of the five classes */
const char *reason_name(enum reason reason);
bool reason_from_name(const char *name, enum reason *ret_reason);
const char *action_name(enum action action);
bool action_from_name(const char *name, enum action *ret_action);

/* The reading was `unavailable`: exit code 3 of reconciled --once. */
bool reason_is_unavailable(enum reason reason);

/* The target did answer, so the look counts towards give_up. */
bool reason_counts_to_give_up(enum reason reason);
