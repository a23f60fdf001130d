/* SPDX-License-Identifier: Apache-2.0
 *
 * Where operations come from: pages of due rows, type by type in turn, so that no type starves
 * another. Holds at most one page of each type.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/core/operation.h"
#include "reconciled/reconcile/pass.h"

struct arena;
struct err;
struct source;

/* err NULL: there may be more to take now. Never from inside a call of source. */
typedef void source_ready_fn(void *owner, const struct err *err);

struct source *source_create(const struct pass_options *options, source_ready_fn *ready,
			     void *owner);
void source_destroy(struct source *source);
void source_start(struct source *source);

/* An operation and how the database's clock relates to the monotonic one. */
struct source_item {
	const struct pass_type *type; /* NULL: a row by id whose type takes no part */
	bool paused;
	int64_t clock_offset_us; /* database time = CLOCK_MONOTONIC + offset */
};

/*
 * Takes the next operation of a type whose target has a free slot; rows and texts go into the
 * arena. False: nothing to be had now.
 */
bool source_take(struct source *source, struct arena *arena, struct operation *ret_op,
		 struct source_item *ret_item);
bool source_is_fetching(const struct source *source); /* an answer is still to come */
bool source_is_exhausted(const struct source *source);
