/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyset pages over (due_at, operation_id) for each type. All pages of a pass end at the moment at
 * which its first statement ran, so that a pass ends although looks make operations due again.
 */
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/probe/engine.h"
#include "reconciled/store/work.h"

#include "source.h"

/* The rows of one type that were selected and not yet taken. */
struct lane {
	const struct pass_type *type; /* NULL: rows by id, of any type */
	struct due_rows *rows;
	size_t next;
	int64_t clock_offset_us;
	int64_t last_due_us; /* where the next page begins */
	char *last_id;
	bool exhausted;
};

struct source {
	const struct pass_options *options;
	source_ready_fn *ready;
	void *owner;
	struct lane *lanes;
	size_t lanes_count;
	size_t turn;	 /* the lane that is served next */
	size_t fetching; /* the lane that a page is being selected for */
	bool is_fetching;
	int64_t until_us; /* TIME_NONE before the first page */
	int page_rows;
};

static void on_rows(void *owner, struct due_rows *rows, const struct err *err);

struct source *
source_create(const struct pass_options *options, source_ready_fn *ready, void *owner)
{
	struct source *source = xcalloc(1, sizeof(*source));

	source->options = options;
	source->ready = ready;
	source->owner = owner;
	source->lanes_count = options->ids ? 1 : options->types_count;
	source->lanes = xcalloc(source->lanes_count, sizeof(*source->lanes));
	source->until_us = TIME_NONE;
	source->page_rows = options->batch;
	for (size_t i = 0; i < source->lanes_count; i++) {
		source->lanes[i].type = options->ids ? NULL : &options->types[i];
		source->lanes[i].last_due_us = TIME_NONE;
		source->lanes[i].last_id = xstrdup("");
	}
	return source;
}

void
source_destroy(struct source *source)
{
	if (!source)
		return;
	for (size_t i = 0; i < source->lanes_count; i++) {
		due_rows_destroy(source->lanes[i].rows);
		free(source->lanes[i].last_id);
	}
	free(source->lanes);
	free(source);
}

static bool
is_empty(const struct lane *lane)
{
	return !lane->rows || lane->next >= due_rows_count(lane->rows);
}

static void
select_page(struct source *source, struct lane *lane)
{
	const struct pass_options *options = source->options;
	const struct due_request request = {
		.operation_type = lane->type ? lane->type->policy->operation_type : NULL,
		.until_us = source->until_us,
		.after_due_us = lane->last_due_us,
		.after_id = lane->last_id,
		.limit = source->page_rows,
	};

	source->is_fetching = true;
	source->fetching = (size_t)(lane - source->lanes);
	if (options->ids)
		store_fetch_ids(options->read, options->ids, options->ids_count, on_rows, source);
	else
		store_fetch_due(options->read, &request, on_rows, source);
}

/* One page at a time, of the first lane from the turn on that is empty and may have more. */
static void
refill(struct source *source)
{
	if (source->is_fetching)
		return;
	for (size_t i = 0; i < source->lanes_count; i++) {
		struct lane *lane = &source->lanes[(source->turn + i) % source->lanes_count];

		if (is_empty(lane) && !lane->exhausted) {
			select_page(source, lane);
			return;
		}
	}
}

static void
on_rows(void *owner, struct due_rows *rows, const struct err *err)
{
	struct source *source = owner;
	struct lane *lane = &source->lanes[source->fetching];

	source->is_fetching = false;
	if (err) {
		source->ready(source->owner, err);
		return;
	}
	due_rows_destroy(lane->rows);
	lane->rows = rows;
	lane->next = 0;
	lane->clock_offset_us = due_rows_now_us(rows) - clock_monotonic_us();
	if (source->until_us == TIME_NONE)
		source->until_us = due_rows_now_us(rows);
	lane->exhausted = source->options->ids || due_rows_count(rows) < (size_t)source->page_rows;
	refill(source);
	source->ready(source->owner, NULL);
}

void
source_start(struct source *source)
{
	refill(source);
}

static const struct pass_type *
type_named(const struct pass_options *options, const char *operation_type)
{
	for (size_t i = 0; i < options->types_count; i++)
		if (strcmp(options->types[i].policy->operation_type, operation_type) == 0)
			return &options->types[i];
	return NULL;
}

static void
remember_place(struct lane *lane, const struct operation *op)
{
	lane->last_due_us = op->due_at_us;
	free(lane->last_id);
	lane->last_id = xstrdup(op->operation_id);
}

static void
take_row(struct source *source, struct lane *lane, struct arena *arena, struct operation *ret_op)
{
	due_rows_decode(lane->rows, lane->next, arena, ret_op);
	lane->next++;
	if (is_empty(lane)) {
		remember_place(lane, ret_op);
		refill(source);
	}
}

static bool
may_serve(const struct lane *lane)
{
	return !is_empty(lane) && (!lane->type || probe_target_free(lane->type->target) > 0);
}

bool
source_take(struct source *source, struct arena *arena, struct operation *ret_op,
	    struct source_item *ret_item)
{
	for (size_t i = 0; i < source->lanes_count; i++) {
		struct lane *lane = &source->lanes[source->turn];

		source->turn = (source->turn + 1) % source->lanes_count;
		if (!may_serve(lane))
			continue;
		ret_item->paused = !lane->type && due_rows_is_paused(lane->rows, lane->next);
		take_row(source, lane, arena, ret_op);
		ret_item->type = lane->type ? lane->type
					    : type_named(source->options, ret_op->operation_type);
		ret_item->clock_offset_us = lane->clock_offset_us;
		return true;
	}
	return false;
}

bool
source_is_fetching(const struct source *source)
{
	return source->is_fetching;
}

bool
source_is_exhausted(const struct source *source)
{
	for (size_t i = 0; i < source->lanes_count; i++)
		if (!source->lanes[i].exhausted || !is_empty(&source->lanes[i]))
			return false;
	return !source->is_fetching;
}
