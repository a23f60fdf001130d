/* SPDX-License-Identifier: Apache-2.0
 *
 * What condition.c reads, as shapes, and the words of a test. Null, a scalar and a list of them are
 * tests too. The status is a number of its own kind, so its tests are written a second time.
 */
#include "condition_shape.h"

#include "condition.h"
#include "reconciled/base/attributes.h"
#include "reconciled/core/condition.h"

#define OP_OPERAND "op\\.(<field>$|/expected/)"
#define HEADER_NAME "[A-Za-z0-9!#$%&'*+.^_`|~-]+"
#define LOCATOR "/|header\\." HEADER_NAME "$|body\\./|" OP_OPERAND

const struct shape shape_locator = {
	.name = "locator",
	.kind = SHAPE_STRING,
	.pattern = "^(status$|" LOCATOR ")",
	.help = "Where a value is: /pointer, status, header.NAME, body./pointer, op.FIELD, "
		"op./expected/name.",
};

const struct shape shape_answer_locator = {
	.name = "answer_locator",
	.kind = SHAPE_STRING,
	.pattern = "^(/|header\\." HEADER_NAME "$|body\\./)",
	.help = "A place in the answer: /pointer, header.NAME, body./pointer.",
};

const struct shape shape_pointer = {
	.name = "pointer",
	.kind = SHAPE_STRING,
	.pattern = "^(/|$)",
	.help = "A place in the body: /data, /data/0/id, /lines/*, /list/[name=value]; \"\" is "
		"all of it.",
};

const struct shape shape_operand = {
	.name = "value",
	.kind = SHAPE_SCALAR,
	.pattern = "^((?!op\\.)|" OP_OPERAND ")",
	.min = 1,
	.help = "A text, or a field of the operation: op.version, op./expected/amount.",
};

/* A word in braces must be known; {expected./…} may hold more braces, which are not looked at. */
const struct shape shape_template = {
	.name = "template",
	.kind = SHAPE_SCALAR,
	.pattern = "\\{expected\\.|"
		   "^(?![\\s\\S]*\\{(?!(<field>|batch)[}|.+-])[A-Za-z_][A-Za-z0-9_]*[}|.+-])",
	.help = "A text with placeholders: {operation_id}, {expected./name}, "
		"{sent_at-1h|rfc3339}.",
};

static const struct word fold_list[] = {
	{ "case", .value = FOLD_CASE },
	{ "nfc", .value = FOLD_NFC },
	{ "space", .value = FOLD_SPACE },
};
const struct words fold_words = { fold_list, ARRAY_LEN(fold_list) };

static const struct word present_list[] = { { "true", .value = TEST_PRESENT },
					    { "false", .value = TEST_ABSENT } };
const struct words present_words = { present_list, ARRAY_LEN(present_list) };

static const struct shape fold_word = { .kind = SHAPE_WORDS, .words = &fold_words };
static const struct shape fold_several = { .kind = SHAPE_LIST, .of = &fold_word };
static const struct shape *const fold_either[] = { &fold_word, &fold_several, NULL };
const struct shape shape_fold = { .name = "fold", .kind = SHAPE_EITHER, .either = fold_either };

static const struct shape present = { .kind = SHAPE_WORDS, .words = &present_words };
static const struct shape bound = {
	.kind = SHAPE_NUMBER,
	.pattern = "^([+-]?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?$|" OP_OPERAND ")",
	.help = "A number, or a field of the operation.",
};

#define TEST_WORDS(is_, not_)                                                                      \
	[WORD_IS] = { "is", 0, OWN(NULL), .shape = &(is_), .help = "Equal, as texts." },           \
	[WORD_NOT] = { "not", 0, OWN(NULL), .shape = &(not_),                                      \
		       .help = "No value passes this test." },                                     \
	[WORD_PREFIX] = { "prefix", 0, OWN(NULL), .shape = &shape_operand,                         \
			  .help = "Begins like this." },                                           \
	[WORD_PRESENT] = { "present", 0, OWN(NULL), .shape = &present,                             \
			   .help = "There and not null." },                                        \
	[WORD_GT] = { "gt", 0, OWN(NULL), .shape = &bound, .help = "Greater." },                   \
	[WORD_GE] = { "ge", 0, OWN(NULL), .shape = &bound, .help = "Greater or equal." },          \
	[WORD_LT] = { "lt", 0, OWN(NULL), .shape = &bound, .help = "Less." },                      \
	[WORD_LE] = { "le", 0, OWN(NULL), .shape = &bound, .help = "Less or equal." },             \
	[WORD_FOLD] = { "fold", 0, OWN(NULL), .shape = &shape_fold,                                \
			.help = "Differences in spelling that do not count." }

static const struct shape null = { .kind = SHAPE_NULL };

static const struct shape literal = {
	.kind = SHAPE_SCALAR,
	.pattern = "^((?!op\\.)|" OP_OPERAND ")",
	.help = "A text, or a field of the operation.",
};
static const struct shape *const is_either[] = { &null, &literal, NULL };
static const struct shape is = { .name = "literal", .kind = SHAPE_EITHER, .either = is_either };
static const struct shape is_list = { .kind = SHAPE_LIST, .of = &is, .min = 1 };
static const struct shape test;
static const struct field test_fields[WORDS_OF_TESTS] = { TEST_WORDS(is, test) };
const struct table test_table = { test_fields, ARRAY_LEN(test_fields) };
static const struct shape test_map = { .kind = SHAPE_TABLE, .table = &test_table, .min = 1 };
static const struct shape *const test_either[] = { &is, &is_list, &test_map, NULL };
static const struct shape test = {
	.name = "test",
	.kind = SHAPE_EITHER,
	.either = test_either,
	.help = "A value, a list of values of which one must be there, null, or words of a test.",
};

static const struct shape code = {
	.kind = SHAPE_NUMBER,
	.pattern = "^([1-5][0-9][0-9]$|" OP_OPERAND ")",
	.min = 100,
	.max = 599,
	.help = "A status from 100 to 599.",
};
static const struct shape *const code_either[] = { &null, &code, NULL };
static const struct shape code_is = { .name = "status",
				      .kind = SHAPE_EITHER,
				      .either = code_either };
static const struct shape code_list = { .kind = SHAPE_LIST, .of = &code_is, .min = 1 };
static const struct shape status;
static const struct field status_fields[WORDS_OF_TESTS] = { TEST_WORDS(code_is, status) };
TABLE(status_table, status_fields);
static const struct shape status_map = { .kind = SHAPE_TABLE, .table = &status_table, .min = 1 };
static const struct shape *const status_either[] = { &code_is, &code_list, &status_map, NULL };
static const struct shape status = { .name = "status_test",
				     .kind = SHAPE_EITHER,
				     .either = status_either };

static const struct field condition_fields[] = {
	{ "status", 0, OWN(NULL), .shape = &status, .help = "The status of the answer." },
};
TABLE(condition_table, condition_fields);

#define CONDITION(name_, min_)                                                                     \
	{                                                                                          \
		.name = (name_), .kind = SHAPE_MAP, .table = &condition_table,                     \
		.pattern = "^(" LOCATOR ")", .of = &test, .min = (min_),                           \
		.help = "All of these hold: LOCATOR: TEST.",                                       \
	}
const struct shape shape_condition = CONDITION("condition", 0);
const struct shape shape_some_condition = CONDITION("some_condition", 1);

const struct shape shape_op_condition = {
	.name = "operation_condition",
	.kind = SHAPE_MAP,
	.pattern = "^" OP_OPERAND,
	.of = &test,
	.min = 1,
	.help = "All of these hold: op.FIELD: TEST.",
};

static const struct shape condition_list = {
	.kind = SHAPE_LIST,
	.of = &shape_some_condition,
	.min = 1,
};
static const struct shape *const conditions_either[] = { &shape_some_condition, &condition_list,
							 NULL };
const struct shape shape_conditions = {
	.name = "conditions",
	.kind = SHAPE_EITHER,
	.either = conditions_either,
	.help = "A condition, or a list of which one must hold.",
};
