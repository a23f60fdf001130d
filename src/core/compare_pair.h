/* SPDX-License-Identifier: Apache-2.0
 *
 * Both sides of one comparison, and the types that have a file of their own. Private to core.
 */
#pragma once

#include "fold.h"
#include "reconciled/core/compare.h"

struct pair {
	const struct scene *scene;
	const struct comparison *by;
	struct slice found, expected; /* not empty; NUL stands behind them */
};

static inline enum compare_result
equal_if(bool equal)
{
	return equal ? COMPARED_EQUAL : COMPARED_DIFFERENT;
}

/* Whether more than expected is as good. */
static inline bool
is_lower_bound(enum compare_relation relation)
{
	return relation == COMPARE_AT_LEAST || relation == COMPARE_NOT_BEFORE;
}

/* The one scalar at the locator, or NULL. */
const struct value *find_scalar(const struct scene *scene, const struct locator *locator);

enum compare_result compare_money(const struct pair *pair);
enum compare_result compare_digest(const struct pair *pair);
enum compare_result compare_version(const struct pair *pair);
bool text_is_readable(const struct comparison *by, struct slice text);
bool time_is_readable(const struct comparison *by, struct slice text);
bool digest_is_expected(const struct comparison *by, struct slice text);
bool version_is_readable(const struct comparison *by, struct slice text);

/* Sets and lists. */
struct compared compare_elements(const struct scene *scene, const struct comparison *by);

/* For people: NUL cannot be part of a C string, a replacement character stands for it.
 * Otherwise the text itself, which has one behind it. */
const char *shown_text(struct arena *arena, struct slice text);
