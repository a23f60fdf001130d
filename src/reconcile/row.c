/* SPDX-License-Identifier: Apache-2.0
 *
 * What of a look is stored.
 */
#include <string.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/evidence.h"

#include "check.h"
#include "row.h"

static const char *
copy(struct arena *arena, const char *text)
{
	return text ? arena_strdup(arena, text) : NULL;
}

/* For people: in review, or what would have been done in observe mode. */
static const char *
recommended_name(const struct decision *decision)
{
	bool shown = decision->observed || decision->status == STATUS_MANUAL_REVIEW;

	return shown && decision->recommended != ACTION_WAIT ? action_name(decision->recommended)
							     : NULL;
}

static const char *
copy_given(struct arena *arena, const char *text)
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
	row->reason = copy_given(arena, says_why ? verdict->reason : op->reason);
	row->recommended_action =
		is_verdict ? recommended_name(decision) : copy_given(arena, op->recommended_action);
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

struct record_row
row_build(struct check *check, struct hmac *evidence_key, struct strbuf *scratch,
	  struct arena *arena)
{
	const struct policy *policy = check_subject(check)->type->policy;
	const struct operation *op = &check_subject(check)->op;
	const struct verdict *verdict = check_verdict(check);
	const struct decision *decision = check_decision(check);
	struct record_row row = {
		.operation_id = arena_strdup(arena, op->operation_id),
		.operation_type = policy->operation_type,
		.revision = op->revision,
		.checks = op->checks,
		.from = op->status,
		.to = decision->status,
		.disputed = decision->disputed,
		.due_was_us = op->due_at_us,
		.due = decision->due,
		.due_in_us = decision->due_in_us,
		.closed_reason = copy(arena, decision->closed_reason),
		.remote_id = remote_id_of(verdict, decision, arena),
		.event = decision->event,
		.action = action_name(decision->action),
		.rule = copy(arena, verdict->rule),
		.policy_digest = policy->digest,
		.outbox_type = decision->outbox_type,
		.tally_class = verdict->class,
		.tally_action = decision->action,
	};
	const struct evidence_of of = { policy, op, check_look(check), verdict, decision };
	char digest[65];

	fill_verdict(&row, op, verdict, decision, arena);
	strbuf_reset(scratch);
	evidence_write(scratch, check_arena(check), evidence_key, &of, digest);
	row.changed =
		decision->changed || (decision->event && strcmp(digest, op->evidence_digest) != 0);
	row.evidence = arena_strndup(arena, scratch->data, scratch->len);
	row.evidence_digest = arena_strdup(arena, digest);
	return row;
}
