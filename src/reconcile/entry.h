/* SPDX-License-Identifier: Apache-2.0
 *
 * From a check that was judged to what the writer gets, with what is written instead when a guard
 * or the clock forbids it; and from what was written to what the observer is told.
 */
#pragma once

#include "writer.h"

struct arena;
struct check;
struct pass_outcome;
struct row_tools;

/* arena: the writer's. */
struct writer_entry entry_build(struct check *check, struct row_tools *tools, struct arena *arena);
struct pass_outcome entry_outcome(const struct writer_entry *entry, enum written outcome,
				  int64_t revision);
