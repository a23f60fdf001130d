/* SPDX-License-Identifier: Apache-2.0
 *
 * The alternatives are decided while the look is still there: the writer only knows rows.
 */
#include "entry.h"

#include "reconciled/base/arena.h"
#include "reconciled/base/clock.h"
#include "reconciled/reconcile/check.h"

#include "row.h"

/* What the observer is told about, once the row is written. */
struct note {
	const struct policy *policy;
	const char *rule, *scope, *remote_id, *correlation_id;
	enum verdict_class class;
	enum action action;
	bool unavailable, held;
	int64_t first_sent_us; /* CLOCK_MONOTONIC; TIME_NONE */
};

static struct note *
note_build(struct check *check, const struct writer_entry *entry, const struct decision *decision,
	   struct arena *arena)
{
	const struct check_subject *subject = check_subject(check);
	const struct verdict *verdict = check_verdict(check);
	int64_t first_sent_us = subject->op.first_sent_at_us;
	struct note *note = arena_new(arena, struct note);

	*note = (struct note){
		.policy = subject->type->policy,
		.rule = entry->row.rule,
		.scope = row_copy_given(arena, subject->op.scope),
		.remote_id = entry->row.remote_id ? entry->row.remote_id
						  : row_copy_given(arena, subject->op.remote_id),
		.correlation_id = row_copy_given(arena, subject->op.correlation_id),
		.class = verdict->class,
		.action = decision->action,
		.unavailable = verdict->unavailable,
		.held = decision->held,
		.first_sent_us = first_sent_us == TIME_NONE
					 ? TIME_NONE
					 : first_sent_us - subject->clock_offset_us,
	};
	return note;
}

static struct writer_entry
build(struct check *check, const struct decision *decision, struct row_tools *tools,
      struct arena *arena)
{
	struct writer_entry entry = {
		.row = row_build(check, decision, tools, arena),
		.observed = decision->observed,
		.review_recheck_us = check_subject(check)->type->policy->review_recheck_us,
	};

	entry.owner_data = note_build(check, &entry, decision, arena);
	return entry;
}

static const struct writer_entry *
keep(const struct writer_entry *entry, struct arena *arena)
{
	struct writer_entry *kept = arena_new(arena, struct writer_entry);

	*kept = *entry;
	return kept;
}

static const struct writer_entry *
build_held(struct check *check, struct row_tools *tools, struct arena *arena)
{
	const struct decision decision = check_decide_if(check, true, false);
	struct writer_entry entry = build(check, &decision, tools, arena);

	return keep(&entry, arena);
}

/* A review for lateness draws on the guard as well. */
static const struct writer_entry *
build_late(struct check *check, const struct writer_entry *held, struct row_tools *tools,
	   struct arena *arena)
{
	const struct decision decision = check_decide_if(check, false, true);
	struct writer_entry entry = build(check, &decision, tools, arena);

	if (decision.guarded)
		entry.held = held;
	return keep(&entry, arena);
}

struct writer_entry
entry_build(struct check *check, struct row_tools *tools, struct arena *arena)
{
	const struct decision *decision = check_decision(check);
	struct writer_entry entry = build(check, decision, tools, arena);

	if (decision->guarded)
		entry.held = build_held(check, tools, arena);
	if (decision->corrects)
		entry.late = build_late(check, entry.held, tools, arena);
	return entry;
}

struct pass_outcome
entry_outcome(const struct writer_entry *entry, enum written outcome, int64_t revision)
{
	const struct note *note = entry->owner_data;
	const struct record_row *row = &entry->row;
	bool done = outcome == WRITTEN_DONE;
	bool reduced = row->journal_class != note->class;

	return (struct pass_outcome){
		.policy = note->policy,
		.operation_id = row->operation_id,
		.class = row->journal_class,
		.reason = row->journal_reason,
		.rule = note->rule,
		.scope = note->scope,
		.remote_id = note->remote_id,
		.correlation_id = note->correlation_id,
		.action = reduced ? ACTION_REVIEW : note->action,
		.before = row->from,
		.status = done ? row->to : row->from,
		.revision = revision,
		.observed = entry->observed,
		.stale = outcome == WRITTEN_STALE || outcome == WRITTEN_LOCKED,
		.refused = outcome == WRITTEN_REFUSED,
		.unavailable = note->unavailable,
		.held = note->held,
		.since_first_send_us = note->first_sent_us == TIME_NONE
					       ? TIME_NONE
					       : clock_monotonic_us() - note->first_sent_us,
	};
}
