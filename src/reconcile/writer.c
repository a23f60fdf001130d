/* SPDX-License-Identifier: Apache-2.0
 *
 * The batch writer. A batch is a list of entries with an arena for their texts; it is written as
 * one statement, and when the database refuses or a lock is not to be had, as two halves, and so on
 * down to the one row. Order of batches is kept; only the first is being written.
 */
#include <assert.h>
#include <stdlib.h>

#include <event2/event.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/log.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/store/work.h"

#include "writer.h"

enum {
	UNWRITTEN_MAX = 3, /* batches */
	REFUSALS_MAX = 3,
	LOCK_WAITS_MAX = 20, /* with nothing written in between; each takes half a second */
	RANGES_MAX = 32,     /* halving 2^31 rows needs no more */
};

#define LINGER_US (50 * MILLISECOND)

/* What is wrong with one row is often wrong with all of them: it is told so rarely. */
#define TOLD_EVERY_US MINUTE

struct range {
	size_t begin, end;
};

struct batch {
	struct batch *next;
	struct arena *arena;
	struct writer_entry *entries;
	size_t count;
	bool closed;			 /* takes no more entries */
	struct range ranges[RANGES_MAX]; /* still to be written; a stack */
	size_t ranges_count;
};

struct writer {
	struct writer_options options;
	struct writer_callbacks callbacks;
	struct batch *first, *last; /* last is the one being filled */
	struct batch *spare;	    /* emptied ones, kept with their memory */
	size_t unwritten;
	struct record_row *rows; /* of the statement under way */
	struct range writing;
	bool is_writing, has_failed;
	int lock_waits;					       /* since something was written */
	int64_t told_refused_us, told_lost_us, told_locked_us; /* CLOCK_MONOTONIC; 0: not yet */
	struct event *linger;
};

static void write_next(struct writer *writer);

static struct batch *
batch_create(const struct writer *writer)
{
	struct batch *batch = xcalloc(1, sizeof(*batch));

	batch->arena = arena_create();
	batch->entries = xcalloc((size_t)writer->options.batch, sizeof(*batch->entries));
	return batch;
}

static void
batch_destroy(struct batch *batch)
{
	arena_destroy(batch->arena);
	free(batch->entries);
	free(batch);
}

static void
destroy_all(struct batch *batch)
{
	while (batch) {
		struct batch *next = batch->next;

		batch_destroy(batch);
		batch = next;
	}
}

static void
on_linger(evutil_socket_t fd, short what, void *owner)
{
	writer_flush(owner);
}

struct writer *
writer_create(const struct writer_options *options, const struct writer_callbacks *callbacks)
{
	struct writer *writer = xcalloc(1, sizeof(*writer));

	writer->options = *options;
	writer->callbacks = *callbacks;
	writer->rows = xcalloc((size_t)options->batch, sizeof(*writer->rows));
	writer->linger = evtimer_new(options->base, on_linger, writer);
	return writer;
}

void
writer_destroy(struct writer *writer)
{
	if (!writer)
		return;
	destroy_all(writer->first);
	destroy_all(writer->spare);
	event_free(writer->linger);
	free(writer->rows);
	free(writer);
}

bool
writer_has_room(const struct writer *writer)
{
	return !writer->has_failed && writer->unwritten < UNWRITTEN_MAX;
}

bool
writer_is_idle(const struct writer *writer)
{
	return writer->first == NULL;
}

bool
writer_has_failed(const struct writer *writer)
{
	return writer->has_failed;
}

static struct batch *
batch_take(struct writer *writer)
{
	struct batch *batch = writer->spare;

	if (!batch)
		return batch_create(writer);
	writer->spare = batch->next;
	batch->next = NULL;
	return batch;
}

/* The batch that is being filled; a new one when the last was closed. */
static struct batch *
open_batch(struct writer *writer)
{
	struct batch *batch = writer->last;

	if (batch && !batch->closed)
		return batch;
	batch = batch_take(writer);
	if (writer->last)
		writer->last->next = batch;
	else
		writer->first = batch;
	writer->last = batch;
	return batch;
}

struct arena *
writer_arena(struct writer *writer)
{
	return open_batch(writer)->arena;
}

static void
close_batch(struct writer *writer, struct batch *batch)
{
	batch->closed = true;
	batch->ranges[batch->ranges_count++] = (struct range){ 0, batch->count };
	writer->unwritten++;
	evtimer_del(writer->linger);
	write_next(writer);
}

void
writer_add(struct writer *writer, const struct writer_entry *entry)
{
	struct batch *batch = open_batch(writer);

	batch->entries[batch->count++] = *entry;
	if (batch->count == (size_t)writer->options.batch)
		close_batch(writer, batch);
	else if (batch->count == 1)
		timer_set(writer->linger, LINGER_US);
}

void
writer_flush(struct writer *writer)
{
	struct batch *batch = writer->last;

	if (batch && !batch->closed && batch->count > 0)
		close_batch(writer, batch);
}

static void
report(struct writer *writer, const struct writer_entry *entry, enum written outcome,
       int64_t revision)
{
	writer->callbacks.written(writer->callbacks.owner, entry, outcome, revision);
}

/* What can be stored of a row that was refused: first without what came from outside, then to a
 * person. */
static void
reduce(struct writer_entry *entry)
{
	struct record_row *row = &entry->row;

	row->evidence = "{\"not_storable\":true}";
	row->evidence_digest = "";
	row->remote_id = NULL;
	if (entry->refusals < REFUSALS_MAX || entry->observed || status_is_final(row->from))
		return;
	*row = (struct record_row){
		.operation_id = row->operation_id,
		.operation_type = row->operation_type,
		.revision = row->revision,
		.checks = row->checks,
		.from = row->from,
		.to = STATUS_MANUAL_REVIEW,
		.changed = true,
		.class = CLASS_AMBIGUOUS,
		.reason = "not_storable",
		.recommended_action = action_name(ACTION_REVIEW),
		.earned = { .since_us = TIME_NONE },
		.disputed = true, /* what was seen is lost: it never confirms itself */
		.due_was_us = row->due_was_us,
		.due = true,
		.due_in_us = entry->review_recheck_us,
		.event = "review",
		.action = action_name(ACTION_REVIEW),
		.rule = row->rule,
		.evidence = row->evidence,
		.evidence_digest = "",
		.policy_digest = row->policy_digest,
		.journal_class = CLASS_AMBIGUOUS,
		.journal_reason = "not_storable",
		.outbox_type = row->from == STATUS_MANUAL_REVIEW ? NULL : "operation.review",
		.tally_class = CLASS_AMBIGUOUS,
		.tally_action = ACTION_REVIEW,
		.guarded = row->from != STATUS_MANUAL_REVIEW,
		.carry_out_until_us = TIME_NONE,
	};
}

/* The level of a line that stands for those of the next minute. */
static enum log_level
once_a_minute(enum log_level level, int64_t *told_us)
{
	int64_t now = clock_monotonic_us();

	if (*told_us != 0 && now - *told_us < TOLD_EVERY_US)
		return LOG_LEVEL_DEBUG;
	*told_us = now;
	return level;
}

static void
push_range(struct batch *batch, size_t begin, size_t end)
{
	assert(batch->ranges_count < RANGES_MAX);
	if (begin < end)
		batch->ranges[batch->ranges_count++] = (struct range){ begin, end };
}

static void
tell_refusal(struct writer *writer, const struct writer_entry *entry, const struct err *err)
{
	bool lost = entry->refusals > REFUSALS_MAX;
	int64_t *told_us = lost ? &writer->told_lost_us : &writer->told_refused_us;

	log_at(once_a_minute(LOG_LEVEL_WARNING, told_us),
	       lost ? "the database refuses to store a verdict, the operation stays as it was"
		    : "the database refuses a verdict",
	       F_STR("operation_id", entry->row.operation_id),
	       F_STR("operation_type", entry->row.operation_type),
	       F_INT("refusal", entry->refusals), F_STR("error", err->text));
}

/* A single row that the database refuses. */
static void
refused_row(struct writer *writer, struct batch *batch, const struct err *err)
{
	struct writer_entry *entry = &batch->entries[writer->writing.begin];

	entry->refusals++;
	tell_refusal(writer, entry, err);
	if (entry->refusals > REFUSALS_MAX) {
		report(writer, entry, WRITTEN_REFUSED, entry->row.revision);
		return;
	}
	reduce(entry);
	push_range(batch, writer->writing.begin, writer->writing.end);
}

/* One row, or all that are left to try where much is locked: halving on would take minutes. */
static void
locked_rows(struct writer *writer, struct batch *batch)
{
	const struct range *range = &writer->writing;

	log_at(once_a_minute(LOG_LEVEL_INFO, &writer->told_locked_us),
	       "rows of operations are locked, their verdicts are dropped",
	       F_STR("operation_id", batch->entries[range->begin].row.operation_id),
	       F_INT("count", (int64_t)(range->end - range->begin)));
	for (size_t i = range->begin; i < range->end; i++)
		report(writer, &batch->entries[i], WRITTEN_LOCKED, batch->entries[i].row.revision);
}

static void
halve(struct writer *writer, struct batch *batch)
{
	size_t middle = writer->writing.begin + (writer->writing.end - writer->writing.begin) / 2;

	push_range(batch, middle, writer->writing.end);
	push_range(batch, writer->writing.begin, middle);
}

static void
not_written(struct writer *writer, struct batch *batch, const struct err *err)
{
	bool single = writer->writing.end - writer->writing.begin == 1;

	if (err->code == ERR_BUSY && (single || ++writer->lock_waits > LOCK_WAITS_MAX))
		locked_rows(writer, batch);
	else if (single)
		refused_row(writer, batch, err);
	else
		halve(writer, batch);
}

/* What takes the place of an entry that was not written, or NULL. Every alternative has fewer of
 * its own, so this ends. */
static const struct writer_entry *
alternative(const struct writer_entry *entry, enum record_outcome outcome)
{
	switch (outcome) {
	case RECORD_HELD:
		return entry->held;
	case RECORD_LATE:
		return entry->late;
	case RECORD_STALE:
	case RECORD_DONE:
		break;
	}
	return NULL;
}

/* Whoever repeats a request that an ended operation belongs to gets its answer. */
static void
settle(const struct writer *writer, const struct batch *batch, const struct record_result *results)
{
	const char **ids = xcalloc(writer->writing.end - writer->writing.begin, sizeof(*ids));
	size_t count = 0;

	for (size_t i = writer->writing.begin; i < writer->writing.end; i++) {
		const struct record_row *row = &batch->entries[i].row;

		if (results[i - writer->writing.begin].outcome == RECORD_DONE && row->changed &&
		    status_is_final(row->to))
			ids[count++] = row->operation_id;
	}
	if (count > 0)
		store_settle(writer->options.db, ids, count);
	free(ids);
}

/* The statement went through. Entries that have to be written otherwise move to the front of the
 * range and are next. */
static void
all_written(struct writer *writer, struct batch *batch, const struct record_result *results)
{
	size_t begin = writer->writing.begin, again = begin;

	writer->lock_waits = 0;
	settle(writer, batch, results);
	for (size_t i = begin; i < writer->writing.end; i++) {
		const struct record_result *result = &results[i - begin];
		struct writer_entry *entry = &batch->entries[i];
		const struct writer_entry *other = alternative(entry, result->outcome);

		if (other)
			batch->entries[again++] = *other;
		else
			report(writer, entry,
			       result->outcome == RECORD_DONE ? WRITTEN_DONE : WRITTEN_STALE,
			       result->revision);
	}
	push_range(batch, begin, again);
}

/* Emptied, but with its memory, so that the next batch asks malloc for little. */
static void
batch_finish(struct writer *writer)
{
	struct batch *batch = writer->first;

	writer->first = batch->next;
	if (!writer->first)
		writer->last = NULL;
	writer->unwritten--;
	arena_reset(batch->arena);
	batch->count = 0;
	batch->closed = false;
	batch->next = writer->spare;
	writer->spare = batch;
}

static void
on_recorded(void *owner, const struct record_result *results, const struct err *err)
{
	struct writer *writer = owner;
	struct batch *batch = writer->first;

	writer->is_writing = false;
	if (err && err->code != ERR_BUSY && err->code != ERR_INVALID) {
		writer->has_failed = true;
		writer->callbacks.failed(writer->callbacks.owner, err);
		return;
	}
	if (err)
		not_written(writer, batch, err);
	else
		all_written(writer, batch, results);
	if (batch->ranges_count == 0)
		batch_finish(writer);
	write_next(writer);
	writer->callbacks.progressed(writer->callbacks.owner);
}

/* Starts the statement for the next range of the first closed batch, if none is under way. */
static void
write_next(struct writer *writer)
{
	struct batch *batch = writer->first;
	struct record_batch statement = {
		.actor = writer->options.actor,
		.instance_id = writer->options.instance_id,
		.rows = writer->rows,
	};

	if (writer->is_writing || writer->has_failed || !batch || !batch->closed)
		return;
	writer->writing = batch->ranges[--batch->ranges_count];
	for (size_t i = writer->writing.begin; i < writer->writing.end; i++)
		writer->rows[statement.count++] = batch->entries[i].row;
	writer->is_writing = true;
	store_record(writer->options.db, &statement, on_recorded, writer);
}
