/* SPDX-License-Identifier: Apache-2.0
 *
 * The tree of values: building, finding members, equality. Reading JSON is value_json.c.
 */
#include "reconciled/core/value.h"

#include <stdlib.h>
#include <string.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/xalloc.h"
#include "value_tree.h"

/* Up to this size looking at all pairs is faster than sorting. */
enum { PAIRWISE_MAX = 16 };

const char *
value_kind_name(enum value_kind kind)
{
	static const char *const names[] = {
		[VALUE_NULL] = "null", [VALUE_BOOL] = "bool", [VALUE_NUMBER] = "number",
		[VALUE_TEXT] = "text", [VALUE_LIST] = "list", [VALUE_OBJECT] = "object",
	};

	return names[kind];
}

static bool
same_bytes(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return a_len == b_len && (a_len == 0 || memcmp(a, b, a_len) == 0);
}

const struct value *
value_member(const struct value *object, const char *name, size_t name_len)
{
	if (object->kind != VALUE_OBJECT)
		return NULL;
	for (const struct value *child = object->first; child != NULL; child = child->next)
		if (same_bytes(child->name, child->name_len, name, name_len))
			return child;
	return NULL;
}

struct value *
value_create(struct arena *arena, enum value_kind kind, const char *text, size_t len)
{
	struct value *value = arena_new(arena, struct value);

	value->kind = kind;
	if (text != NULL) {
		value->text = arena_strndup(arena, text, len);
		value->len = len;
	}
	return value;
}

void
value_link(struct value *parent, struct value *child)
{
	child->next = NULL;
	if (parent->last != NULL)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
	parent->count++;
}

void
value_append(struct arena *arena, struct value *parent, const char *name, size_t name_len,
	     struct value *child)
{
	if (name != NULL) {
		child->name = arena_strndup(arena, name, name_len);
		child->name_len = name_len;
	}
	value_link(parent, child);
}

static int
by_name(const void *a, const void *b)
{
	const struct value *const *x = a;
	const struct value *const *y = b;

	if ((*x)->name_len != (*y)->name_len)
		return (*x)->name_len < (*y)->name_len ? -1 : 1;
	return (*x)->name_len == 0 ? 0 : memcmp((*x)->name, (*y)->name, (*x)->name_len);
}

/* The members ordered by name; the caller frees the array. */
static const struct value **
sorted_members(const struct value *object)
{
	const struct value **members = xcalloc(object->count, sizeof(const struct value *));
	size_t n = 0;

	for (const struct value *child = object->first; child != NULL; child = child->next)
		members[n++] = child;
	qsort(members, n, sizeof(const struct value *), by_name);
	return members;
}

static bool
has_duplicate_pair(const struct value *object)
{
	for (const struct value *a = object->first; a != NULL; a = a->next)
		for (const struct value *b = a->next; b != NULL; b = b->next)
			if (same_bytes(a->name, a->name_len, b->name, b->name_len))
				return true;
	return false;
}

bool
value_has_duplicates(const struct value *object)
{
	if (object->count <= PAIRWISE_MAX)
		return has_duplicate_pair(object);

	CLEANUP(xfree_at) const struct value **members = sorted_members(object);

	for (size_t i = 1; i < object->count; i++)
		if (by_name(&members[i - 1], &members[i]) == 0)
			return true;
	return false;
}

static bool
lists_equal(const struct value *a, const struct value *b)
{
	const struct value *y = b->first;

	for (const struct value *x = a->first; x != NULL; x = x->next, y = y->next)
		if (!value_equal(x, y))
			return false;
	return true;
}

static bool
objects_equal(const struct value *a, const struct value *b)
{
	CLEANUP(xfree_at) const struct value **xs = sorted_members(a);
	CLEANUP(xfree_at) const struct value **ys = sorted_members(b);

	for (size_t i = 0; i < a->count; i++)
		if (by_name(&xs[i], &ys[i]) != 0 || !value_equal(xs[i], ys[i]))
			return false;
	return true;
}

bool
value_equal(const struct value *a, const struct value *b)
{
	if (a->kind != b->kind || a->count != b->count)
		return false;
	if (a->kind == VALUE_LIST)
		return lists_equal(a, b);
	if (a->kind == VALUE_OBJECT)
		return objects_equal(a, b);
	return a->kind == VALUE_NULL || same_bytes(a->text, a->len, b->text, b->len);
}
