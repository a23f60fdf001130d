/* SPDX-License-Identifier: Apache-2.0
 *
 * From a check that was judged to the row that is written.
 */
#pragma once

#include "reconciled/store/work.h"

struct arena;
struct check;
struct hmac;
struct strbuf;

/* All texts of the row are copied into the arena; scratch is overwritten. */
struct record_row row_build(struct check *check, struct hmac *evidence_key, struct strbuf *scratch,
			    struct arena *arena);
