/* SPDX-License-Identifier: Apache-2.0
 *
 * Where operations come from: pages of due rows, type by type in turn, so that no type starves
 * another. Holds at most one page of each type. One timer for all of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/core/operation.h"
#include "reconciled/reconcile/pass.h"

struct arena;
struct err;
struct fairness;
struct source;
struct underway;

struct source_callbacks {
	/* err NULL: there may be more to take now. Never from inside a call of source. */
	void (*ready)(void *owner, const struct err *err);
	/* A row by id that is not to be taken; type NULL: there is no such operation. */
	void (*skipped)(void *owner, const char *operation_id, const char *operation_type,
			enum pass_skip why);
	void *owner;
};

/* All borrowed. */
struct source *source_create(const struct pass_options *options, struct underway *underway,
			     const struct fairness *fairness,
			     const struct source_callbacks *callbacks);
void source_destroy(struct source *source);
void source_start(struct source *source);

/* A target that had no free slot may have one. */
void source_target_ready(struct source *source);
void source_set_share(struct source *source, size_t type, struct pass_share share);
struct pass_share source_share(const struct source *source, size_t type);
int64_t source_ended_us(const struct source *source, size_t type);   /* see pass_ended_us */
void source_wake(struct source *source, const char *operation_type); /* NULL: every type */
/* Drops the pages; until source_resume nothing is selected or taken. */
void source_suspend(struct source *source);
void source_resume(struct source *source);
void source_stop(struct source *source); /* for good */

/* An operation and how the database's clock relates to the monotonic one. */
struct source_item {
	size_t type;		 /* options.types[type] */
	int64_t clock_offset_us; /* database time = CLOCK_MONOTONIC + offset */
};

/*
 * Takes the next operation of a type whose target has a free slot, and has it under way; rows and
 * texts go into the arena. False: nothing to be had now.
 */
bool source_take(struct source *source, struct arena *arena, struct operation *ret_op,
		 struct source_item *ret_item);
bool source_is_fetching(const struct source *source);  /* an answer is still to come */
bool source_is_exhausted(const struct source *source); /* of a single pass: all was taken or left */
bool source_left(const struct source *source, size_t type); /* rows of it were not taken */
