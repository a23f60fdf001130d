/* SPDX-License-Identifier: Apache-2.0
 *
 * One lane for each type, one selection at a time. All pages of a single pass end at the moment at
 * which its first statement ran, so that it ends although looks make operations due again.
 */
#include "source.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/probe/engine.h"
#include "reconciled/store/work.h"

#include "fairness.h"
#include "lane.h"
#include "named.h"
#include "underway.h"

/* A page is held no longer: revisions and the clock of the database move on. */
#define PAGE_AGE_MAX_US (60 * SECOND)
/* A target that lets nothing be asked for longer is closed: no page is selected for it, and a
 * single pass leaves it. */
#define CLOSED_US (5 * SECOND)
/* Rows of all pages together, in batches: with many types the pages are smaller. */
enum { PAGES_BATCHES_MAX = 4 };

/* How soon it is noticed that a target closed or opened without a word. */
#define TICK_US SECOND

struct source {
	const struct pass_options *options;
	struct underway *underway;
	const struct fairness *fairness;
	struct source_callbacks callbacks;
	struct lane *lanes; /* of each type */
	size_t lanes_count;
	int page_rows;
	size_t turn;	   /* the lane that is served next */
	size_t fetch_turn; /* the lane that is asked next whether it wants a page */
	struct lane *fetching;
	bool is_fetching;
	bool suspended;
	bool stopped;		     /* also before the start */
	struct due_rows *named_rows; /* by id, for all lanes */
	struct event *timer;
};

static void on_rows(void *owner, struct due_rows *rows, const struct err *err);
static void on_named_rows(void *owner, struct due_rows *rows, const struct err *err);
static void on_timer(evutil_socket_t fd, short what, void *owner);

static int
page_rows(const struct pass_options *options)
{
	int types = (int)options->types_count;

	if (types <= PAGES_BATCHES_MAX)
		return options->batch;
	return PAGES_BATCHES_MAX * options->batch / types + 1;
}

struct source *
source_create(const struct pass_options *options, struct underway *underway,
	      const struct fairness *fairness, const struct source_callbacks *callbacks)
{
	struct source *source = xcalloc(1, sizeof(*source));

	assert(!options->ids || options->interval_us == 0);
	source->options = options;
	source->underway = underway;
	source->fairness = fairness;
	source->callbacks = *callbacks;
	source->stopped = true;
	source->timer = evtimer_new(options->base, on_timer, source);
	source->page_rows = page_rows(options);
	source->lanes_count = options->types_count;
	source->lanes = xcalloc(source->lanes_count, sizeof(*source->lanes));
	for (size_t i = 0; i < source->lanes_count; i++)
		lane_init(&source->lanes[i], &options->types[i], options->interval_us);
	return source;
}

void
source_destroy(struct source *source)
{
	if (!source)
		return;
	for (size_t i = 0; i < source->lanes_count; i++)
		lane_finish(&source->lanes[i]);
	free(source->lanes);
	due_rows_destroy(source->named_rows);
	event_free(source->timer);
	free(source);
}

static bool
is_single(const struct source *source)
{
	return source->options->interval_us == 0;
}

static bool
is_closed(const struct lane *lane)
{
	return lane->share.count == 0 || probe_target_closed_us(lane->type->target) > CLOSED_US;
}

/* A single pass selects also what it may have to leave, to know whether there is anything. */
static bool
may_select(const struct source *source, const struct lane *lane)
{
	return lane->state == LANE_WANTING && (is_single(source) || !is_closed(lane));
}

/* Ids under way and those of the pages in hand. The list is the caller's. */
static const char **
list_in_flight(const struct source *source, size_t *ret_count)
{
	size_t rows = 0, count;
	const char **ids;

	for (size_t i = 0; i < source->lanes_count; i++)
		rows += lane_left(&source->lanes[i]);
	ids = underway_list(source->underway, rows, &count);
	for (size_t i = 0; i < source->lanes_count; i++)
		for (size_t row = 0; row < lane_left(&source->lanes[i]); row++)
			ids[count++] = lane_operation_id(&source->lanes[i], row);
	*ret_count = count;
	return ids;
}

static void
select_page(struct source *source, struct lane *lane)
{
	const struct pass_options *options = source->options;
	struct due_request request = {
		.operation_type = lane->type->policy->operation_type,
		.share_index = lane->share.index,
		.share_count = lane->share.count > 0 ? lane->share.count : 1,
		.leave_suspects = options->note_instance_id != NULL,
		.note_instance_id = options->note_instance_id,
		.until_us = lane->until_us,
		.after_due_us = lane->place_due_us,
		.after_id = lane->place_id,
		.limit = source->page_rows,
	};
	const char **in_flight = NULL;

	if (options->note_instance_id)
		in_flight = list_in_flight(source, &request.in_flight_count);
	request.in_flight = in_flight;
	lane->state = LANE_FETCHING;
	source->fetching = lane;
	source->is_fetching = true;
	underway_selecting(source->underway);
	store_fetch_due(options->read, &request, on_rows, source);
	free(in_flight);
}

/* One page at a time, of the next lane that wants one. */
static void
refill(struct source *source)
{
	if (source->is_fetching || source->suspended || source->stopped || source->options->ids)
		return;
	for (size_t i = 0; i < source->lanes_count; i++) {
		struct lane *lane = &source->lanes[source->fetch_turn];

		source->fetch_turn = (source->fetch_turn + 1) % source->lanes_count;
		if (may_select(source, lane)) {
			select_page(source, lane);
			return;
		}
	}
}

/* When something is to be done with the lane though nobody calls; INT64_MAX: never. */
static int64_t
lane_alarm_us(const struct source *source, const struct lane *lane, int64_t now)
{
	switch (lane->state) {
	case LANE_ASLEEP:
		return lane->wake_at_us;
	case LANE_SERVING:
		return is_single(source) ? now + TICK_US : lane->fetched_us + PAGE_AGE_MAX_US;
	case LANE_WANTING:
		return lane->share.count > 0 && is_closed(lane) ? now + TICK_US : INT64_MAX;
	case LANE_FETCHING:
	case LANE_OVER:
		break;
	}
	return INT64_MAX;
}

static void
plan(struct source *source)
{
	int64_t now = clock_monotonic_us(), alarm = INT64_MAX;

	for (size_t i = 0; i < source->lanes_count; i++) {
		int64_t at = lane_alarm_us(source, &source->lanes[i], now);

		alarm = at < alarm ? at : alarm;
	}
	if (alarm == INT64_MAX || source->suspended || source->stopped) {
		evtimer_del(source->timer);
		return;
	}
	timer_set(source->timer, alarm - now);
}

static void
look_after(struct source *source, struct lane *lane, int64_t now)
{
	bool serving = lane->state == LANE_SERVING;

	if (lane->state == LANE_ASLEEP && lane->wake_at_us <= now)
		lane_begin(lane);
	else if (serving && is_single(source) && is_closed(lane))
		lane_abandon(lane);
	else if (serving && lane->owns_rows && lane->fetched_us + PAGE_AGE_MAX_US <= now)
		lane_drop(lane);
}

/* After everything that may have changed a lane. */
static void
step(struct source *source)
{
	int64_t now = clock_monotonic_us();

	for (size_t i = 0; i < source->lanes_count; i++)
		look_after(source, &source->lanes[i], now);
	refill(source);
	plan(source);
}

static void
on_timer(evutil_socket_t fd, short what, void *owner)
{
	struct source *source = owner;

	step(source);
	source->callbacks.ready(source->callbacks.owner, NULL);
}

/* All lanes of a single pass look up to the same moment. */
static void
share_moment(struct source *source, int64_t until_us)
{
	for (size_t i = 0; i < source->lanes_count; i++)
		source->lanes[i].until_us = until_us;
}

static void
on_rows(void *owner, struct due_rows *rows, const struct err *err)
{
	struct source *source = owner;
	struct lane *lane = source->fetching;

	source->is_fetching = false;
	if (!err) {
		lane_fill(lane, rows, (size_t)source->page_rows, source->underway);
		if (is_single(source))
			share_moment(source, lane->until_us);
	}
	underway_selected(source->underway);
	if (!err)
		step(source);
	source->callbacks.ready(source->callbacks.owner, err);
}

static struct lane *
lane_of(struct source *source, const char *operation_type)
{
	for (size_t i = 0; i < source->lanes_count; i++)
		if (strcmp(source->options->types[i].policy->operation_type, operation_type) == 0)
			return &source->lanes[i];
	return NULL;
}

static void
report_unknown(void *owner, const char *operation_id)
{
	struct source *source = owner;

	source->callbacks.skipped(source->callbacks.owner, operation_id, NULL, PASS_UNKNOWN);
}

/* By id anything can be named: also what takes no part in this pass. */
static void
sort_in(struct source *source, struct due_rows *rows, size_t i)
{
	const char *id = due_rows_operation_id(rows, i), *type = due_rows_operation_type(rows, i);
	struct lane *lane = lane_of(source, type);

	if (!lane)
		source->callbacks.skipped(source->callbacks.owner, id, type, PASS_NO_POLICY);
	else if (due_rows_is_paused(rows, i))
		source->callbacks.skipped(source->callbacks.owner, id, type, PASS_PAUSED);
	else
		lane_add(lane, rows, i);
}

static void
fill_by_id(struct source *source, struct due_rows *rows)
{
	const struct pass_options *options = source->options;
	struct named *named = named_create(options->ids, options->ids_count);

	for (size_t i = 0; i < due_rows_count(rows); i++) {
		named_mark(named, due_rows_operation_id(rows, i));
		sort_in(source, rows, i);
	}
	for (size_t i = 0; i < source->lanes_count; i++) {
		source->lanes[i].last_page = true;
		lane_serve(&source->lanes[i]);
	}
	named_each_unmarked(named, report_unknown, source);
	named_destroy(named);
}

static void
on_named_rows(void *owner, struct due_rows *rows, const struct err *err)
{
	struct source *source = owner;

	source->is_fetching = false;
	source->named_rows = rows;
	if (!err) {
		fill_by_id(source, rows);
		step(source);
	}
	source->callbacks.ready(source->callbacks.owner, err);
}

void
source_start(struct source *source)
{
	const struct pass_options *options = source->options;

	source->stopped = false;
	if (!options->ids) {
		step(source);
		return;
	}
	source->is_fetching = true;
	store_fetch_ids(options->read, options->ids, options->ids_count, on_named_rows, source);
}

void
source_target_ready(struct source *source)
{
	if (!source->is_fetching && !source->suspended)
		refill(source);
}

void
source_set_share(struct source *source, size_t type, struct pass_share share)
{
	struct lane *lane = &source->lanes[type];

	if (lane->share.index == share.index && lane->share.count == share.count)
		return;
	lane->share = share;
	if (!is_single(source))
		lane_begin(lane);
	step(source);
}

struct pass_share
source_share(const struct source *source, size_t type)
{
	return source->lanes[type].share;
}

int64_t
source_ended_us(const struct source *source, size_t type)
{
	return source->lanes[type].ended_us;
}

void
source_wake(struct source *source, const char *operation_type)
{
	for (size_t i = 0; i < source->lanes_count; i++)
		if (!operation_type ||
		    strcmp(source->lanes[i].type->policy->operation_type, operation_type) == 0)
			lane_wake(&source->lanes[i]);
	step(source);
}

void
source_suspend(struct source *source)
{
	source->suspended = true;
	for (size_t i = 0; i < source->lanes_count; i++)
		lane_drop(&source->lanes[i]);
	plan(source);
}

void
source_resume(struct source *source)
{
	source->suspended = false;
	step(source);
}

void
source_stop(struct source *source)
{
	source->stopped = true;
	plan(source);
}

static bool
may_serve(const struct source *source, size_t i)
{
	const struct lane *lane = &source->lanes[i];

	return lane->state == LANE_SERVING && (lane->share.count > 0 || !is_single(source)) &&
	       fairness_allows(source->fairness, i) &&
	       probe_target_room(lane->type->target, lane->type->policy) > 0;
}

bool
source_take(struct source *source, struct arena *arena, struct operation *ret_op,
	    struct source_item *ret_item)
{
	if (source->suspended || source->stopped)
		return false;
	for (size_t i = 0; i < source->lanes_count; i++) {
		size_t number = source->turn;
		struct lane *lane = &source->lanes[number];

		source->turn = (source->turn + 1) % source->lanes_count;
		if (!may_serve(source, number))
			continue;
		*ret_item = (struct source_item){ number, lane->clock_offset_us };
		lane_take(lane, arena, ret_op);
		underway_begin(source->underway, ret_op->operation_id);
		if (lane->state != LANE_SERVING) {
			refill(source);
			plan(source);
		}
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
		if (source->lanes[i].state != LANE_OVER)
			return false;
	return !source->is_fetching;
}

bool
source_left(const struct source *source, size_t type)
{
	return source->lanes[type].left;
}
