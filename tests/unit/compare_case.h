/* SPDX-License-Identifier: Apache-2.0
 *
 * One comparison as a row of a table: the item and what is expected are JSON.
 */
#pragma once

#include "reconciled/core/compare.h"
#include "scene.h"

#define EQUAL COMPARED_EQUAL
#define DIFFERENT COMPARED_DIFFERENT
#define OLDER COMPARED_OLDER
#define NEWER COMPARED_NEWER
#define UNREADABLE COMPARED_UNREADABLE

/* found: a locator in the item; expected: JSON, at op./expected/v, or NULL: absent. */
static inline struct compared
case_compare(struct arena *arena, struct comparison by, const char *found, const char *item,
	     const char *expected)
{
	const struct operand ours = { .from = locator(arena, "op./expected/v") };
	struct operation op = operation(
		arena, expected == NULL ? "{}" : arena_printf(arena, "{\"v\":%s}", expected));
	struct scene scene = { .arena = arena, .op = &op, .item = json(arena, item) };

	by.found = *locator(arena, found);
	by.values = &ours;
	by.count = 1;
	return compare_field(&scene, &by);
}

static inline void
case_check(const struct compared *compared, enum compare_result want, const char *name)
{
	tap_str(compare_result_name(compared->result), compare_result_name(want), name);
}
