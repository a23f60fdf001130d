/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares what was found with what was expected, by the type that the policy gives.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/core/condition.h"

enum compare_type {
	COMPARE_TEXT,
	COMPARE_NUMBER,
	COMPARE_MONEY,
	COMPARE_TIME,
	COMPARE_SET,
	COMPARE_LIST,
	COMPARE_BOOL,
	COMPARE_DIGEST,
	COMPARE_VERSION,
};
enum compare_relation { COMPARE_IS, COMPARE_ONE_OF, COMPARE_AT_LEAST, COMPARE_NOT_BEFORE };
enum version_order { VERSION_INTEGER, VERSION_TIME, VERSION_DOTTED, VERSION_OPAQUE };
enum compare_result {
	COMPARED_EQUAL,
	COMPARED_DIFFERENT,
	COMPARED_OLDER,
	COMPARED_NEWER,
	COMPARED_UNREADABLE
};

struct comparison {
	const char *name;
	struct locator found;
	enum compare_type type;
	enum compare_relation relation;
	const struct operand *values; /* one, or several for ONE_OF */
	size_t count;
	unsigned fold;	       /* text */
	const char *tolerance; /* number, money; NULL: exact */
	enum version_order order;
};

/* One compared field of a verdict. Texts are as they were read; NULL when absent or no scalar. */
struct compared {
	const struct comparison *by;
	enum compare_result result;
	const char *expected, *found;
};

const char *compare_type_name(enum compare_type type);
const char *compare_result_name(enum compare_result result);

struct compared compare_field(const struct scene *scene, const struct comparison *comparison);
