/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets and lists: texts of scalars, with or without their order. An element that is missing or no
 * scalar makes the whole unreadable.
 */
#include <stdlib.h>
#include <string.h>

#include "compare_pair.h"
#include "reconciled/base/arena.h"
#include "reconciled/core/value.h"

struct elements {
	struct slice *list;
	size_t count;
};

static bool
add(struct elements *elements, const struct value *value)
{
	if (!value_is_scalar(value))
		return false;
	elements->list[elements->count++] = (struct slice){ value->text, value->len };
	return true;
}

/* The locator itself names several values. */
static bool
names_several(const struct locator *locator)
{
	if (locator->root == LOCATE_HEADER)
		return true;
	for (size_t i = 0; i < locator->pointer.count; i++)
		if (locator->pointer.tokens[i].kind == POINTER_EACH)
			return true;
	return false;
}

static bool
add_children(struct arena *arena, const struct value *list, struct elements *ret)
{
	ret->list = arena_array(arena, struct slice, list->count + 1);
	for (const struct value *child = list->first; child != NULL; child = child->next)
		if (!add(ret, child))
			return false;
	return true;
}

/* One list, or the values that the locator names. */
static bool
read_located(const struct scene *scene, const struct locator *locator, struct elements *ret)
{
	struct located found = locator_find(scene, locator);

	if (found.several || found.partial || !found.reached)
		return false;
	if (found.count == 1 && found.values[0]->kind == VALUE_LIST)
		return add_children(scene->arena, found.values[0], ret);
	if (!names_several(locator))
		return false;
	ret->list = arena_array(scene->arena, struct slice, found.count + 1);
	for (size_t i = 0; i < found.count; i++)
		if (!add(ret, found.values[i]))
			return false;
	return true;
}

static bool
read_expected(const struct scene *scene, const struct comparison *by, struct elements *ret)
{
	if (!by->listed)
		return by->count == 1 && by->values[0].from != NULL &&
		       read_located(scene, by->values[0].from, ret);
	ret->list = arena_array(scene->arena, struct slice, by->count + 1);
	for (size_t i = 0; i < by->count; i++) {
		const char *text = operand_text(scene, &by->values[i]);

		if (text == NULL)
			return false;
		ret->list[ret->count++] = (struct slice){ text, strlen(text) };
	}
	return true;
}

static int
by_bytes(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	size_t common = x->len < y->len ? x->len : y->len;
	int order = common == 0 ? 0 : memcmp(x->text, y->text, common);

	return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

static enum compare_result
compare_sides(const struct elements *found, const struct elements *expected, bool ordered)
{
	if (found->count != expected->count)
		return COMPARED_DIFFERENT;
	if (!ordered) {
		qsort(found->list, found->count, sizeof(found->list[0]), by_bytes);
		qsort(expected->list, expected->count, sizeof(expected->list[0]), by_bytes);
	}
	for (size_t i = 0; i < found->count; i++)
		if (!slice_equals(found->list[i], expected->list[i]))
			return COMPARED_DIFFERENT;
	return COMPARED_EQUAL;
}

static void
put(struct slice *text, char *room, const char *bytes, size_t len)
{
	if (len > 0)
		memcpy(room + text->len, bytes, len);
	text->len += len;
}

/* In brackets, so that a list of one, an empty list and a text differ. */
static const char *
shown(struct arena *arena, const struct elements *elements)
{
	size_t bytes = strlen("[]") + 1;
	struct slice text = { 0 };
	char *room;

	for (size_t i = 0; i < elements->count; i++)
		bytes += elements->list[i].len + strlen(", ");
	text.text = room = arena_alloc(arena, bytes);
	put(&text, room, "[", 1);
	for (size_t i = 0; i < elements->count; i++) {
		put(&text, room, ", ", i > 0 ? 2 : 0);
		put(&text, room, elements->list[i].text, elements->list[i].len);
	}
	put(&text, room, "]", 1);
	return shown_text(arena, text);
}

struct compared
compare_elements(const struct scene *scene, const struct comparison *by)
{
	struct elements found = { 0 }, expected = { 0 };
	bool is_found = read_located(scene, &by->found, &found);
	bool is_expected = read_expected(scene, by, &expected);
	struct compared compared = { .by = by, .result = COMPARED_UNREADABLE };

	if (is_found)
		compared.found = shown(scene->arena, &found);
	if (is_expected)
		compared.expected = shown(scene->arena, &expected);
	if (is_found && is_expected)
		compared.result = compare_sides(&found, &expected, by->type == COMPARE_LIST);
	return compared;
}
