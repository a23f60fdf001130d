/* SPDX-License-Identifier: Apache-2.0
 *
 * A test holds if one of the values passes, so two tests that no single value passes contradict each
 * other only where there is one value at most.
 */
#include "implication.h"

#include <string.h>

#include "reconciled/core/number.h"

/* Longer lists are not looked through: what a file may cost is limited. */
enum { CHILDREN_MAX = 256 };

static const struct test present = { .kind = TEST_PRESENT };

static bool
is_number(const char *text)
{
	return text && number_is_valid(text, strlen(text));
}

static bool
is_numeric(enum test_kind kind)
{
	return kind == TEST_GT || kind == TEST_GE || kind == TEST_LT || kind == TEST_LE;
}

static bool
begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The test of which this one is the negation, or NULL. */
static const struct test *
negated(const struct test *test)
{
	if (test->kind == TEST_NOT)
		return test->children;
	return test->kind == TEST_ABSENT ? &present : NULL;
}

static bool
operand_equals(const struct operand *a, const struct operand *b)
{
	if (a->text || b->text)
		return a->text && b->text && strcmp(a->text, b->text) == 0;
	if (!a->from || !b->from)
		return a->from == b->from;
	return strcmp(a->from->text, b->from->text) == 0;
}

static bool
leaf_equals(const struct test *a, const struct test *b)
{
	return a->kind == b->kind && a->fold == b->fold && operand_equals(&a->operand, &b->operand);
}

/* A number passes gt, ge, lt, le; both are literals. */
static bool
number_passes(const char *number, const struct test *test)
{
	int order = number_compare(number, test->operand.text);

	if (test->kind == TEST_GT)
		return order > 0;
	if (test->kind == TEST_GE)
		return order >= 0;
	return test->kind == TEST_LT ? order < 0 : order <= 0;
}

static bool
looks_up(enum test_kind kind)
{
	return kind == TEST_GT || kind == TEST_GE;
}

/* Every number that passes `one` passes `other`. */
static bool
range_implies(const struct test *one, const struct test *other)
{
	bool strict = one->kind == TEST_GT || one->kind == TEST_LT;

	if (looks_up(one->kind) != looks_up(other->kind))
		return false;
	return number_passes(one->operand.text, other) ||
	       (strict && number_compare(one->operand.text, other->operand.text) == 0);
}

/* No number passes both. */
static bool
ranges_part(const struct test *one, const struct test *other)
{
	return looks_up(one->kind) != looks_up(other->kind) &&
	       (!number_passes(one->operand.text, other) ||
		!number_passes(other->operand.text, one));
}

/* Both compare with literals. */
static bool
are_literal(const struct test *one, const struct test *other)
{
	return one->operand.text && other->operand.text && one->fold == 0 && other->fold == 0;
}

static bool
leaf_implies(const struct test *one, const struct test *other)
{
	if (leaf_equals(one, other))
		return true;
	if (other->kind == TEST_PRESENT)
		return one->kind != TEST_NULL;
	if (!are_literal(one, other))
		return false;
	if (other->kind == TEST_PREFIX)
		return (one->kind == TEST_IS || one->kind == TEST_PREFIX) &&
		       other->operand.text[0] != '\0' && /* which matches nothing */
		       begins_with(one->operand.text, other->operand.text);
	if (!is_numeric(other->kind))
		return false;
	if (one->kind == TEST_IS)
		return is_number(one->operand.text) && number_passes(one->operand.text, other);
	return is_numeric(one->kind) && range_implies(one, other);
}

/* No value passes both. */
static bool
leaves_part(const struct test *one, const struct test *other)
{
	const char *a = one->operand.text, *b = other->operand.text;

	if (one->kind == TEST_NULL || other->kind == TEST_NULL)
		return one->kind != other->kind;
	if (one->kind == TEST_PRESENT || other->kind == TEST_PRESENT || !are_literal(one, other))
		return false;
	if (is_numeric(one->kind) && is_numeric(other->kind))
		return ranges_part(one, other);
	if (one->kind == TEST_IS && is_numeric(other->kind))
		return !is_number(a) || !number_passes(a, other);
	if (one->kind == TEST_IS && other->kind == TEST_IS)
		return strcmp(a, b) != 0;
	if (one->kind == TEST_IS && other->kind == TEST_PREFIX)
		return !begins_with(a, b);
	if (one->kind == TEST_PREFIX && other->kind == TEST_PREFIX)
		return !begins_with(a, b) && !begins_with(b, a);
	return false;
}

static bool test_implies(const struct test *one, const struct test *other, bool single);

typedef bool relation_fn(const struct test *one, const struct test *other, bool single);

static bool tests_part(const struct test *one, const struct test *other, bool single);

static bool
any_child(relation_fn *relates, const struct test *parent, const struct test *other, bool single)
{
	for (size_t i = 0; i < parent->count && parent->count <= CHILDREN_MAX; i++)
		if (relates(&parent->children[i], other, single))
			return true;
	return false;
}

static bool
all_children(relation_fn *relates, const struct test *parent, const struct test *other, bool single)
{
	for (size_t i = 0; i < parent->count; i++)
		if (parent->count > CHILDREN_MAX || !relates(&parent->children[i], other, single))
			return false;
	return true;
}

static bool
is_implied(const struct test *other, const struct test *one, bool single)
{
	return test_implies(one, other, single);
}

/* `other` says that something does not hold. */
static bool
implies_not(const struct test *one, const struct test *denied, bool single)
{
	const struct test *own = negated(one);

	return own ? test_implies(denied, own, single) : tests_part(one, denied, single);
}

static bool
test_implies(const struct test *one, const struct test *other, bool single)
{
	if (one->kind == TEST_ANY)
		return all_children(test_implies, one, other, single);
	if (other->kind == TEST_ALL)
		return all_children(is_implied, other, one, single);
	if (other->kind == TEST_ANY && any_child(is_implied, other, one, single))
		return true;
	if (one->kind == TEST_ALL)
		return any_child(test_implies, one, other, single);
	if (negated(other))
		return implies_not(one, negated(other), single);
	if (other->kind == TEST_ANY || negated(one))
		return false;
	return leaf_implies(one, other);
}

/* They never hold together. */
static bool
tests_part(const struct test *one, const struct test *other, bool single)
{
	if (one->kind == TEST_ANY)
		return all_children(tests_part, one, other, single);
	if (other->kind == TEST_ANY)
		return all_children(tests_part, other, one, single);
	if (one->kind == TEST_ALL)
		return any_child(tests_part, one, other, single);
	if (other->kind == TEST_ALL)
		return any_child(tests_part, other, one, single);
	if (negated(other))
		return test_implies(one, negated(other), single);
	if (negated(one))
		return test_implies(other, negated(one), single);
	return single && (leaves_part(one, other) || leaves_part(other, one));
}

static bool
pointer_is_single(const struct pointer *pointer)
{
	for (size_t i = 0; i < pointer->count; i++)
		if (pointer->tokens[i].kind == POINTER_EACH)
			return false;
	return true;
}

/* A header may be there several times. */
static bool
is_single(const struct locator *locator)
{
	return locator->root != LOCATE_HEADER && pointer_is_single(&locator->pointer);
}

static const struct condition_row *
row_at(const struct condition *condition, const struct locator *locator)
{
	for (size_t i = 0; i < condition->count; i++)
		if (strcmp(condition->rows[i].locator.text, locator->text) == 0)
			return &condition->rows[i];
	return NULL;
}

bool
condition_implies(const struct condition *one, const struct condition *other)
{
	for (size_t i = 0; i < other->count; i++) {
		const struct condition_row *row = &other->rows[i];
		const struct condition_row *own = row_at(one, &row->locator);

		if (!own || !test_implies(&own->test, &row->test, is_single(&row->locator)))
			return false;
	}
	return true;
}

bool
conditions_cover(const struct condition *one, const struct condition *other)
{
	const struct test *a, *b;
	bool single;

	if (one->count != 1 || other->count != 1 || !row_at(one, &other->rows[0].locator))
		return false;
	a = &one->rows[0].test;
	b = &other->rows[0].test;
	single = is_single(&one->rows[0].locator);
	return (negated(a) && test_implies(negated(a), b, single)) ||
	       (negated(b) && test_implies(negated(b), a, single));
}

static bool
test_contradicts(const struct test *test, bool single)
{
	if (test->kind == TEST_ANY) {
		for (size_t i = 0; i < test->count; i++)
			if (!test_contradicts(&test->children[i], single))
				return false;
		return true;
	}
	for (size_t i = 0; test->kind == TEST_ALL && i < test->count; i++)
		for (size_t j = 0; j < i; j++)
			if (tests_part(&test->children[i], &test->children[j], single))
				return true;
	return false;
}

bool
condition_contradicts(const struct condition *condition, const struct locator **ret_locator)
{
	for (size_t i = 0; i < condition->count; i++)
		if (test_contradicts(&condition->rows[i].test,
				     is_single(&condition->rows[i].locator))) {
			*ret_locator = &condition->rows[i].locator;
			return true;
		}
	return false;
}
