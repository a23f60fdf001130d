/* SPDX-License-Identifier: Apache-2.0
 *
 * One function for each clause, so that none can hide behind another: all are evaluated, also when
 * an earlier one failed. What is not known counts as not met.
 */
#include "clauses.h"

#include <string.h>

#include "reconciled/base/attributes.h"

struct clause_case {
	const struct policy *policy;
	const struct operation *op;
	const struct decide_context *context;
	int64_t next_attempt_at_us;
};

static bool
needs_key(const struct clause_case *of)
{
	return of->policy->idempotent == IDEMPOTENT_KEY;
}

static bool
is_idempotent(const struct clause_case *of)
{
	return of->policy->idempotent != IDEMPOTENT_NO;
}

static bool
has_same_key(const struct clause_case *of)
{
	return !needs_key(of) || of->op->idempotency_key[0] != '\0';
}

/* The target began to keep the key when it first saw it, not when it saw it last. */
static bool
is_key_fresh(const struct clause_case *of)
{
	int64_t first_sent_at_us = of->op->first_sent_at_us;

	if (!needs_key(of))
		return true;
	return first_sent_at_us != TIME_NONE &&
	       of->next_attempt_at_us < first_sent_at_us + of->policy->key_valid_us;
}

static bool
is_attempt_over(const struct clause_case *of)
{
	return of->op->attempt_until_us == TIME_NONE ||
	       of->op->attempt_until_us < of->context->now_us;
}

static bool
is_wanted(const struct clause_case *of)
{
	return of->op->superseded_by[0] == '\0' && strcmp(of->op->entity_state, "active") == 0;
}

static bool
is_undisputed(const struct clause_case *of)
{
	return !of->op->disputed;
}

static bool
is_fresh(const struct clause_case *of)
{
	return !of->context->late;
}

static bool
is_control_found(const struct clause_case *of)
{
	return of->context->control == CONTROL_FOUND;
}

static bool
is_within_limits(const struct clause_case *of)
{
	return of->op->requeues < of->policy->requeue_max &&
	       of->op->attempts < of->policy->attempts_max;
}

static bool
is_unguarded(const struct clause_case *of)
{
	return !of->context->guarded;
}

static const struct {
	const char *name;
	bool (*holds)(const struct clause_case *of);
} clauses[CLAUSE_COUNT] = {
	[CLAUSE_IDEMPOTENT] = { "idempotent", is_idempotent },
	[CLAUSE_SAME_KEY] = { "same_key", has_same_key },
	[CLAUSE_KEY_FRESH] = { "key_fresh", is_key_fresh },
	[CLAUSE_ATTEMPT_OVER] = { "attempt_over", is_attempt_over },
	[CLAUSE_WANTED] = { "wanted", is_wanted },
	[CLAUSE_UNDISPUTED] = { "undisputed", is_undisputed },
	[CLAUSE_FRESH] = { "fresh", is_fresh },
	[CLAUSE_CONTROL] = { "control", is_control_found },
	[CLAUSE_LIMITS] = { "limits", is_within_limits },
	[CLAUSE_GUARD] = { "guard", is_unguarded },
};

const char *
clause_name(enum clause clause)
{
	return clauses[clause].name;
}

void
clauses_evaluate(const struct policy *policy, const struct operation *op,
		 const struct decide_context *context, int64_t next_attempt_in_us,
		 struct clause_result ret[static CLAUSE_COUNT])
{
	const struct clause_case of = { policy, op, context, context->now_us + next_attempt_in_us };

	for (size_t i = 0; i < ARRAY_LEN(clauses); i++)
		ret[i] = (struct clause_result){ (enum clause)i, clauses[i].holds(&of) };
}
