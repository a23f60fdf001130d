/* SPDX-License-Identifier: Apache-2.0
 *
 * A selection is a chain of pages over (due_at, operation_id) up to one moment; it ends with a page
 * that is not full. Each begins at the head: a slow transaction may commit an early due_at late.
 */
#include "lane.h"

#include <assert.h>
#include <stdlib.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/store/work.h"

#include "underway.h"

void
lane_init(struct lane *lane, const struct pass_type *type, int64_t interval_us)
{
	*lane = (struct lane){
		.type = type,
		.interval_us = interval_us,
		.share = { 0, 1 },
		.until_us = TIME_NONE,
	};
	lane_begin(lane);
}

static void
release_rows(struct lane *lane)
{
	if (lane->owns_rows)
		due_rows_destroy(lane->rows);
	lane->rows = NULL;
	lane->owns_rows = false;
	lane->count = lane->next = 0;
}

void
lane_finish(struct lane *lane)
{
	release_rows(lane);
	free(lane->order);
	free(lane->place_id);
}

/* The next page begins after row i of the page in hand. */
static void
set_place(struct lane *lane, size_t i)
{
	free(lane->place_id);
	lane->place_id = xstrdup(due_rows_operation_id(lane->rows, i));
	lane->place_due_us = due_rows_due_at_us(lane->rows, i);
}

static void
set_place_to_head(struct lane *lane)
{
	free(lane->place_id);
	lane->place_id = xstrdup("");
	lane->place_due_us = TIME_NONE;
}

void
lane_begin(struct lane *lane)
{
	release_rows(lane);
	set_place_to_head(lane);
	lane->began_us = clock_monotonic_us();
	if (lane->interval_us > 0)
		lane->until_us = TIME_NONE;
	lane->again = false;
	lane->outdated = lane->state == LANE_FETCHING;
	if (!lane->outdated)
		lane->state = LANE_WANTING;
}

void
lane_wake(struct lane *lane)
{
	if (lane->state == LANE_ASLEEP)
		lane_begin(lane);
	else
		lane->again = true;
}

void
lane_drop(struct lane *lane)
{
	if (lane->state == LANE_FETCHING)
		lane->outdated = true;
	if (lane->state != LANE_SERVING)
		return;
	if (lane->next > 0)
		set_place(lane, lane->order[lane->next - 1]);
	release_rows(lane);
	lane->state = LANE_WANTING;
}

void
lane_abandon(struct lane *lane)
{
	release_rows(lane);
	lane->state = LANE_OVER;
	lane->left = true;
}

/* Nothing is left of the page. */
static void
page_done(struct lane *lane)
{
	if (!lane->last_page)
		set_place(lane, due_rows_count(lane->rows) - 1);
	release_rows(lane);
	if (lane->last_page)
		lane->ended_us = clock_wall_us();
	if (!lane->last_page)
		lane->state = LANE_WANTING;
	else if (lane->interval_us == 0)
		lane->state = LANE_OVER;
	else if (lane->again)
		lane_begin(lane);
	else
		lane->state = LANE_ASLEEP;
	lane->wake_at_us = lane->began_us + lane->interval_us;
}

void
lane_fill(struct lane *lane, struct due_rows *rows, size_t page_rows,
	  const struct underway *underway)
{
	size_t count = due_rows_count(rows);

	assert(lane->state == LANE_FETCHING && !lane->rows);
	lane->state = LANE_WANTING;
	if (lane->outdated) {
		lane->outdated = false;
		due_rows_destroy(rows);
		return;
	}
	lane->rows = rows;
	lane->owns_rows = true;
	lane->last_page = count < page_rows;
	if (lane->until_us == TIME_NONE)
		lane->until_us = due_rows_now_us(rows);
	if (!lane->order)
		lane->order = xcalloc(page_rows, sizeof(*lane->order));
	for (size_t i = 0; i < count; i++)
		if (!underway_has(underway, due_rows_operation_id(rows, i)))
			lane->order[lane->count++] = i;
	lane_serve(lane);
}

void
lane_add(struct lane *lane, struct due_rows *rows, size_t i)
{
	if (!lane->order)
		lane->order = xcalloc(due_rows_count(rows), sizeof(*lane->order));
	lane->rows = rows;
	lane->order[lane->count++] = i;
}

void
lane_serve(struct lane *lane)
{
	lane->state = LANE_SERVING;
	lane->fetched_us = clock_monotonic_us();
	if (lane->rows)
		lane->clock_offset_us = due_rows_now_us(lane->rows) - lane->fetched_us;
	if (lane->count == 0)
		page_done(lane);
}

size_t
lane_left(const struct lane *lane)
{
	return lane->count - lane->next;
}

const char *
lane_operation_id(const struct lane *lane, size_t i)
{
	return due_rows_operation_id(lane->rows, lane->order[lane->next + i]);
}

void
lane_take(struct lane *lane, struct arena *arena, struct operation *ret_op)
{
	assert(lane->state == LANE_SERVING && lane->next < lane->count);
	due_rows_decode(lane->rows, lane->order[lane->next++], arena, ret_op);
	if (lane->next == lane->count)
		page_done(lane);
}
