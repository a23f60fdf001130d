/* SPDX-License-Identifier: Apache-2.0
 *
 * COND and TEST of the policy language, as data. The loader builds them, condition_holds evaluates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/core/locator.h"

/* A value in the policy: literal text, null, or taken from the operation ("op.…"). */
struct operand {
	const char *text;	    /* literal; NULL with from */
	const struct locator *from; /* op locator */
};

enum fold {
	FOLD_NONE = 0,
	FOLD_CASE = 1,
	FOLD_NFC = 2,
	FOLD_SPACE = 4
}; /* bits; CASE includes NFC */

enum test_kind {
	TEST_IS,      /* operand, fold */
	TEST_NULL,    /* there and null */
	TEST_ANY,     /* one of the children */
	TEST_ALL,     /* all of the children: {ge: 1, lt: 5} */
	TEST_NOT,     /* the child holds for no value, or none is there */
	TEST_PREFIX,  /* operand, fold */
	TEST_PRESENT, /* there and not null */
	TEST_ABSENT,  /* {present: false} */
	TEST_GT,
	TEST_GE,
	TEST_LT,
	TEST_LE,
};

struct test {
	enum test_kind kind;
	struct operand operand;
	unsigned fold;
	const struct test *children;
	size_t count;
};

struct condition_row {
	struct locator locator;
	struct test test;
};

/* All rows hold. Without rows it always holds. */
struct condition {
	const struct condition_row *rows;
	size_t count;
};

/* Any of them holds. Without conditions it never holds. */
struct conditions {
	const struct condition *any;
	size_t count;
};

bool test_holds(const struct scene *scene, const struct located *found, const struct test *test);
bool condition_holds(const struct scene *scene, const struct condition *condition);
bool conditions_hold(const struct scene *scene, const struct conditions *conditions);

/* The text of an operand for this operation; NULL when it is missing, empty or no scalar. */
const char *operand_text(const struct scene *scene, const struct operand *operand);
