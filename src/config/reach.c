/* SPDX-License-Identifier: Apache-2.0
 *
 * Each row or rule is said to be dead once, at the first reason that is found.
 */
#include "reach.h"

#include <stdio.h>

#include "implication.h"
#include "loading.h"
#include "reconciled/base/attributes.h"
#include "reconciled/core/reading.h"
#include "tree.h"

enum { STATUS_MIN = 100, STATUS_MAX = 599 };
/* More rows, or alternatives of a rule, are not compared: what a file may cost is limited. */
enum { ROWS_MAX = 200 };

static const struct node *
child_at(const struct node *node, size_t index)
{
	const struct node *child = node->first;

	for (size_t i = 0; child && i < index; i++)
		child = child->next;
	return child;
}

/* Two rows of which one always holds; the later one is the first that there is. */
struct pair {
	const struct node *first, *second; /* NULL: there is none */
	size_t second_row;
};

static struct pair
find_pair(const struct node *node, const struct condition *const *whens, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; whens[i] && j < i; j++)
			if (whens[j] && conditions_cover(whens[j], whens[i]))
				return (struct pair){ child_at(node, j), child_at(node, i), i };
	return (struct pair){ 0 };
}

/* A row before takes all that this one would. True: said. */
static bool
row_is_taken(struct loading *loading, const struct node *node, const struct condition *const *whens,
	     size_t row)
{
	size_t i = 0;
	const struct node *before;

	while (i < row && !(whens[i] && (whens[i]->count == 0 ||
					 (whens[row] && condition_implies(whens[row], whens[i])))))
		i++;
	if (i == row)
		return false;
	before = child_at(node, i);
	complain(loading, child_at(node, row), "is never reached, the row at line %d, column %d %s",
		 before->line, before->column,
		 whens[i]->count == 0 ? "always holds" : "holds wherever this one does");
	return true;
}

static bool
row_is_dead(struct loading *loading, const struct node *node, const struct condition *const *whens,
	    size_t row, const struct pair *pair)
{
	if (row_is_taken(loading, node, whens, row))
		return true;
	if (!pair->first || !pair->second || pair->second_row >= row)
		return false;
	complain(loading, child_at(node, row),
		 "is never reached, one of the rows at line %d, column %d and line %d, column %d "
		 "always holds",
		 pair->first->line, pair->first->column, pair->second->line, pair->second->column);
	return true;
}

/* At the value of the test: one that is never passed says more than the whole condition. */
static bool
contradicts(struct loading *loading, const struct node *node, const struct condition *condition)
{
	const struct locator *at;
	const struct node *test;

	if (!condition || !condition_contradicts(condition, &at))
		return false;
	test = node_member(node, at->text);
	complain(loading, test ? test : node, "never holds: its tests contradict each other");
	return true;
}

void
reach_check_rows(struct loading *loading, const struct node *node,
		 const struct condition *const *whens, size_t count)
{
	size_t checked = count < ROWS_MAX ? count : ROWS_MAX;
	struct pair pair = find_pair(node, whens, checked);

	for (size_t i = 0; i < checked; i++)
		if (!row_is_dead(loading, node, whens, i, &pair))
			(void)contradicts(loading, node_member(child_at(node, i), "when"),
					  whens[i]);
}

static bool
asks_operation(const struct test *test)
{
	if (test->operand.from)
		return true;
	for (size_t i = 0; i < test->count; i++)
		if (asks_operation(&test->children[i]))
			return true;
	return false;
}

static bool
some_status_passes(struct loading *loading, const struct test *test)
{
	struct scene scene = { .arena = loading->arena };

	for (int status = STATUS_MIN; status <= STATUS_MAX; status++) {
		char text[8];
		int len = snprintf(text, sizeof(text), "%d", status);
		struct value value = { .kind = VALUE_NUMBER, .text = text, .len = (size_t)len };
		const struct value *values[] = { &value };
		struct located located = { .values = values, .count = 1, .reached = true };

		if (reading_barred(status) == REASON_COUNT && test_holds(&scene, &located, test))
			return true;
	}
	return false;
}

static bool
status_is_dead(struct loading *loading, const struct node *node, const struct condition *condition)
{
	for (size_t i = 0; i < condition->count; i++) {
		const struct condition_row *row = &condition->rows[i];

		if (row->locator.root != LOCATE_STATUS || asks_operation(&row->test) ||
		    some_status_passes(loading, &row->test))
			continue;
		complain(loading, node_member(node, "status"),
			 "never holds: 408, 425, 429 and 5xx are no evidence before any rule");
		return true;
	}
	return false;
}

struct kind {
	const char *key;
	const struct conditions *conditions;
};

/* An earlier kind takes every answer that this alternative would. */
static bool
is_taken(struct loading *loading, const struct node *node, const struct condition *condition,
	 const struct kind *kinds, size_t before)
{
	for (size_t i = 0; i < before; i++)
		for (size_t j = 0; j < kinds[i].conditions->count && j < ROWS_MAX; j++) {
			if (!condition_implies(condition, &kinds[i].conditions->any[j]))
				continue;
			complain(loading, node,
				 "never holds: %s is tried before and takes the same answers",
				 kinds[i].key);
			return true;
		}
	return false;
}

void
reach_check_conditions(struct loading *loading, const struct node *node,
		       const struct conditions *conditions)
{
	for (size_t i = 0; i < conditions->count && i < ROWS_MAX; i++)
		(void)contradicts(loading, node->kind == NODE_LIST ? child_at(node, i) : node,
				  &conditions->any[i]);
}

/* In the order in which they are tried. */
void
reach_check_probe(struct loading *loading, const struct node *node, const struct probe *probe)
{
	const struct kind kinds[] = {
		{ "gone", &probe->gone },
		{ "several", &probe->several },
		{ "unfinished", &probe->unfinished },
		{ "absent", &probe->absent },
		{ "found", &probe->found },
	};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct node *rule = node_member(node, kinds[i].key);

		for (size_t j = 0; rule && j < kinds[i].conditions->count && j < ROWS_MAX; j++) {
			const struct condition *condition = &kinds[i].conditions->any[j];
			const struct node *at = rule->kind == NODE_LIST ? child_at(rule, j) : rule;

			if (!status_is_dead(loading, at, condition) &&
			    !is_taken(loading, at, condition, kinds, i))
				(void)contradicts(loading, at, condition);
		}
	}
	if (probe->skip.count > 0)
		reach_check_conditions(loading, node_member(node, "skip"), &probe->skip);
	if (probe->complete.count > 0)
		reach_check_conditions(loading, node_member(node, "complete"), &probe->complete);
	if (probe->has_where)
		(void)contradicts(loading, node_member(node, "where"), &probe->where);
}
