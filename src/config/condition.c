/* SPDX-License-Identifier: Apache-2.0
 *
 * COND = {LOCATOR: TEST}, TEST = scalar | [one of] | null | {is, not, prefix, …}. One row for each
 * word of a test.
 */
#include "condition.h"

#include <string.h>

#include "condition_shape.h"
#include "loading.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/err.h"
#include "reconciled/core/number.h"
#include "tree.h"

static bool test_decode(struct loading *loading, const struct node *node, struct test *ret_test);

bool
locator_decode(struct loading *loading, const struct node *node, struct locator *ret_locator)
{
	const char *text = text_decode(loading, node, "a place like /id, status, header.etag");
	struct err err = { 0 };

	if (!text)
		return false;
	if (!locator_parse(loading->arena, text, ret_locator, &err))
		return complain(loading, node, "%s", err.text), false;
	return true;
}

bool
pointer_decode(struct loading *loading, const struct node *node, struct pointer *ret_pointer)
{
	struct err err = { 0 };

	if (node->kind != NODE_TEXT)
		return complain_found(loading, node,
				      "a pointer like /data, or \"\" for the whole body"),
		       false;
	if (!pointer_parse(loading->arena, node->text, ret_pointer, &err))
		return complain(loading, node, "%s", err.text), false;
	return true;
}

bool
operation_field_is_text(enum operation_field field)
{
	return field != OP_EXPECTED && !operation_field_is_time(field);
}

bool
template_decode_joining(struct loading *loading, const struct node *node,
			struct template *ret_template)
{
	struct err err = { 0 };

	if (node->kind != NODE_TEXT)
		return complain_found(loading, node,
				      "a text, with placeholders like {operation_id}"),
		       false;
	if (!template_parse(loading->arena, node->text, ret_template, &err))
		return complain(loading, node, "%s", err.text), false;
	return true;
}

bool
template_decode(struct loading *loading, const struct node *node, struct template *ret_template)
{
	if (!template_decode_joining(loading, node, ret_template))
		return false;
	for (size_t i = 0; i < ret_template->count; i++)
		if (ret_template->parts[i].batch_join)
			return complain(loading, node, "{batch|join …} belongs to query"), false;
	return true;
}

static bool
is_operation_root(enum locator_root root)
{
	return root == LOCATE_OP_FIELD || root == LOCATE_OP_POINTER;
}

bool
operand_decode(struct loading *loading, const struct node *node, struct operand *ret_operand)
{
	const char *text =
		text_decode(loading, node, "a text, or a field of the operation: op.version");
	struct locator *from;

	if (!text)
		return false;
	if (strncmp(text, "op.", 3) != 0) {
		*ret_operand = (struct operand){ .text = text };
		return true;
	}
	from = arena_new(loading->arena, struct locator);
	if (!locator_decode(loading, node, from))
		return false;
	*ret_operand = (struct operand){ .from = from };
	return true;
}

bool
fold_decode(struct loading *loading, const struct node *node, unsigned *ret_fold)
{
	unsigned fold = 0;
	int bit;

	if (node->kind != NODE_LIST) {
		if (!word_decode(loading, node, &fold_words, &bit))
			return false;
		*ret_fold = (unsigned)bit;
		return true;
	}
	for (const struct node *child = node->first; child; child = child->next) {
		if (!word_decode(loading, child, &fold_words, &bit))
			return false;
		fold |= (unsigned)bit;
	}
	*ret_fold = fold;
	return true;
}

/* In {is: null} and lists null may stand for a value. */
static bool
decode_is(struct loading *loading, const struct node *node, struct test *ret_test)
{
	if (node->kind == NODE_NULL) {
		ret_test->kind = TEST_NULL;
		return true;
	}
	/* An empty text is a value like any other here: {/next: ""}. */
	if (node->kind == NODE_TEXT && node->text[0] == '\0') {
		ret_test->operand = (struct operand){ .text = "" };
		return true;
	}
	return operand_decode(loading, node, &ret_test->operand);
}

static bool
decode_prefix(struct loading *loading, const struct node *node, struct test *ret_test)
{
	return operand_decode(loading, node, &ret_test->operand);
}

static bool
decode_number(struct loading *loading, const struct node *node, struct test *ret_test)
{
	if (!operand_decode(loading, node, &ret_test->operand))
		return false;
	if (ret_test->operand.text && !number_is_valid(node->text, strlen(node->text)))
		return complain_found(loading, node, "a number, or a field of the operation"),
		       false;
	return true;
}

static bool
decode_not(struct loading *loading, const struct node *node, struct test *ret_test)
{
	struct test *child = arena_new(loading->arena, struct test);

	ret_test->children = child;
	ret_test->count = 1;
	return test_decode(loading, node, child);
}

static bool
decode_present(struct loading *loading, const struct node *node, struct test *ret_test)
{
	int kind;

	if (!word_decode(loading, node, &present_words, &kind))
		return false;
	ret_test->kind = (enum test_kind)kind;
	return true;
}

static bool
decode_fold(struct loading *loading, const struct node *node, struct test *ret_test)
{
	return fold_decode(loading, node, &ret_test->fold);
}

static const struct test_decoder {
	enum test_kind kind;
	bool (*decode)(struct loading *loading, const struct node *node, struct test *ret_test);
} test_decoders[WORDS_OF_TESTS] = {
	[WORD_IS] = { TEST_IS, decode_is },
	[WORD_NOT] = { TEST_NOT, decode_not },
	[WORD_PREFIX] = { TEST_PREFIX, decode_prefix },
	[WORD_PRESENT] = { TEST_PRESENT, decode_present },
	[WORD_GT] = { TEST_GT, decode_number },
	[WORD_GE] = { TEST_GE, decode_number },
	[WORD_LT] = { TEST_LT, decode_number },
	[WORD_LE] = { TEST_LE, decode_number },
	[WORD_FOLD] = { TEST_ALL, decode_fold },
};

static const struct test_decoder *
test_decoder_find(const char *name)
{
	for (size_t i = 0; i < test_table.count; i++)
		if (strcmp(test_table.fields[i].name, name) == 0)
			return &test_decoders[i];
	return NULL;
}

/* fold belongs to is and prefix of the same mapping. */
static bool
apply_fold(struct loading *loading, const struct node *fold_node, struct test *tests, size_t count)
{
	struct test fold = { 0 };
	bool used = false;

	if (!fold_node)
		return true;
	if (!decode_fold(loading, fold_node, &fold))
		return false;
	for (size_t i = 0; i < count; i++)
		if (tests[i].kind == TEST_IS || tests[i].kind == TEST_PREFIX) {
			tests[i].fold = fold.fold;
			used = true;
		}
	if (!used)
		complain_at_key(loading, fold_node, "needs is or prefix beside it");
	return used;
}

static bool
decode_words(struct loading *loading, const struct node *node, struct test *tests,
	     size_t *ret_count)
{
	size_t count = 0;
	bool good = true;

	for (const struct node *child = node->first; child; child = child->next) {
		const struct test_decoder *word = test_decoder_find(child->key);

		if (!word) {
			fields_unknown(loading, child, &test_table);
			good = false;
		} else if (word->decode != decode_fold) {
			tests[count].kind = word->kind;
			good = word->decode(loading, child, &tests[count++]) && good;
		}
	}
	*ret_count = count;
	return good && apply_fold(loading, node_member(node, "fold"), tests, count);
}

static bool
decode_test_map(struct loading *loading, const struct node *node, struct test *ret_test)
{
	struct test *tests = arena_array(loading->arena, struct test, node->count + 1);
	size_t count = 0;

	if (node->count == 0)
		return complain_found(loading, node,
				      "a test with is, not, prefix, present, gt, ge, lt, le"),
		       false;
	if (!decode_words(loading, node, tests, &count))
		return false;
	if (count == 1)
		*ret_test = tests[0];
	else
		*ret_test = (struct test){ .kind = TEST_ALL, .children = tests, .count = count };
	return true;
}

static bool
decode_one_of(struct loading *loading, const struct node *node, struct test *ret_test)
{
	struct test *tests = arena_array(loading->arena, struct test, node->count + 1);
	size_t count = 0;
	bool good = true;

	if (node->count == 0)
		return complain(loading, node, "an empty list never holds"), false;
	for (const struct node *child = node->first; child; child = child->next) {
		tests[count].kind = TEST_IS;
		good = decode_is(loading, child, &tests[count++]) && good;
	}
	*ret_test = (struct test){ .kind = TEST_ANY, .children = tests, .count = count };
	return good;
}

static bool
test_decode(struct loading *loading, const struct node *node, struct test *ret_test)
{
	switch (node->kind) {
	case NODE_NULL:
		ret_test->kind = TEST_NULL;
		return true;
	case NODE_TEXT:
		ret_test->kind = TEST_IS;
		return decode_is(loading, node, ret_test);
	case NODE_LIST:
		return decode_one_of(loading, node, ret_test);
	case NODE_MAP:
		break;
	}
	return decode_test_map(loading, node, ret_test);
}

static bool
is_status(const char *text)
{
	return strlen(text) == 3 && strspn(text, "0123456789") == 3 && text[0] >= '1' &&
	       text[0] <= '5';
}

/* A literal that no answer can have would never hold. */
static bool
check_status(struct loading *loading, const struct node *node, const struct test *test)
{
	if (test->kind == TEST_IS && test->operand.text && !is_status(test->operand.text)) {
		complain(loading, node,
			 "\"%.20s\" is no status of HTTP, allowed: 100 to 599, tests like "
			 "{ge: 400}; a member of the body is written /status",
			 test->operand.text);
		return false;
	}
	for (size_t i = 0; i < test->count; i++)
		if (!check_status(loading, node, &test->children[i]))
			return false;
	return true;
}

static bool
row_decode(struct loading *loading, const struct node *node, struct condition_row *ret_row)
{
	struct err err = { 0 };
	bool located = locator_parse(loading->arena, node->key, &ret_row->locator, &err);

	if (!located)
		complain_at_key(loading, node, "%s", err.text);
	if (!test_decode(loading, node, &ret_row->test) || !located)
		return false;
	return ret_row->locator.root != LOCATE_STATUS ||
	       check_status(loading, node, &ret_row->test);
}

bool
condition_decode(struct loading *loading, const struct node *node, struct condition *ret_condition)
{
	struct condition_row *rows;
	size_t count = 0;
	bool good = true;

	if (node->kind != NODE_MAP)
		return complain_found(loading, node,
				      "a condition like {status: 200, /id: {present: true}}"),
		       false;
	rows = arena_array(loading->arena, struct condition_row, node->count + 1);
	for (const struct node *child = node->first; child; child = child->next)
		good = row_decode(loading, child, &rows[count++]) && good;
	if (good)
		*ret_condition = (struct condition){ .rows = rows, .count = count };
	return good;
}

bool
conditions_decode(struct loading *loading, const struct node *node,
		  struct conditions *ret_conditions)
{
	struct condition *any = arena_array(loading->arena, struct condition, node->count + 1);
	size_t count = 0;
	bool good = true;

	if (node->kind != NODE_LIST) {
		good = condition_decode(loading, node, any);
		count = 1;
	} else {
		for (const struct node *child = node->first; child; child = child->next)
			good = condition_decode(loading, child, &any[count++]) && good;
	}
	if (good && count == 0)
		return complain(loading, node, "an empty list never holds"), false;
	for (size_t i = 0; good && i < count; i++)
		if (any[i].count == 0)
			return complain(loading, node,
					"an empty condition would recognise everything"),
			       false;
	if (good)
		*ret_conditions = (struct conditions){ .any = any, .count = count };
	return good;
}

bool
condition_is_about_operation(struct loading *loading, const struct node *node,
			     const struct condition *condition)
{
	size_t i = 0;

	for (const struct node *child = node->first; child; child = child->next, i++)
		if (!is_operation_root(condition->rows[i].locator.root))
			return complain_at_key(
				       loading, child,
				       "only fields of the operation (op.…) can be tested here"),
			       false;
	return true;
}

bool
conditions_read_body(const struct conditions *conditions)
{
	for (size_t i = 0; i < conditions->count; i++)
		for (size_t j = 0; j < conditions->any[i].count; j++) {
			enum locator_root root = conditions->any[i].rows[j].locator.root;

			if (root == LOCATE_ITEM || root == LOCATE_BODY)
				return true;
		}
	return false;
}

bool
condition_tests_operation(const struct condition *condition)
{
	for (size_t i = 0; i < condition->count; i++)
		if (is_operation_root(condition->rows[i].locator.root))
			return true;
	return false;
}
