/* SPDX-License-Identifier: Apache-2.0
 *
 * Evaluates conditions. A test looks at all values that its locator found and holds if one passes.
 */
#include "reconciled/core/condition.h"

#include <string.h>

#include "fold.h"
#include "reconciled/base/arena.h"
#include "reconciled/core/number.h"
#include "reconciled/core/value.h"

static const char *
located_text(const struct located *found)
{
	const struct value *value = found->count == 1 ? found->values[0] : NULL;

	if (value == NULL || found->several || !value_is_scalar(value) || value->len == 0)
		return NULL;
	return memchr(value->text, '\0', value->len) == NULL ? value->text : NULL;
}

const char *
operand_text(const struct scene *scene, const struct operand *operand)
{
	struct located found;

	if (operand->from == NULL)
		return operand->text;
	found = locator_find(scene, operand->from);
	return located_text(&found);
}

/* Some scalar, folded like the operand, passes. */
static bool
text_holds(const struct scene *scene, const struct located *found, const struct test *test,
	   bool (*passes)(struct slice value, struct slice wanted))
{
	const char *text = operand_text(scene, &test->operand);
	struct slice wanted;

	if (text == NULL)
		return false;
	wanted = fold_text(scene->arena, (struct slice){ text, strlen(text) }, test->fold);
	for (size_t i = 0; i < found->count; i++) {
		const struct value *value = found->values[i];

		if (value_is_scalar(value) &&
		    passes(fold_text(scene->arena, (struct slice){ value->text, value->len },
				     test->fold),
			   wanted))
			return true;
	}
	return false;
}

static bool
passes_order(enum test_kind kind, int order)
{
	if (kind == TEST_GT)
		return order > 0;
	if (kind == TEST_GE)
		return order >= 0;
	return kind == TEST_LT ? order < 0 : order <= 0;
}

static bool
number_holds(const struct scene *scene, const struct located *found, const struct test *test)
{
	const char *wanted = operand_text(scene, &test->operand);

	if (wanted == NULL || !number_is_valid(wanted, strlen(wanted)))
		return false;
	for (size_t i = 0; i < found->count; i++) {
		const struct value *value = found->values[i];

		if (value_is_scalar(value) && number_is_valid(value->text, value->len) &&
		    passes_order(test->kind, number_compare(value->text, wanted)))
			return true;
	}
	return false;
}

/* An empty prefix would match everything, so it matches nothing. */
static bool
prefix_passes(struct slice value, struct slice prefix)
{
	return prefix.len > 0 && slice_begins(value, prefix);
}

/* Some value is null (or some value is not). */
static bool
null_holds(const struct located *found, bool is_null)
{
	for (size_t i = 0; i < found->count; i++)
		if ((found->values[i]->kind == VALUE_NULL) == is_null)
			return true;
	return false;
}

static size_t
count_holding(const struct scene *scene, const struct located *found, const struct test *test)
{
	size_t n = 0;

	for (size_t i = 0; i < test->count; i++)
		n += test_holds(scene, found, &test->children[i]);
	return n;
}

bool
test_holds(const struct scene *scene, const struct located *found, const struct test *test)
{
	switch (test->kind) {
	case TEST_IS:
		return text_holds(scene, found, test, slice_equals);
	case TEST_NULL:
		return null_holds(found, true);
	case TEST_ANY:
		return count_holding(scene, found, test) > 0;
	case TEST_ALL:
		return count_holding(scene, found, test) == test->count;
	case TEST_NOT:
		return count_holding(scene, found, test) == 0;
	case TEST_PREFIX:
		return text_holds(scene, found, test, prefix_passes);
	case TEST_PRESENT:
		return null_holds(found, false);
	case TEST_ABSENT:
		return !null_holds(found, false);
	case TEST_GT:
	case TEST_GE:
	case TEST_LT:
	case TEST_LE:
		return number_holds(scene, found, test);
	}
	return false;
}

/* What the operation has empty counts as missing. */
static struct located
without_empty(const struct scene *scene, struct located found)
{
	const struct value **kept = arena_array(scene->arena, const struct value *, found.count);
	size_t n = 0;

	for (size_t i = 0; i < found.count; i++)
		if (found.values[i]->kind != VALUE_TEXT || found.values[i]->len > 0)
			kept[n++] = found.values[i];
	found.values = kept;
	found.count = n;
	return found;
}

static bool
row_holds(const struct scene *scene, const struct condition_row *row)
{
	struct located found = locator_find(scene, &row->locator);

	if (row->locator.root == LOCATE_OP_POINTER)
		found = without_empty(scene, found);
	return test_holds(scene, &found, &row->test);
}

bool
condition_holds(const struct scene *scene, const struct condition *condition)
{
	for (size_t i = 0; i < condition->count; i++)
		if (!row_holds(scene, &condition->rows[i]))
			return false;
	return true;
}

bool
conditions_hold(const struct scene *scene, const struct conditions *conditions)
{
	for (size_t i = 0; i < conditions->count; i++)
		if (condition_holds(scene, &conditions->any[i]))
			return true;
	return false;
}
