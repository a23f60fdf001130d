/* SPDX-License-Identifier: Apache-2.0
 *
 * A pass: keeps the slots full, hands verdicts to the writer, and stops asking while three batches
 * wait to be written. pump() is the only place that takes operations of the source.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/random.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/probe/engine.h"
#include "reconciled/reconcile/check.h"
#include "reconciled/reconcile/pass.h"
#include "reconciled/store/work.h"

#include "entry.h"
#include "fairness.h"
#include "row.h"
#include "solo.h"
#include "source.h"
#include "underway.h"
#include "writer.h"

enum { DRAIN_SECONDS = 5 };

enum pass_state { PASS_IDLE, PASS_RUNNING, PASS_DRAINING, PASS_OVER };

struct slot {
	struct pass *pass;
	struct check *check;
	bool taken;
	struct slot *next_free;
};

struct pass {
	struct pass_options options;
	struct pass_observer observer;
	enum pass_state state;
	struct underway *underway;
	struct fairness *fairness;
	struct source *source;
	struct solo *solo;
	struct writer *writer;
	struct slot *slots; /* max_in_flight */
	struct slot *free_slots;
	size_t busy; /* slots that are not free */
	int64_t taken;
	bool *guarded; /* of each type */
	struct row_tools tools;
	struct err failure;
	bool pumping, suspended;
	uint64_t random;
	struct event *finish;
	struct event *drain; /* DRAINING: until then targets may still answer */
};

static void pump(struct pass *pass);
static void on_judged(void *owner, struct check *check);
static void on_source_ready(void *owner, const struct err *err);
static void on_skipped(void *owner, const char *operation_id, const char *operation_type,
		       enum pass_skip why);
static void on_solo_changed(void *owner, const struct err *err);
static bool on_suspect(void *owner, const struct due_rows *rows);
static void on_finish(evutil_socket_t fd, short what, void *owner);
static void on_drain(evutil_socket_t fd, short what, void *owner);
static void on_written(void *owner, const struct writer_entry *entry, enum written outcome,
		       int64_t revision);
static void on_progressed(void *owner);
static void on_failed(void *owner, const struct err *err);

static void
create_slots(struct pass *pass)
{
	size_t count = (size_t)pass->options.max_in_flight;

	pass->slots = xcalloc(count, sizeof(*pass->slots));
	for (size_t i = 0; i < count; i++) {
		struct slot *slot = &pass->slots[i];

		slot->pass = pass;
		slot->check = check_create(on_judged, slot);
		slot->next_free = pass->free_slots;
		pass->free_slots = slot;
	}
}

static void
create_parts(struct pass *pass)
{
	const struct pass_options *options = &pass->options;
	const struct writer_options writer = {
		.base = options->base,
		.db = options->write,
		.actor = options->actor,
		.instance_id = options->instance_id,
		.batch = options->batch,
	};
	const struct source_callbacks of_source = { on_source_ready, on_skipped, pass };
	const struct solo_callbacks of_solo = { on_solo_changed, on_suspect, pass };
	const struct writer_callbacks of_writer = { on_written, on_progressed, on_failed, pass };

	pass->underway = underway_create();
	pass->fairness = fairness_create(options->types, options->types_count,
					 (size_t)options->max_in_flight);
	pass->source = source_create(options, pass->underway, pass->fairness, &of_source);
	pass->solo = solo_create(options, pass->source, &of_solo);
	pass->writer = writer_create(&writer, &of_writer);
}

struct pass *
pass_create(const struct pass_options *options, const struct pass_observer *observer)
{
	struct pass *pass = xcalloc(1, sizeof(*pass));

	pass->options = *options;
	pass->observer = *observer;
	pass->tools.evidence_key = options->evidence_key;
	pass->tools.max_verdict_age_us = options->max_verdict_age_us;
	pass->guarded = xcalloc(options->types_count, sizeof(*pass->guarded));
	pass->finish = evtimer_new(options->base, on_finish, pass);
	pass->drain = evtimer_new(options->base, on_drain, pass);
	create_parts(pass);
	create_slots(pass);
	pass->random = random_seed();
	return pass;
}

void
pass_destroy(struct pass *pass)
{
	if (!pass)
		return;
	for (int i = 0; i < pass->options.max_in_flight; i++)
		check_destroy(pass->slots[i].check);
	free(pass->slots);
	free(pass->guarded);
	solo_destroy(pass->solo);
	source_destroy(pass->source);
	writer_destroy(pass->writer);
	fairness_destroy(pass->fairness);
	underway_destroy(pass->underway);
	event_free(pass->finish);
	event_free(pass->drain);
	strbuf_finish(&pass->tools.scratch);
	free(pass);
}

/* The first free slot is taken. */
static void
slot_take(struct slot *slot)
{
	struct pass *pass = slot->pass;

	assert(slot == pass->free_slots);
	pass->free_slots = slot->next_free;
	slot->taken = true;
	pass->busy++;
	fairness_take(pass->fairness, check_subject(slot->check)->type_number);
}

static void
slot_release(struct slot *slot)
{
	struct pass *pass = slot->pass;

	fairness_give(pass->fairness, check_subject(slot->check)->type_number);
	check_reset(slot->check);
	slot->taken = false;
	slot->next_free = pass->free_slots;
	pass->free_slots = slot;
	pass->busy--;
}

/* Drops what is in flight: it stays due and is asked again by the next pass. */
static void
drop_all(struct pass *pass)
{
	for (int i = 0; i < pass->options.max_in_flight; i++) {
		struct slot *slot = &pass->slots[i];

		if (!slot->taken)
			continue;
		underway_end(pass->underway, check_subject(slot->check)->op.operation_id);
		slot_release(slot);
	}
}

static bool
limit_reached(const struct pass *pass)
{
	return pass->options.limit > 0 && pass->taken >= pass->options.limit;
}

/* The first free slot, whose check has its operation. */
static void
start_check(struct slot *slot, const struct source_item *item)
{
	struct pass *pass = slot->pass;
	struct check_subject *subject = check_subject(slot->check);
	const struct decide_context context = {
		.observe = pass->options.observe,
		.guarded = pass->guarded[item->type],
		.random = random_next(&pass->random),
	};

	subject->type = &pass->options.types[item->type];
	subject->type_number = item->type;
	subject->clock_offset_us = item->clock_offset_us;
	slot_take(slot);
	pass->taken++;
	check_start(slot->check, &context);
}

/* False: nothing to be started now. */
static bool
start_one(struct pass *pass)
{
	struct slot *slot = pass->free_slots;
	struct source_item item;

	if (!source_take(pass->source, check_arena(slot->check), &check_subject(slot->check)->op,
			 &item))
		return false;
	start_check(slot, &item);
	return true;
}

static bool
may_start(const struct pass *pass)
{
	return pass->state == PASS_RUNNING && !pass->suspended && !limit_reached(pass) &&
	       writer_has_room(pass->writer) && pass->free_slots;
}

static bool
nothing_left(const struct pass *pass)
{
	return pass->state == PASS_DRAINING || limit_reached(pass) ||
	       (pass->options.interval_us == 0 && source_is_exhausted(pass->source));
}

/* Every answer that was asked for has come. */
static bool
is_quiet(const struct pass *pass)
{
	return pass->busy == 0 && !source_is_fetching(pass->source) &&
	       !solo_is_fetching(pass->solo) &&
	       (writer_is_idle(pass->writer) || writer_has_failed(pass->writer));
}

/* Everybody else waits while suspects are asked. */
static void
follow_solo(struct pass *pass)
{
	bool on = solo_is_on(pass->solo);

	if (on == pass->suspended)
		return;
	pass->suspended = on;
	if (on)
		source_suspend(pass->source);
	else
		source_resume(pass->source);
}

/* Fills the free slots; where nothing more comes for now, has the writer write what it holds, and
 * goes on when all of it is written. */
static void
pump(struct pass *pass)
{
	bool over;

	if (pass->pumping || pass->state == PASS_IDLE || pass->state == PASS_OVER)
		return;
	pass->pumping = true;
	while (may_start(pass) && start_one(pass))
		;
	pass->pumping = false;
	over = nothing_left(pass);
	if (!over && !pass->suspended)
		return;
	if (pass->busy == 0)
		writer_flush(pass->writer);
	if (!is_quiet(pass))
		return;
	if (over) {
		timer_set(pass->finish, 0);
		return;
	}
	solo_quiet(pass->solo);
	follow_solo(pass);
}

static void
finish(struct pass *pass, const struct err *err)
{
	if (pass->state == PASS_OVER)
		return;
	pass->state = PASS_OVER;
	evtimer_del(pass->drain);
	source_stop(pass->source);
	solo_stop(pass->solo);
	pass->observer.done(pass->observer.owner, err);
}

static void
on_finish(evutil_socket_t fd, short what, void *owner)
{
	struct pass *pass = owner;

	finish(pass, pass->failure.code == ERR_NONE ? NULL : &pass->failure);
}

/* Nothing more is selected. */
static void
begin_draining(struct pass *pass)
{
	pass->state = PASS_DRAINING;
	source_stop(pass->source);
	solo_stop(pass->solo);
}

static void
fail(struct pass *pass, const struct err *err)
{
	if (pass->state == PASS_OVER)
		return;
	if (pass->failure.code == ERR_NONE)
		pass->failure = *err;
	begin_draining(pass);
	drop_all(pass);
	pump(pass);
}

void
pass_start(struct pass *pass)
{
	assert(pass->state == PASS_IDLE);
	pass->state = PASS_RUNNING;
	source_start(pass->source);
	solo_start(pass->solo);
	pump(pass);
}

void
pass_ready(struct pass *pass)
{
	if (pass->state == PASS_RUNNING)
		source_target_ready(pass->source);
	pump(pass);
}

void
pass_set_share(struct pass *pass, size_t type, struct pass_share share)
{
	assert(type < pass->options.types_count);
	source_set_share(pass->source, type, share);
}

void
pass_set_guarded(struct pass *pass, size_t type, bool guarded)
{
	assert(type < pass->options.types_count);
	pass->guarded[type] = guarded;
}

int64_t
pass_ended_us(const struct pass *pass, size_t type)
{
	return source_ended_us(pass->source, type);
}

void
pass_wake(struct pass *pass, const char *operation_type)
{
	if (pass->state == PASS_RUNNING)
		source_wake(pass->source, operation_type);
}

bool
pass_left_type(const struct pass *pass, size_t type)
{
	assert(type < pass->options.types_count);
	return source_left(pass->source, type);
}

bool
pass_left_unasked(const struct pass *pass)
{
	for (size_t i = 0; i < pass->options.types_count; i++)
		if (source_left(pass->source, i))
			return true;
	return false;
}

static void
on_drain(evutil_socket_t fd, short what, void *owner)
{
	struct pass *pass = owner;

	drop_all(pass);
	pump(pass);
}

void
pass_stop(struct pass *pass)
{
	if (pass->state != PASS_RUNNING)
		return;
	begin_draining(pass);
	timer_set(pass->drain, DRAIN_SECONDS * SECOND);
	pump(pass);
}

static void
on_source_ready(void *owner, const struct err *err)
{
	struct pass *pass = owner;

	if (err)
		fail(pass, err);
	else
		pump(pass);
}

static void
on_skipped(void *owner, const char *operation_id, const char *operation_type, enum pass_skip why)
{
	struct pass *pass = owner;

	if (pass->observer.skipped)
		pass->observer.skipped(pass->observer.owner, operation_id, operation_type, why);
}

static void
on_solo_changed(void *owner, const struct err *err)
{
	struct pass *pass = owner;

	if (err) {
		fail(pass, err);
		return;
	}
	if (pass->state == PASS_RUNNING)
		follow_solo(pass);
	pump(pass);
}

static size_t
type_number(const struct pass *pass, const char *operation_type)
{
	size_t i = 0;

	while (strcmp(pass->options.types[i].policy->operation_type, operation_type) != 0)
		i++;
	return i;
}

/* Only types of ours were asked for. */
static bool
on_suspect(void *owner, const struct due_rows *rows)
{
	struct pass *pass = owner;
	struct slot *slot = pass->free_slots;
	struct check_subject *subject = check_subject(slot->check);
	const struct source_item item = {
		.type = type_number(pass, due_rows_operation_type(rows, 0)),
		.clock_offset_us = due_rows_now_us(rows) - clock_monotonic_us(),
	};

	if (probe_target_free(pass->options.types[item.type].target) <= 0)
		return false;
	due_rows_decode(rows, 0, check_arena(slot->check), &subject->op);
	underway_begin(pass->underway, subject->op.operation_id);
	start_check(slot, &item);
	return true;
}

static void
on_judged(void *owner, struct check *check)
{
	struct slot *slot = owner;
	struct pass *pass = slot->pass;
	const struct writer_entry entry =
		entry_build(check, &pass->tools, writer_arena(pass->writer));

	slot_release(slot);
	writer_add(pass->writer, &entry);
	pump(pass);
}

static void
on_written(void *owner, const struct writer_entry *entry, enum written outcome, int64_t revision)
{
	struct pass *pass = owner;
	const struct pass_outcome told = entry_outcome(entry, outcome, revision);

	underway_end(pass->underway, entry->row.operation_id);
	if (pass->observer.outcome)
		pass->observer.outcome(pass->observer.owner, &told);
}

static void
on_progressed(void *owner)
{
	pump(owner);
}

static void
on_failed(void *owner, const struct err *err)
{
	fail(owner, err);
}
