/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules of a probe, in the order in which they are tried. Private to core.
 */
#pragma once

#include "reconciled/core/reading.h"

/* An answer that says "gone" may also look like "absent" or "found". */
struct reading_rule {
	size_t offset; /* of the conditions in struct probe */
	enum reading_kind kind;
};

enum { READING_RULES = 5 };

extern const struct reading_rule reading_rules[READING_RULES];

/* A condition that looks into the body needs one that could be read: of an error page everything
 * that is tested for absence would hold. */
bool condition_reads_body(const struct condition *condition);
