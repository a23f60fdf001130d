/* SPDX-License-Identifier: Apache-2.0
 *
 * From a check that was judged to the row that is written.
 */
#pragma once

#include "reconciled/base/strbuf.h"
#include "reconciled/store/record.h"

struct arena;
struct check;
struct decision;
struct hmac;

/* What all rows are built with. */
struct row_tools {
	struct hmac *evidence_key;
	struct strbuf scratch;
	int64_t max_verdict_age_us; /* 0: no limit */
};

/* decision: of the check, or what had been decided otherwise. All texts of the row are copied into
 * the arena. */
struct record_row row_build(struct check *check, const struct decision *decision,
			    struct row_tools *tools, struct arena *arena);

/* A text of an operation, where "" is missing: NULL. */
const char *row_copy_given(struct arena *arena, const char *text);
