/* SPDX-License-Identifier: Apache-2.0
 *
 * One case of a policy test: an operation, what was answered, and what that must lead to.
 */
#include "test_file.h"

#include "loading.h"
#include "reconciled/base/attributes.h"
#include "tree.h"

static const struct word class_list[] = {
	{ "missing", .value = CLASS_MISSING },
	{ "correct", .value = CLASS_CORRECT },
	{ "divergent", .value = CLASS_DIVERGENT },
	{ "ambiguous", .value = CLASS_AMBIGUOUS },
	{ "not_applicable", .value = CLASS_NOT_APPLICABLE },
	{ "waiting", .value = CLASS_WAITING },
	{ "inconclusive", .value = CLASS_INCONCLUSIVE },
};
WORDS(class_words, class_list);

static const struct word action_list[] = {
	{ "wait", .value = ACTION_WAIT },	{ "confirm", .value = ACTION_CONFIRM },
	{ "requeue", .value = ACTION_REQUEUE }, { "compensate", .value = ACTION_COMPENSATE },
	{ "review", .value = ACTION_REVIEW },	{ "close", .value = ACTION_CLOSE },
};
WORDS(action_words, action_list);

static const struct field expect_fields[] = {
	{ "class", offsetof(struct test_expected, class), WORD(class_words, CLASS_NONE),
	  .required = true, .help = "the verdict of the last look" },
	{ "reason", offsetof(struct test_expected, reason), TEXT(NULL), .help = "Its reason." },
	{ "rule", offsetof(struct test_expected, rule), TEXT(NULL),
	  .help = "The rule that fired, like compare or judge[0]." },
	{ "action", offsetof(struct test_expected, action), WORD(action_words, ACTION_COUNT),
	  .help = "What an enforced policy would do." },
};
TABLE(expect_table, expect_fields);

static const struct word control_list[] = {
	{ "found", .value = CONTROL_FOUND },
	{ "absent", .value = CONTROL_LOST },
};
WORDS(control_words, control_list);

static const struct shape readings_shape = {
	.kind = SHAPE_LIST,
	.of = &shape_test_reading,
};
static const struct shape operation_shape = { .kind = SHAPE_TABLE, .table = &test_operation_table };
static const struct shape moment_shape = { .kind = SHAPE_SCALAR };

#define CASE(field) offsetof(struct test_case, field)

static const struct field case_fields[] = {
	{ "name", CASE(name), TEXT(NULL), .required = true, .help = "what the case shows" },
	{ "operation", CASE(op), OWN(test_operation_decode), .required = true,
	  .table = &test_operation_table, .shape = &operation_shape,
	  .help = "the operation that is asked about" },
	{ "readings", 0, OWN(test_readings_decode), .table = &test_reading_table,
	  .shape = &readings_shape, .help = "What the target answered, in order of time." },
	{ "control", CASE(control), WORD(control_words, CONTROL_FOUND),
	  .help = "Whether the control object was found." },
	{ "now", CASE(now_us), DURATION(0, FIELD_DURATION_MAX, FIELD_UNSET),
	  .help = "When it is judged, since the last send; default: the last reading." },
	{ "sent", CASE(sent_us), OWN(moment_decode), .shape = &moment_shape,
	  .help = "Moment of the last send (2026-03-01T12:00:00Z)." },
	{ "expect", CASE(expected), NESTED(expect_table), .required = true,
	  .help = "what it must lead to" },
};
const struct table test_case_table = { case_fields, ARRAY_LEN(case_fields) };

/* 2026-03-01T12:00:00Z */
static const int64_t SENT_US = INT64_C(1772366400000000);

/* `at` counts from the last send, so a case says that moment once, or twice the same. */
static void
settle_sent(struct loading *loading, const struct node *node, struct test_case *test)
{
	int64_t told_us = test->op.sent_at_us;
	bool told = told_us != TIME_UNSET && told_us != TIME_NONE;

	if (test->sent_us == TIME_UNSET)
		test->sent_us = told ? told_us : SENT_US;
	else if (test->sent_us == TIME_NONE)
		complain_found(loading, node_member(node, "sent"), "a time");
	else if (told && told_us != test->sent_us)
		complain_at_key(loading, node_member(node, "sent"),
				"is another moment than sent_at of the operation");
}

void
test_case_decode(struct loading *loading, const struct node *node, struct test_case *test)
{
	test->sent_us = TIME_UNSET;
	test_operation_init(loading, &test->op);
	fields_decode(loading, node, &test_case_table, test);
	if (node->kind != NODE_MAP || !node_member(node, "operation"))
		return;
	settle_sent(loading, node, test);
	if (test->now_us == FIELD_UNSET)
		test->now_us = TIME_NONE;
}
