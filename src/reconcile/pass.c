/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass: keeps the slots full, hands verdicts to the writer, and stops asking while three
 * batches wait to be written. pump() is the only place that takes operations.
 */
#include <assert.h>
#include <stdlib.h>

#include <sys/random.h>

#include <event2/event.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/reconcile/pass.h"

#include "check.h"
#include "named.h"
#include "row.h"
#include "source.h"
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
	struct source *source;
	struct writer *writer;
	struct named *named; /* NULL unless ids were given */
	struct slot *slots;  /* max_in_flight */
	struct slot *free_slots;
	struct slot *held; /* taken, but its target has no free slot */
	size_t busy;	   /* slots that are not free */
	int64_t taken;
	struct strbuf evidence;
	struct err failure;
	bool pumping;
	bool left_unasked;
	struct pass_share *shares; /* of each type */
	bool *guarded;
	uint64_t random;
	struct event *finish;
	struct event *drain; /* DRAINING: until then targets may still answer */
};

static void pump(struct pass *pass);
static void on_judged(void *owner, struct check *check);
static void on_source_ready(void *owner, const struct err *err);
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

struct pass *
pass_create(const struct pass_options *options, const struct pass_observer *observer)
{
	struct pass *pass = xcalloc(1, sizeof(*pass));
	const struct writer_options writer_options = {
		.base = options->base,
		.db = options->write,
		.actor = options->actor,
		.instance_id = options->instance_id,
		.batch = options->batch,
	};
	const struct writer_callbacks callbacks = { on_written, on_progressed, on_failed, pass };

	pass->options = *options;
	pass->observer = *observer;
	pass->shares = xcalloc(options->types_count, sizeof(*pass->shares));
	pass->guarded = xcalloc(options->types_count, sizeof(*pass->guarded));
	for (size_t i = 0; i < options->types_count; i++)
		pass->shares[i] = (struct pass_share){ 0, 1 };
	pass->source = source_create(&pass->options, on_source_ready, pass);
	pass->writer = writer_create(&writer_options, &callbacks);
	pass->finish = evtimer_new(options->base, on_finish, pass);
	pass->drain = evtimer_new(options->base, on_drain, pass);
	if (options->ids)
		pass->named = named_create(options->ids, options->ids_count);
	create_slots(pass);
	if (getrandom(&pass->random, sizeof(pass->random), 0) != sizeof(pass->random))
		pass->random = (uint64_t)(uintptr_t)pass;
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
	free(pass->shares);
	free(pass->guarded);
	source_destroy(pass->source);
	named_destroy(pass->named);
	writer_destroy(pass->writer);
	event_free(pass->finish);
	event_free(pass->drain);
	strbuf_finish(&pass->evidence);
	free(pass);
}

/* SplitMix64 (Steele, Lea, Flood 2014): spreads due times, keeps no secret. */
static uint64_t
next_random(struct pass *pass)
{
	uint64_t z = pass->random += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static struct slot *
slot_take(struct pass *pass)
{
	struct slot *slot = pass->free_slots;

	pass->free_slots = slot->next_free;
	slot->taken = true;
	pass->busy++;
	return slot;
}

static void
slot_release(struct slot *slot)
{
	struct pass *pass = slot->pass;

	check_reset(slot->check);
	slot->taken = false;
	slot->next_free = pass->free_slots;
	pass->free_slots = slot;
	pass->busy--;
}

static void
release_held(struct pass *pass)
{
	if (pass->held)
		slot_release(pass->held);
	pass->held = NULL;
}

/* Drops what is in flight: it stays due and is asked again by the next pass. */
static void
release_all(struct pass *pass)
{
	pass->held = NULL;
	for (int i = 0; i < pass->options.max_in_flight; i++)
		if (pass->slots[i].taken)
			slot_release(&pass->slots[i]);
}

static bool
limit_reached(const struct pass *pass)
{
	return pass->options.limit > 0 && pass->taken >= pass->options.limit;
}

/* The next operation that can be looked at, or NULL. */
static struct slot *
take_operation(struct pass *pass)
{
	struct slot *slot = slot_take(pass);
	struct check_subject *subject = check_subject(slot->check);
	struct source_item item;

	if (!source_take(pass->source, check_arena(slot->check), &subject->op, &item)) {
		slot_release(slot);
		return NULL;
	}
	subject->type = item.type;
	subject->paused = item.paused;
	subject->clock_offset_us = item.clock_offset_us;
	return slot;
}

static void
report_skipped(struct pass *pass, const char *operation_id, const char *operation_type,
	       enum pass_skip why)
{
	if (pass->observer.skipped)
		pass->observer.skipped(pass->observer.owner, operation_id, operation_type, why);
}

static void
report_unknown(void *owner, const char *operation_id)
{
	report_skipped(owner, operation_id, NULL, PASS_UNKNOWN);
}

static void
start_check(struct pass *pass, struct slot *slot)
{
	const struct decide_context context = {
		.observe = pass->options.observe,
		.random = next_random(pass),
	};

	pass->taken++;
	check_start(slot->check, &context);
}

/* By id anything can be named: also what takes no part in this pass. */
static bool
is_skipped(struct pass *pass, const struct check_subject *subject)
{
	const struct operation *op = &subject->op;

	if (pass->named)
		named_mark(pass->named, op->operation_id);
	if (!subject->type)
		report_skipped(pass, op->operation_id, op->operation_type, PASS_NO_POLICY);
	else if (subject->paused)
		report_skipped(pass, op->operation_id, op->operation_type, PASS_PAUSED);
	return !subject->type || subject->paused;
}

/* False: nothing to be started now. */
static bool
start_one(struct pass *pass)
{
	struct slot *slot = pass->held ? pass->held : take_operation(pass);

	pass->held = NULL;
	if (!slot)
		return false;
	if (is_skipped(pass, check_subject(slot->check))) {
		slot_release(slot);
		return true;
	}
	if (!check_can_start(slot->check)) {
		pass->held = slot;
		return false;
	}
	start_check(pass, slot);
	return true;
}

static bool
may_start(const struct pass *pass)
{
	return pass->state == PASS_RUNNING && !limit_reached(pass) &&
	       writer_has_room(pass->writer) && (pass->held || pass->free_slots);
}

static bool
nothing_left(const struct pass *pass)
{
	return pass->state == PASS_DRAINING || limit_reached(pass) ||
	       (source_is_exhausted(pass->source) && !pass->held);
}

/* Every answer that was asked for has come. */
static bool
is_quiet(const struct pass *pass)
{
	return pass->busy == 0 && !source_is_fetching(pass->source) &&
	       (writer_is_idle(pass->writer) || writer_has_failed(pass->writer));
}

/* Fills the free slots; at the end of the work, flushes the writer and finishes. */
static void
pump(struct pass *pass)
{
	static const struct timeval now = { 0, 0 };

	if (pass->pumping || pass->state == PASS_IDLE || pass->state == PASS_OVER)
		return;
	pass->pumping = true;
	while (may_start(pass) && start_one(pass))
		;
	pass->pumping = false;
	if (!nothing_left(pass))
		return;
	release_held(pass);
	if (pass->busy == 0)
		writer_flush(pass->writer);
	if (is_quiet(pass))
		evtimer_add(pass->finish, &now);
}

static void
finish(struct pass *pass, const struct err *err)
{
	if (pass->state == PASS_OVER)
		return;
	pass->state = PASS_OVER;
	evtimer_del(pass->drain);
	pass->observer.done(pass->observer.owner, err);
}

static void
on_finish(evutil_socket_t fd, short what, void *owner)
{
	struct pass *pass = owner;
	bool failed = pass->failure.code != ERR_NONE;

	if (pass->named && source_is_exhausted(pass->source))
		named_each_unmarked(pass->named, report_unknown, pass);
	finish(pass, failed ? &pass->failure : NULL);
}

static void
fail(struct pass *pass, const struct err *err)
{
	if (pass->state == PASS_OVER)
		return;
	if (pass->failure.code == ERR_NONE)
		pass->failure = *err;
	pass->state = PASS_DRAINING;
	release_all(pass);
	pump(pass);
}

void
pass_start(struct pass *pass)
{
	assert(pass->state == PASS_IDLE);
	pass->state = PASS_RUNNING;
	source_start(pass->source);
	pump(pass);
}

void
pass_ready(struct pass *pass)
{
	pump(pass);
}

void
pass_set_share(struct pass *pass, size_t type, struct pass_share share)
{
	assert(type < pass->options.types_count);
	pass->shares[type] = share;
}

void
pass_set_guarded(struct pass *pass, size_t type, bool guarded)
{
	assert(type < pass->options.types_count);
	pass->guarded[type] = guarded;
}

void
pass_wake(struct pass *pass, const char *operation_type)
{
	pump(pass);
}

bool
pass_left_unasked(const struct pass *pass)
{
	return pass->left_unasked;
}

static void
on_drain(evutil_socket_t fd, short what, void *owner)
{
	struct pass *pass = owner;

	release_all(pass);
	pump(pass);
}

void
pass_stop(struct pass *pass)
{
	static const struct timeval drain = { .tv_sec = DRAIN_SECONDS };

	if (pass->state != PASS_RUNNING)
		return;
	pass->state = PASS_DRAINING;
	evtimer_add(pass->drain, &drain);
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

/* What the observer is told about, once the row is written. */
struct note {
	const struct policy *policy;
	const char *reason, *rule;
	enum verdict_class class;
	enum action action;
	bool unavailable;
};

static void
on_judged(void *owner, struct check *check)
{
	struct slot *slot = owner;
	struct pass *pass = slot->pass;
	const struct check_subject *subject = check_subject(check);
	struct arena *arena = writer_arena(pass->writer);
	struct note *note = arena_new(arena, struct note);
	struct writer_entry entry = {
		.row = row_build(check, pass->options.evidence_key, &pass->evidence, arena),
		.owner_data = note,
		.observed = check_decision(check)->observed,
		.review_recheck_us = subject->type->policy->review_recheck_us,
	};

	*note = (struct note){
		.policy = subject->type->policy,
		.reason = entry.row.journal_reason,
		.rule = entry.row.rule,
		.class = check_verdict(check)->class,
		.action = check_decision(check)->action,
		.unavailable = check_verdict(check)->unavailable,
	};
	slot_release(slot);
	writer_add(pass->writer, &entry);
	pump(pass);
}

static void
on_written(void *owner, const struct writer_entry *entry, enum written outcome, int64_t revision)
{
	struct pass *pass = owner;
	const struct note *note = entry->owner_data;
	bool done = outcome == WRITTEN_DONE;
	bool reduced = entry->row.journal_class != note->class;
	const struct pass_outcome told = {
		.policy = note->policy,
		.operation_id = entry->row.operation_id,
		.class = entry->row.journal_class,
		.reason = entry->row.journal_reason,
		.rule = note->rule,
		.action = reduced ? ACTION_REVIEW : note->action,
		.before = entry->row.from,
		.status = done ? entry->row.to : entry->row.from,
		.revision = revision,
		.observed = entry->observed,
		.stale = outcome == WRITTEN_STALE || outcome == WRITTEN_LOCKED,
		.refused = outcome == WRITTEN_REFUSED,
		.unavailable = note->unavailable,
	};

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
