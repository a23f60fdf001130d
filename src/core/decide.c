/* SPDX-License-Identifier: Apache-2.0
 *
 * The decision table, and what follows from the row that fired: status, events, next look.
 */
#include "reconciled/core/decide.h"

#include <assert.h>
#include <string.h>

#include "clauses.h"
#include "earned.h"
#include "pickup.h"

#include "reconciled/core/backoff.h"

struct decide_case {
	const struct policy *policy;
	const struct operation *op;
	const struct verdict *verdict;
	const struct decide_context *context;
	enum action asked; /* by the policy for this class and operation */
	bool observed;	   /* nothing is carried out */
	/* Of a requeue that is asked for, else none. */
	struct clause_result clauses[CLAUSE_COUNT];
	size_t clauses_count;
	int64_t next_attempt_in_us;
	/* What would follow if no guard was tripped; NULL: none is, or nothing is carried out. */
	const struct decision_row *unguarded;
};

enum { LATE_MAX = 3 }; /* the answer that comes too late for so many times in a row is reviewed */

#define BIT(action) (1u << (action))

/* What may be asked for a class, and what happens when a policy asks for nothing. */
static const struct {
	enum action standard;
	unsigned allowed;
} askable[CLASS_COUNT] = {
	[CLASS_CORRECT] = { ACTION_CONFIRM, BIT(ACTION_CONFIRM) },
	[CLASS_MISSING] = { ACTION_REVIEW, BIT(ACTION_REQUEUE) | BIT(ACTION_CLOSE) },
	[CLASS_DIVERGENT] = { ACTION_REVIEW, BIT(ACTION_COMPENSATE) | BIT(ACTION_CLOSE) },
	[CLASS_AMBIGUOUS] = { ACTION_REVIEW, 0 },
	[CLASS_NOT_APPLICABLE] = { ACTION_CLOSE, BIT(ACTION_CLOSE) },
};

static bool
is_compensating(const struct decide_case *of)
{
	return of->op->status == STATUS_COMPENSATING;
}

static bool
is_final(const struct decide_case *of)
{
	return status_is_final(of->op->status);
}

static bool
is_disputed(const struct decide_case *of)
{
	return of->op->disputed;
}

static bool
is_held(const struct decide_case *of)
{
	return of->op->status == STATUS_MANUAL_REVIEW && !of->policy->review_auto_confirm;
}

static bool
waits_for_worker(const struct decide_case *of)
{
	return of->op->status == STATUS_RETRY_SCHEDULED || of->op->status == STATUS_PENDING;
}

/* What was there before is not the work of an operation that nobody has sent yet. */
static bool
is_before_its_send(const struct decide_case *of)
{
	return of->op->first_sent_at_us == TIME_NONE &&
	       strcmp(of->verdict->reason, reason_name(REASON_OLDER)) == 0;
}

static bool
asks_confirm(const struct decide_case *of)
{
	return of->asked == ACTION_CONFIRM;
}

static bool
asks_requeue(const struct decide_case *of)
{
	return of->asked == ACTION_REQUEUE;
}

/* From review a person sends again, from where a worker has yet to begin there is no need to. */
static bool
wants_requeue(const struct decide_case *of)
{
	return asks_requeue(of) && (of->op->status == STATUS_PROCESSING ||
				    of->op->status == STATUS_AWAITING_CONFIRMATION);
}

/* Clauses that do not hold, as bits. */
static unsigned int
failed_clauses(const struct decide_case *of)
{
	unsigned int failed = 0;

	for (size_t i = 0; i < of->clauses_count; i++)
		if (!of->clauses[i].ok)
			failed |= BIT(of->clauses[i].clause);
	return failed;
}

static bool
may_requeue(const struct decide_case *of)
{
	return wants_requeue(of) && failed_clauses(of) == 0;
}

/* Only the answer is too old; a guard that is tripped as well does not make it a case. */
static bool
is_late_again(const struct decide_case *of)
{
	return wants_requeue(of) && of->context->late &&
	       (failed_clauses(of) & ~(BIT(CLAUSE_FRESH) | BIT(CLAUSE_GUARD))) == 0;
}

static bool
is_late(const struct decide_case *of)
{
	return is_late_again(of) && of->op->postponed + 1 < LATE_MAX;
}

static bool
asks_compensate(const struct decide_case *of)
{
	return of->asked == ACTION_COMPENSATE;
}

static bool
asks_close(const struct decide_case *of)
{
	return of->asked == ACTION_CLOSE;
}

static bool
asks_wait(const struct decide_case *of)
{
	return of->asked == ACTION_WAIT;
}

/* A row that changes the status, and not by confirming, draws on the guard. */
static bool changes_status(const struct decide_case *of, enum action action);

static bool
is_held_by_guard(const struct decide_case *of)
{
	return of->unguarded && of->unguarded->action != ACTION_CONFIRM &&
	       changes_status(of, of->unguarded->action);
}

static const char ASKS_WAIT[] = "the policy says wait";
static const char ASKS_CLOSE[] = "the policy says close";

/* First match wins. Names go into the evidence: add rows, never rename. */
/* clang-format off */
static const struct decision_row rows[] = {
	{ "compensating-wait", CLASS_NONE, "its reversal goes on", is_compensating, ACTION_WAIT },
	{ "final-wait", CLASS_NONE, "it is final", is_final, ACTION_WAIT },

	{ "waiting-wait", CLASS_WAITING, NULL, NULL, ACTION_WAIT },
	{ "inconclusive-wait", CLASS_INCONCLUSIVE, NULL, NULL, ACTION_WAIT },

	{ "guard-wait", CLASS_NONE, "a guard is tripped, and what follows would change the status otherwise than by confirming",
	  is_held_by_guard, ACTION_WAIT },

	{ "correct-disputed-review", CLASS_CORRECT,
	  "another effect, or several, was seen", is_disputed, ACTION_REVIEW },
	{ "correct-held-review", CLASS_CORRECT, "in review, and review.auto_confirm is false", is_held, ACTION_REVIEW },
	{ "correct-wait", CLASS_CORRECT, ASKS_WAIT, asks_wait, ACTION_WAIT },
	{ "correct-confirm", CLASS_CORRECT, "the policy says confirm", asks_confirm, ACTION_CONFIRM },
	{ "correct-review", CLASS_CORRECT, NULL, NULL, ACTION_REVIEW },

	{ "missing-worker-wait", CLASS_MISSING, "it waits for its worker already", waits_for_worker, ACTION_WAIT },
	{ "missing-wait", CLASS_MISSING, ASKS_WAIT, asks_wait, ACTION_WAIT },
	{ "missing-close", CLASS_MISSING, ASKS_CLOSE, asks_close, ACTION_CLOSE },
	{ "missing-requeue", CLASS_MISSING, "the policy says requeue, and every clause holds", may_requeue,
	  ACTION_REQUEUE },
	{ "missing-late-wait", CLASS_MISSING, "the policy says requeue, but the answer is too old", is_late, ACTION_WAIT },
	{ "missing-late-review", CLASS_MISSING, "the same for the third time in a row", is_late_again, ACTION_REVIEW },
	{ "missing-requeue-review", CLASS_MISSING,
	  "the policy says requeue, and a clause does not hold; a person decides", asks_requeue, ACTION_REVIEW },
	{ "missing-review", CLASS_MISSING, NULL, NULL, ACTION_REVIEW },

	{ "divergent-unsent-wait", CLASS_DIVERGENT, "an older copy, and no worker has sent it yet", is_before_its_send,
	  ACTION_WAIT },
	{ "divergent-wait", CLASS_DIVERGENT, ASKS_WAIT, asks_wait, ACTION_WAIT },
	{ "divergent-close", CLASS_DIVERGENT, ASKS_CLOSE, asks_close, ACTION_CLOSE },
	{ "divergent-compensate-review", CLASS_DIVERGENT,
	  "the policy says compensate; a person decides", asks_compensate, ACTION_REVIEW },
	{ "divergent-review", CLASS_DIVERGENT, NULL, NULL, ACTION_REVIEW },

	{ "ambiguous-wait", CLASS_AMBIGUOUS, ASKS_WAIT, asks_wait, ACTION_WAIT },
	{ "ambiguous-review", CLASS_AMBIGUOUS, NULL, NULL, ACTION_REVIEW },

	{ "not_applicable-wait", CLASS_NOT_APPLICABLE, ASKS_WAIT, asks_wait, ACTION_WAIT },
	{ "not_applicable-close", CLASS_NOT_APPLICABLE, ASKS_CLOSE, asks_close, ACTION_CLOSE },
	{ "not_applicable-review", CLASS_NOT_APPLICABLE, NULL, NULL, ACTION_REVIEW },
};
/* clang-format on */

/* What a carried out action makes of the operation, and how it is announced. */
static const struct effect {
	enum status status;
	const char *event, *outbox_type;
} effects[ACTION_COUNT] = {
	[ACTION_CONFIRM] = { STATUS_CONFIRMED, "confirmed", "operation.confirmed" },
	[ACTION_REQUEUE] = { STATUS_RETRY_SCHEDULED, "requeued", "operation.requeued" },
	[ACTION_REVIEW] = { STATUS_MANUAL_REVIEW, "review", "operation.review" },
	[ACTION_CLOSE] = { STATUS_NOT_APPLICABLE, "closed", "operation.closed" },
};

static bool
changes_status(const struct decide_case *of, enum action action)
{
	return effects[action].event && effects[action].status != of->op->status;
}

const struct decision_row *
decision_rows(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(rows);
	return rows;
}

/* Review and wait may be asked for any verdict; what makes no sense for a class is reviewed. */
static enum action
asked_action(const struct decide_case *of)
{
	enum verdict_class class = of->verdict->class;
	const struct action_rule *rule = &of->policy->actions[class];
	struct scene scene = { .arena = of->context->arena, .op = of->op };
	enum action asked = askable[class].standard;
	size_t i = 0;

	while (i < rule->count && !condition_holds(&scene, &rule->rows[i].when))
		i++;
	if (i < rule->count)
		asked = rule->rows[i].action;
	if (asked == ACTION_WAIT || (askable[class].allowed & BIT(asked)) != 0)
		return asked;
	return ACTION_REVIEW;
}

static bool
matches(const struct decision_row *row, const struct decide_case *of)
{
	return (row->class == CLASS_NONE || row->class == of->verdict->class) &&
	       (row->applies == NULL || row->applies(of));
}

static const struct decision_row *
find_row(const struct decide_case *of)
{
	size_t i = 0;

	while (i < ARRAY_LEN(rows) && !matches(&rows[i], of))
		i++;
	assert(i < ARRAY_LEN(rows)); /* every class ends in an unconditional row */
	return &rows[i];
}

/* What would be found, were there no guard. */
static const struct decision_row *
find_unguarded(const struct decide_case *of)
{
	struct decide_case without = *of;

	if (without.clauses_count > 0)
		without.clauses[CLAUSE_GUARD].ok = true;
	return find_row(&without);
}

/* What a person should be told to do; WAIT: nothing. */
static enum action
recommended_action(const struct decide_case *of, const struct decision *decision)
{
	if (decision->held)
		return of->unguarded->action;
	if (decision->action == ACTION_REVIEW)
		return of->asked;
	if (!decision->observed)
		return ACTION_WAIT;
	return decision->action;
}

static void
carry_out(const struct decide_case *of, struct decision *decision)
{
	const struct effect *effect = &effects[decision->action];

	if (!changes_status(of, decision->action))
		return;
	assert(lifecycle_allows(of->op->status, effect->status));
	decision->status = effect->status;
	decision->event = effect->event;
	decision->outbox_type = effect->outbox_type;
	decision->guarded = decision->action != ACTION_CONFIRM;
	decision->corrects = decision->action == ACTION_REQUEUE;
	if (decision->action == ACTION_CONFIRM)
		decision->closed_reason = of->verdict->reason;
	if (decision->action == ACTION_CLOSE)
		decision->closed_reason = of->verdict->rule;
	if (decision->action == ACTION_REQUEUE)
		decision->next_attempt_in_us = of->next_attempt_in_us;
}

static bool
differs(const struct decide_case *of, const struct decision *decision)
{
	const struct operation *op = of->op;
	const char *recommended =
		decision->recommended == ACTION_WAIT ? "" : action_name(decision->recommended);

	return op->class != of->verdict->class || strcmp(op->reason, of->verdict->reason) != 0 ||
	       strcmp(op->recommended_action, recommended) != 0 || op->status != decision->status ||
	       op->disputed != decision->disputed;
}

/* Of a verdict: everything but the time of the next look. */
static void
fill_verdict(const struct decide_case *of, struct decision *decision)
{
	bool dispute = of->verdict->class == CLASS_DIVERGENT || of->verdict->several;

	decision->observed = of->observed;
	decision->event = decision->observed ? "observed" : "judged";
	decision->held = is_held_by_guard(of);
	decision->recommended = recommended_action(of, decision);
	if (dispute && of->op->first_sent_at_us != TIME_NONE)
		decision->disputed = true;
	if (!decision->observed)
		carry_out(of, decision);
	decision->changed = differs(of, decision);
	decision->postponed = is_late(of) ? of->op->postponed + 1 : 0;
	memcpy(decision->clauses, of->clauses, sizeof(of->clauses));
	decision->clauses_count = of->clauses_count;
}

/* As long as there is no verdict, why there is none is remembered; a verdict is never replaced by it. */
static void
fill_no_verdict(const struct decide_case *of, struct decision *decision)
{
	if (of->op->class != CLASS_NONE || strcmp(of->op->reason, of->verdict->reason) == 0)
		return;
	decision->event = "looked";
	decision->changed = true;
}

static int64_t
recheck_us(const struct decide_case *of)
{
	return backoff_delay_us(&of->policy->recheck, of->op->checks, of->context->random);
}

/* Cases of one outage must not come back in one second either. */
static int64_t
review_recheck_us(const struct decide_case *of)
{
	struct backoff spread = {
		.first_us = of->policy->review_recheck_us,
		.max_us = of->policy->review_recheck_us,
		.jitter_percent = of->policy->recheck.jitter_percent,
	};

	return backoff_delay_us(&spread, 0, of->context->random);
}

/* The jitter may only bring it forward: nothing has to be waited for. */
static int64_t
soon_us(const struct decide_case *of)
{
	int64_t delay = backoff_delay_us(&of->policy->recheck, 0, of->context->random);

	return delay < of->policy->recheck.first_us ? delay : of->policy->recheck.first_us;
}

static bool
has_reason(const struct decide_case *of, enum reason reason)
{
	return strcmp(of->verdict->reason, reason_name(reason)) == 0;
}

/* No later than when the looks span the time they must, no sooner than looks are spaced. */
static int64_t
until_earned_us(const struct decide_case *of)
{
	int64_t spaced = recheck_us(of);
	int64_t over = earned_over_us(of->policy, &of->verdict->earned);
	int64_t least = of->policy->recheck.first_us;

	if (over == TIME_NONE)
		return spaced;
	over -= of->context->now_us;
	if (over < least)
		over = least;
	return spaced < over ? spaced : over;
}

static int64_t
until_after_us(const struct decide_case *of)
{
	int64_t left = earned_after_us(of->policy, of->op) - of->context->now_us;

	return left > 0 ? left : 0;
}

static int64_t
next_look_us(const struct decide_case *of, const struct decision *decision)
{
	if (of->op->status == STATUS_MANUAL_REVIEW || decision->action == ACTION_REVIEW)
		return review_recheck_us(of);
	if (decision->corrects)
		return decision->next_attempt_in_us + of->policy->recheck.first_us;
	if (decision->postponed > of->op->postponed)
		return soon_us(of);
	if (of->verdict->class != CLASS_WAITING || earned_basis_us(of->op) == TIME_NONE)
		return recheck_us(of);
	if (has_reason(of, REASON_TOO_EARLY))
		return until_after_us(of);
	if (has_reason(of, REASON_ABSENT_UNCONFIRMED))
		return until_earned_us(of);
	return recheck_us(of);
}

static void
announce(const struct decide_case *of, struct decision *decision)
{
	decision->announces = true;
	decision->event = "announced";
	decision->outbox_type = pickup_outbox_type(of->op);
	decision->changed = true;
}

static int64_t
sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* A look in time to announce it, or to do so once more; looks are spaced all the same. */
static int64_t
until_pickup_us(const struct decide_case *of, const struct decision *decision, int64_t pickup_us)
{
	int64_t left = decision->announces ? of->policy->pickup_window_us
					   : pickup_us - of->context->now_us;
	int64_t least = of->policy->recheck.first_us;

	return left > least ? left : least;
}

/* Whatever the verdict is, nothing of it is carried out or recorded. */
static bool
is_left_alone(const struct decide_case *of)
{
	return is_compensating(of) || is_final(of);
}

/* What the rows look at beside the arguments. */
static struct decide_case
case_of(const struct policy *policy, const struct operation *op, const struct verdict *verdict,
	const struct decide_context *context)
{
	struct decide_case of = {
		.policy = policy,
		.op = op,
		.verdict = verdict,
		.context = context,
		.observed = context->observe || !policy->enforce,
	};

	if (class_is_verdict(verdict->class))
		of.asked = asked_action(&of);
	if (asks_requeue(&of)) {
		of.next_attempt_in_us =
			backoff_delay_us(&policy->requeue, op->requeues, context->random);
		clauses_evaluate(policy, op, context, of.next_attempt_in_us, of.clauses);
		of.clauses_count = CLAUSE_COUNT;
	}
	if (context->guarded && !of.observed)
		of.unguarded = find_unguarded(&of);
	return of;
}

/* Promises 1 and 5, whatever table or policy say. */
static void
check_safe(const struct decide_case *of, const struct decision *decision)
{
	bool corrects = decision->action == ACTION_REQUEUE ||
			decision->action == ACTION_COMPENSATE ||
			decision->recommended == ACTION_REQUEUE ||
			decision->recommended == ACTION_COMPENSATE;

	assert(of->verdict->class != CLASS_AMBIGUOUS || !corrects);
	assert(decision->action != ACTION_REQUEUE ||
	       (of->clauses_count == CLAUSE_COUNT && failed_clauses(of) == 0));
}

void
decide(const struct policy *policy, const struct operation *op, const struct verdict *verdict,
       const struct decide_context *context, struct decision *ret_decision)
{
	const struct decide_case of = case_of(policy, op, verdict, context);
	const struct decision_row *row = find_row(&of);
	int64_t pickup_us = pickup_due_us(policy, op, verdict, context);
	struct decision decision = {
		.row = row->name,
		.action = row->action,
		.status = op->status,
		.disputed = op->disputed,
		.postponed = op->postponed,
	};

	if (class_is_verdict(verdict->class) && !is_left_alone(&of))
		fill_verdict(&of, &decision);
	else if (!is_left_alone(&of))
		fill_no_verdict(&of, &decision);
	if (pickup_us != TIME_NONE && pickup_us <= context->now_us)
		announce(&of, &decision);
	/* Correct under a policy that observes: no other look before it is enforced. */
	decision.due = !status_is_final(decision.status) &&
		       (decision.action != ACTION_CONFIRM || policy->enforce);
	if (decision.due)
		decision.due_in_us = next_look_us(&of, &decision);
	if (pickup_us != TIME_NONE)
		decision.due_in_us =
			sooner(decision.due_in_us, until_pickup_us(&of, &decision, pickup_us));
	check_safe(&of, &decision);
	*ret_decision = decision;
}
