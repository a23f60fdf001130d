/* SPDX-License-Identifier: Apache-2.0
 *
 * What of a look is stored.
 */
#include <string.h>

#include "reconciled/base/arena.h"
#include "reconciled/core/evidence.h"
#include "reconciled/reconcile/check.h"

#include "row.h"

static const char *
copy(struct arena *arena, const char *text)
{
	return text ? arena_strdup(arena, text) : NULL;
}

/* For people: in review, while observing, and while a guard holds it back. */
static const char *
recommended_name(const struct decision *decision)
{
	return decision->recommended != ACTION_WAIT ? action_name(decision->recommended) : NULL;
}

const char *
row_copy_given(struct arena *arena, const char *text)
{
	return *text ? arena_strdup(arena, text) : NULL;
}

/*
 * What the row carries afterwards: a verdict replaces everything, a look without one gives the
 * reason only as long as there was none.
 */
static void
fill_verdict(struct record_row *row, const struct operation *op, const struct verdict *verdict,
	     const struct decision *decision, struct arena *arena)
{
	bool is_verdict = class_is_verdict(verdict->class);
	bool says_why = is_verdict || op->class == CLASS_NONE;

	row->class = is_verdict ? verdict->class : op->class;
	row->reason = row_copy_given(arena, says_why ? verdict->reason : op->reason);
	row->recommended_action = is_verdict ? recommended_name(decision)
					     : row_copy_given(arena, op->recommended_action);
	row->journal_class = verdict->class;
	row->journal_reason = copy(arena, verdict->reason);
	row->earned = verdict->earned;
}

/* What was found but not confirmed by this look may be somebody else's. */
static const char *
remote_id_of(const struct verdict *verdict, const struct decision *decision, struct arena *arena)
{
	bool confirms = decision->action == ACTION_CONFIRM && !decision->observed;

	return confirms ? copy(arena, verdict->remote_id) : NULL;
}

/* Until when a correction may start on what this look saw. */
static int64_t
carry_out_until_us(const struct check *check, const struct decision *decision,
		   const struct row_tools *tools)
{
	if (!decision->corrects || tools->max_verdict_age_us == 0)
		return TIME_NONE;
	return check_answered_us(check) + tools->max_verdict_age_us;
}

static void
fill_decision(struct record_row *row, const struct decision *decision, struct arena *arena)
{
	row->to = decision->status;
	row->disputed = decision->disputed;
	row->due = decision->due;
	row->due_in_us = decision->due_in_us;
	row->closed_reason = copy(arena, decision->closed_reason);
	row->event = decision->event;
	row->action = action_name(decision->action);
	row->outbox_type = decision->outbox_type;
	row->tally_action = decision->action;
	row->requeue = decision->corrects && decision->action == ACTION_REQUEUE;
	row->next_attempt_in_us = decision->next_attempt_in_us;
	row->guarded = decision->guarded;
	row->postponed = decision->postponed;
	row->announces = decision->announces;
}

static void
fill_evidence(struct record_row *row, struct check *check, const struct decision *decision,
	      struct row_tools *tools, struct arena *arena)
{
	const struct operation *op = &check_subject(check)->op;
	const struct evidence_of of = {
		.policy = check_subject(check)->type->policy,
		.op = op,
		.look = check_look(check),
		.verdict = check_verdict(check),
		.decision = decision,
	};
	char digest[HASH_SHA256_HEX];

	strbuf_reset(&tools->scratch);
	evidence_write(&tools->scratch, check_arena(check), tools->evidence_key, &of, digest);
	row->changed =
		decision->changed || (decision->event && strcmp(digest, op->evidence_digest) != 0);
	row->evidence = arena_strndup(arena, tools->scratch.data, tools->scratch.len);
	row->evidence_digest = arena_strdup(arena, digest);
}

struct record_row
row_build(struct check *check, const struct decision *decision, struct row_tools *tools,
	  struct arena *arena)
{
	const struct policy *policy = check_subject(check)->type->policy;
	const struct operation *op = &check_subject(check)->op;
	const struct verdict *verdict = check_verdict(check);
	struct record_row row = {
		.operation_id = arena_strdup(arena, op->operation_id),
		.operation_type = policy->operation_type,
		.revision = op->revision,
		.checks = op->checks,
		.from = op->status,
		.due_was_us = op->due_at_us,
		.remote_id = remote_id_of(verdict, decision, arena),
		.rule = copy(arena, verdict->rule),
		.policy_digest = policy->digest,
		.tally_class = verdict->class,
		.carry_out_until_us = carry_out_until_us(check, decision, tools),
	};

	fill_decision(&row, decision, arena);
	fill_verdict(&row, op, verdict, decision, arena);
	fill_evidence(&row, check, decision, tools, arena);
	return row;
}
