/* SPDX-License-Identifier: Apache-2.0
 *
 * What the writer puts in the place of a row that a guard held back or that came too late: each row
 * ends with one outcome, whatever the database says. The database is a script.
 */
#include "../../src/reconcile/writer.h"

#include <stdlib.h>

#include <event2/event.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "tap.h"

/* What the database says of rows with this event; the first line that fits and is not used up. */
struct scripted {
	const char *event;
	enum record_outcome outcome;
	int times;
};

static struct event_base *base;
static struct scripted script[8];
static struct strbuf written, statements, settled;

struct pending {
	struct record_batch batch;
	store_recorded_fn *done;
	void *owner;
};

static enum record_outcome
next_outcome(const char *event)
{
	for (size_t i = 0; i < ARRAY_LEN(script); i++)
		if (script[i].event && strcmp(script[i].event, event) == 0 && script[i].times > 0) {
			script[i].times--;
			return script[i].outcome;
		}
	return RECORD_DONE;
}

static void
answer(evutil_socket_t fd, short what, void *context)
{
	struct pending *pending = context;
	struct record_result results[8] = { 0 };

	for (size_t i = 0; i < pending->batch.count; i++) {
		const struct record_row *row = &pending->batch.rows[i];

		strbuf_printf(&statements, "%s%s:%s", i ? "," : "", row->operation_id, row->event);
		results[i] = (struct record_result){ next_outcome(row->event), row->revision + 1 };
	}
	strbuf_putc(&statements, ';');
	pending->done(pending->owner, results, NULL);
	free(pending);
}

/* In the place of the store's. */
void
store_record(struct db *db, const struct record_batch *batch, store_recorded_fn *done, void *owner)
{
	static const struct timeval now = { 0, 0 };
	struct pending *pending = calloc(1, sizeof(*pending));

	*pending = (struct pending){ *batch, done, owner };
	event_base_once(base, -1, EV_TIMEOUT, answer, pending, &now);
}

void
store_settle(struct db *db, const char *const *operation_ids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		strbuf_printf(&settled, "%s;", operation_ids[i]);
}

static void
on_written(void *owner, const struct writer_entry *entry, enum written outcome, int64_t revision)
{
	static const char *const names[] = { "done", "stale", "locked", "refused" };

	strbuf_printf(&written, "%s:%s:%s;", entry->row.operation_id, entry->row.event,
		      names[outcome]);
}

static void
on_progressed(void *owner)
{
}

static void
on_failed(void *owner, const struct err *err)
{
	strbuf_puts(&written, "failed;");
}

/* One batch: op-1 may be confirmed, op-2 requeued or what is there instead, op-3 closed. */
static void
write_three(struct writer *writer)
{
	struct arena *arena = writer_arena(writer);
	struct writer_entry *held = arena_new(arena, struct writer_entry);
	struct writer_entry *late = arena_new(arena, struct writer_entry);

	held->row = (struct record_row){ .operation_id = "op-2", .event = "held" };
	late->row = (struct record_row){ .operation_id = "op-2", .event = "late" };
	late->held = held;
	writer_add(writer, &(struct writer_entry){
				   .row = { .operation_id = "op-1",
					    .event = "confirmed",
					    .to = STATUS_CONFIRMED,
					    .changed = true } });
	writer_add(writer, &(struct writer_entry){
				   .row = { .operation_id = "op-2", .event = "requeued" },
				   .held = held,
				   .late = late });
	writer_add(writer, &(struct writer_entry){
				   .row = { .operation_id = "op-3",
					    .event = "closed",
					    .to = STATUS_NOT_APPLICABLE,
					    .changed = true } });
	writer_flush(writer);
	event_base_dispatch(base);
}

static const struct {
	const char *name;
	struct scripted script[3];
	const char *statements, *written;
	const char *settled; /* what ended */
} cases[] = {
	{ "everything is written",
	  { { 0 } },
	  "op-1:confirmed,op-2:requeued,op-3:closed;",
	  "op-1:confirmed:done;op-2:requeued:done;op-3:closed:done;",
	  "op-1;op-3;" },
	{ "a guard is tripped",
	  { { "requeued", RECORD_HELD, 1 } },
	  "op-1:confirmed,op-2:requeued,op-3:closed;op-2:held;",
	  "op-1:confirmed:done;op-3:closed:done;op-2:held:done;",
	  "op-1;op-3;" },
	{ "the answer is too old",
	  { { "requeued", RECORD_LATE, 1 } },
	  "op-1:confirmed,op-2:requeued,op-3:closed;op-2:late;",
	  "op-1:confirmed:done;op-3:closed:done;op-2:late:done;",
	  "op-1;op-3;" },
	{ "too old, and a guard is tripped",
	  { { "requeued", RECORD_LATE, 1 }, { "late", RECORD_HELD, 1 } },
	  "op-1:confirmed,op-2:requeued,op-3:closed;op-2:late;op-2:held;",
	  "op-1:confirmed:done;op-3:closed:done;op-2:held:done;",
	  "op-1;op-3;" },
	{ "whatever the database goes on saying, it ends",
	  { { "requeued", RECORD_LATE, 9 }, { "late", RECORD_LATE, 9 } },
	  "op-1:confirmed,op-2:requeued,op-3:closed;op-2:late;",
	  "op-1:confirmed:done;op-3:closed:done;op-2:late:stale;",
	  "op-1;op-3;" },
	{ "held, and there is nothing to write instead",
	  { { "closed", RECORD_HELD, 1 } },
	  "op-1:confirmed,op-2:requeued,op-3:closed;",
	  "op-1:confirmed:done;op-2:requeued:done;op-3:closed:stale;",
	  "op-1;" },
	{ "somebody changed it meanwhile",
	  { { "requeued", RECORD_STALE, 1 } },
	  "op-1:confirmed,op-2:requeued,op-3:closed;",
	  "op-1:confirmed:done;op-2:requeued:stale;op-3:closed:done;",
	  "op-1;op-3;" },
	{ "all of a batch is to be written again",
	  { { "confirmed", RECORD_STALE, 1 },
	    { "requeued", RECORD_HELD, 1 },
	    { "closed", RECORD_STALE, 1 } },
	  "op-1:confirmed,op-2:requeued,op-3:closed;op-2:held;",
	  "op-1:confirmed:stale;op-3:closed:stale;op-2:held:done;",
	  "" },
};

int
main(void)
{
	const struct writer_callbacks callbacks = { on_written, on_progressed, on_failed, NULL };

	base = event_base_new();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct writer_options options = { .base = base, .batch = 8 };
		struct writer *writer = writer_create(&options, &callbacks);

		memcpy(script, cases[i].script, sizeof(cases[i].script));
		strbuf_reset(&written);
		strbuf_reset(&statements);
		strbuf_reset(&settled);
		write_three(writer);
		tap_str(strbuf_text(&statements), cases[i].statements, cases[i].name);
		tap_str(strbuf_text(&written), cases[i].written, cases[i].name);
		tap_str(strbuf_text(&settled), cases[i].settled, "settled: what ended");
		tap_ok(writer_is_idle(writer), "nothing is left: %s", cases[i].name);
		writer_destroy(writer);
	}
	strbuf_finish(&written);
	strbuf_finish(&statements);
	strbuf_finish(&settled);
	event_base_free(base);
	return tap_done();
}
