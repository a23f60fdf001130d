/* SPDX-License-Identifier: Apache-2.0
 *
 * Public words and the life cycle: every name leads back to its value, every arrow is allowed and
 * no other.
 */
#include "reconciled/base/attributes.h"
#include "reconciled/core/operation.h"
#include "tap.h"

static void
test_classes(void)
{
	static const char *const names[CLASS_COUNT] = {
		"",	     "missing",	       "correct", "divergent",
		"ambiguous", "not_applicable", "waiting", "inconclusive",
	};
	enum verdict_class back = CLASS_COUNT;

	for (int i = 0; i < CLASS_COUNT; i++) {
		tap_str(class_name((enum verdict_class)i), names[i], "class");
		tap_ok(class_from_name(names[i], &back) && (int)back == i,
		       "class \"%s\" leads back", names[i]);
		tap_ok(class_is_verdict((enum verdict_class)i) == (i >= 1 && i <= 5),
		       "one of the five: \"%s\"", names[i]);
	}
	tap_ok(!class_from_name("Missing", &back), "unknown class");
}

static void
test_actions(void)
{
	static const char *const names[ACTION_COUNT] = { "wait",       "confirm", "requeue",
							 "compensate", "review",  "close" };
	enum action back = ACTION_COUNT;

	for (int i = 0; i < ACTION_COUNT; i++) {
		tap_str(action_name((enum action)i), names[i], "action");
		tap_ok(action_from_name(names[i], &back) && (int)back == i,
		       "action \"%s\" leads back", names[i]);
	}
	tap_ok(!action_from_name("delete", &back), "unknown action");
}

/* unavailable: exit code 3; answered: counts towards give_up. */
static const struct {
	const char *name;
	bool unavailable, answered;
} reasons[REASON_COUNT] = {
	{ "fields_equal", false, false },
	{ "field_differs", false, false },
	{ "older", false, false },
	{ "newer", false, false },
	{ "duplicate_effect", false, false },
	{ "several_at_target", false, false },
	{ "gone_at_target", false, false },
	{ "absent_confirmed", false, false },
	{ "absent_unconfirmed", false, false },
	{ "too_early", false, false },
	{ "never_sent", false, false },
	{ "beyond_horizon", false, false },
	{ "absence_proves_nothing", false, false },
	{ "unfinished_at_target", false, false },
	{ "stuck_at_target", false, false },
	{ "bad_reference", false, false },
	{ "no_reliable_query", false, false },
	{ "unreadable", false, false },
	{ "unknown_state", false, false },
	{ "judged", false, false },
	{ "give_up", false, false },
	{ "superseded", false, false },
	{ "timeout", true, false },
	{ "refused", true, false },
	{ "dns", true, false },
	{ "tls", true, false },
	{ "transport", true, false },
	{ "truncated", true, true },
	{ "redirect", true, true },
	{ "http_4xx", true, true },
	{ "http_5xx", true, false },
	{ "throttled", true, false },
	{ "broken", true, true },
	{ "empty_body", false, true },
	{ "not_json", false, true },
	{ "too_large", false, true },
	{ "too_deep", false, true },
	{ "unrecognised", false, true },
	{ "incomplete", false, true },
	{ "not_covered", false, true },
	{ "control", false, false },
	{ "bad_receipt", false, true },
};

static void
test_reasons(void)
{
	enum reason back = REASON_COUNT;

	for (int i = 0; i < REASON_COUNT; i++) {
		const char *name = reasons[i].name;

		tap_str(reason_name((enum reason)i), name, "reason");
		tap_ok(reason_from_name(name, &back) && (int)back == i, "reason %s leads back",
		       name);
		tap_ok(reason_is_unavailable((enum reason)i) == reasons[i].unavailable,
		       "%s: unavailable or not", name);
		tap_ok(reason_counts_to_give_up((enum reason)i) == reasons[i].answered,
		       "%s: counts to give_up or not", name);
	}
	tap_ok(!reason_from_name("because", &back), "unknown reason");
}

static const char *const statuses[STATUS_COUNT] = {
	"pending",	"processing", "awaiting_confirmation", "retry_scheduled", "manual_review",
	"compensating", "confirmed",  "compensated",	       "not_applicable",
};

/* Every pair of the life cycle: row from, column to, in the order above. Staying is allowed. */
static const char *const allowed[STATUS_COUNT] = {
	/* pending */ "xx..x.x.x",
	/* processing */ ".xxxxxx.x",
	/* awaiting_confirmation */ "..xxxxx.x",
	/* retry_scheduled */ ".x.xxxx.x",
	/* manual_review */ "..xxxxx.x",
	/* compensating */ "....xx.xx",
	/* confirmed */ "..x.x.x..",
	/* compensated */ "..x.x..x.",
	/* not_applicable */ "..x.x...x",
};

static void
test_lifecycle(void)
{
	enum status back = STATUS_COUNT;

	for (int from = 0; from < STATUS_COUNT; from++) {
		tap_str(status_name((enum status)from), statuses[from], "status");
		tap_ok(status_from_name(statuses[from], &back) && (int)back == from,
		       "status %s leads back", statuses[from]);
		tap_ok(status_is_final((enum status)from) == (from >= STATUS_CONFIRMED),
		       "%s: final or not", statuses[from]);
		for (int to = 0; to < STATUS_COUNT; to++)
			tap_ok(lifecycle_allows((enum status)from, (enum status)to) ==
				       (allowed[from][to] == 'x'),
			       "%s to %s: %s", statuses[from], statuses[to],
			       allowed[from][to] == 'x' ? "allowed" : "refused");
	}
	tap_ok(!status_from_name("done", &back), "unknown status");
}

static void
test_arrows(void)
{
	static const char *const who[] = { "application", "worker", "reconciler", "operator" };
	size_t count, seen[4] = { 0 };
	const struct lifecycle_arrow *arrows = lifecycle_arrows(&count);

	for (size_t i = 0; i < count; i++) {
		seen[arrows[i].who]++;
		tap_ok(arrows[i].on != NULL && *arrows[i].on != '\0',
		       "arrow %zu says what takes it", i);
		tap_ok(!status_is_final(arrows[i].from) || arrows[i].to == STATUS_MANUAL_REVIEW ||
			       (arrows[i].to == STATUS_AWAITING_CONFIRMATION &&
				arrows[i].who == WHO_OPERATOR),
		       "arrow %zu: what is final only comes back to people, or by them", i);
	}
	for (int i = 0; i < 4; i++) {
		tap_str(lifecycle_who_name((enum lifecycle_who)i), who[i], "who");
		tap_ok(seen[i] > 0, "%s takes an arrow", who[i]);
	}
	/* 2 + 1 + 1 + 4 + 1 + 2 + 2 + 1 of workers; 5 + 2 + 4 + 3 + 1 + 1 + 6 + 3; 6; 5 + 3 */
	tap_int((long long)seen[WHO_WORKER], 14, "arrows of workers");
	tap_int((long long)seen[WHO_RECONCILER], 25, "arrows of the reconciler");
	tap_int((long long)seen[WHO_APPLICATION], 6, "arrows of applications");
	tap_int((long long)seen[WHO_OPERATOR], 8, "arrows of operators");
}

static void
test_operation(void)
{
	static const char *const names[OP_FIELD_COUNT] = {
		"operation_id",	  "operation_type", "scope",	       "entity_type",  "entity_id",
		"entity_state",	  "version",	    "idempotency_key", "business_key", "remote_id",
		"correlation_id", "superseded_by",  "compensates",     "status",       "expected",
		"created_at",	  "first_sent_at",  "sent_at",
	};
	struct operation op = {
		.operation_id = "op-1",
		.business_key = "",
		.compensates = "op-0",
		.status = STATUS_MANUAL_REVIEW,
		.created_at_us = 5,
		.first_sent_at_us = TIME_NONE,
		.sent_at_us = TIME_NONE,
		.attempt_until_us = TIME_NONE,
		.next_attempt_at_us = TIME_NONE,
		.announced_at_us = TIME_NONE,
	};
	enum operation_field field = OP_FIELD_COUNT;

	for (int i = 0; i < OP_FIELD_COUNT; i++) {
		tap_str(operation_field_name((enum operation_field)i), names[i], "field");
		tap_ok(operation_field_from_name(names[i], strlen(names[i]), &field) &&
			       (int)field == i,
		       "field %s leads back", names[i]);
		tap_ok(operation_field_is_time((enum operation_field)i) == (i >= OP_CREATED_AT),
		       "%s: a time or not", names[i]);
	}
	tap_ok(!operation_field_from_name("version_x", 9, &field), "longer than a field");
	tap_ok(operation_field_from_name("version_x", 7, &field), "len counts");
	tap_str(operation_text(&op, OP_OPERATION_ID), "op-1", "a text");
	tap_str(operation_text(&op, OP_COMPENSATES), "op-0", "the last text");
	tap_str(operation_text(&op, OP_STATUS), "manual_review", "the status is a text");
	tap_str(operation_text(&op, OP_BUSINESS_KEY), NULL, "an empty text is missing");
	tap_str(operation_text(&op, OP_CREATED_AT), NULL, "a time is no text");
	tap_ok(operation_time(&op, OP_CREATED_AT) == 5, "a time");
	tap_ok(operation_time(&op, OP_VERSION) == TIME_NONE, "a text is no time");
	tap_ok(operation_last_send(&op) == TIME_NONE, "never sent");
	op.sent_at_us = 10;
	tap_ok(operation_last_send(&op) == 10, "sent");
	op.attempt_until_us = 20;
	tap_ok(operation_last_send(&op) == 20, "an attempt may still send");
	op.sent_at_us = TIME_NONE;
	tap_ok(operation_last_send(&op) == 20, "started only");
}

int
main(void)
{
	test_classes();
	test_actions();
	test_reasons();
	test_lifecycle();
	test_arrows();
	test_operation();
	return tap_done();
}
