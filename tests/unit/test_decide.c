/* SPDX-License-Identifier: Apache-2.0
 *
 * The decision table: each row is reached, each class ends in an unconditional row, promises 1, 3
 * and 9, and when the next look is due.
 */
#include "scenario.h"

#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "reconciled/core/backoff.h"
#include "tap.h"

#define PROBE                                                                                      \
	"'probes':[{'get':'/x/{operation_id}','found':{'status':'200'},"                           \
	"'absent':{'status':'404'}}],'existence_only':'true'"
#define ACTIONS(text) "{" PROBE ",'actions':{" text "}}"
#define PLAIN "{" PROBE ",'review':{'recheck':'2h'}}"
#define OBSERVE "{" PROBE ",'mode':'observe'}"
#define REQUEUE "{" PROBE ",'idempotent':'natural','actions':{'missing':'requeue'}}"

/* clang-format off */
/* A verdict as classify would give it, on a row as the database holds it. */
static const struct row {
	const char *name, *policy;
	enum verdict_class class;
	enum status status;
	const char *want_row;
	enum action action, recommended;
	enum status after;
	const char *event, *outbox_type;
	bool due;
	bool disputed, never_sent, several, observe; /* before; the verdict; the process */
	const char *reason; /* of the verdict; NULL: field_differs */
	enum control_state control;
	bool guarded, late;
	int postponed; /* before */
} rows[] = {
	{ "correct is confirmed", PLAIN, CLASS_CORRECT, STATUS_AWAITING_CONFIRMATION, "correct-confirm",
	  ACTION_CONFIRM, ACTION_WAIT, STATUS_CONFIRMED, "confirmed", "operation.confirmed" },
	{ "correct is confirmed from pending", PLAIN, CLASS_CORRECT, STATUS_PENDING, "correct-confirm",
	  ACTION_CONFIRM, ACTION_WAIT, STATUS_CONFIRMED, "confirmed", "operation.confirmed", .never_sent = true },
	{ "correct is confirmed while a worker runs", PLAIN, CLASS_CORRECT, STATUS_PROCESSING, "correct-confirm",
	  ACTION_CONFIRM, ACTION_WAIT, STATUS_CONFIRMED, "confirmed", "operation.confirmed" },
	{ "correct is confirmed before a retry", PLAIN, CLASS_CORRECT, STATUS_RETRY_SCHEDULED, "correct-confirm",
	  ACTION_CONFIRM, ACTION_WAIT, STATUS_CONFIRMED, "confirmed", "operation.confirmed" },
	{ "a case in review confirms itself", PLAIN, CLASS_CORRECT, STATUS_MANUAL_REVIEW, "correct-confirm",
	  ACTION_CONFIRM, ACTION_WAIT, STATUS_CONFIRMED, "confirmed", "operation.confirmed" },
	{ "not what was once divergent or several", PLAIN, CLASS_CORRECT, STATUS_MANUAL_REVIEW,
	  "correct-disputed-review", ACTION_REVIEW, ACTION_CONFIRM, STATUS_MANUAL_REVIEW, "judged", NULL, true,
	  .disputed = true },
	{ "nor after a recheck that a person asked for", PLAIN, CLASS_CORRECT, STATUS_AWAITING_CONFIRMATION,
	  "correct-disputed-review", ACTION_REVIEW, ACTION_CONFIRM, STATUS_MANUAL_REVIEW, "review",
	  "operation.review", true, .disputed = true },
	{ "not where review.auto_confirm is false", "{" PROBE ",'review':{'auto_confirm':'false'}}", CLASS_CORRECT,
	  STATUS_MANUAL_REVIEW, "correct-held-review", ACTION_REVIEW, ACTION_CONFIRM, STATUS_MANUAL_REVIEW,
	  "judged", NULL, true },
	{ "correct may be left waiting", ACTIONS("'correct':'wait'"), CLASS_CORRECT, STATUS_AWAITING_CONFIRMATION,
	  "correct-wait", ACTION_WAIT, ACTION_WAIT, STATUS_AWAITING_CONFIRMATION, "judged", NULL, true },
	{ "correct may be reviewed", ACTIONS("'correct':'review'"), CLASS_CORRECT, STATUS_AWAITING_CONFIRMATION,
	  "correct-review", ACTION_REVIEW, ACTION_REVIEW, STATUS_MANUAL_REVIEW, "review", "operation.review", true },

	{ "missing is reviewed", PLAIN, CLASS_MISSING, STATUS_AWAITING_CONFIRMATION, "missing-review",
	  ACTION_REVIEW, ACTION_REVIEW, STATUS_MANUAL_REVIEW, "review", "operation.review", true },
	{ "missing is sent again where every clause holds", REQUEUE, CLASS_MISSING, STATUS_AWAITING_CONFIRMATION,
	  "missing-requeue", ACTION_REQUEUE, ACTION_WAIT, STATUS_RETRY_SCHEDULED, "requeued", "operation.requeued",
	  true, .control = CONTROL_FOUND },
	{ "also while it is processing and the attempt is over", REQUEUE, CLASS_MISSING, STATUS_PROCESSING,
	  "missing-requeue", ACTION_REQUEUE, ACTION_WAIT, STATUS_RETRY_SCHEDULED, "requeued", "operation.requeued",
	  true, .control = CONTROL_FOUND },
	{ "in review a person sends again", REQUEUE, CLASS_MISSING, STATUS_MANUAL_REVIEW, "missing-requeue-review",
	  ACTION_REVIEW, ACTION_REQUEUE, STATUS_MANUAL_REVIEW, "judged", NULL, true, .control = CONTROL_FOUND },
	{ "pending waits for its worker", REQUEUE, CLASS_MISSING, STATUS_PENDING, "missing-worker-wait", ACTION_WAIT,
	  ACTION_WAIT, STATUS_PENDING, "judged", NULL, true, .control = CONTROL_FOUND },
	{ "observing tells that it would be sent again", "{" PROBE ",'mode':'observe','idempotent':'natural',"
	  "'actions':{'missing':'requeue'}}", CLASS_MISSING, STATUS_AWAITING_CONFIRMATION, "missing-requeue",
	  ACTION_REQUEUE, ACTION_REQUEUE, STATUS_AWAITING_CONFIRMATION, "observed", NULL, true,
	  .control = CONTROL_FOUND },
	{ "an old answer sends nothing again", REQUEUE, CLASS_MISSING, STATUS_AWAITING_CONFIRMATION,
	  "missing-late-wait", ACTION_WAIT, ACTION_WAIT, STATUS_AWAITING_CONFIRMATION, "judged", NULL, true,
	  .control = CONTROL_FOUND, .late = true },
	{ "nor for the second time", REQUEUE, CLASS_MISSING, STATUS_AWAITING_CONFIRMATION,
	  "missing-late-wait", ACTION_WAIT, ACTION_WAIT, STATUS_AWAITING_CONFIRMATION, "judged", NULL, true,
	  .control = CONTROL_FOUND, .late = true, .postponed = 1 },
	{ "and is reviewed for the third time", REQUEUE, CLASS_MISSING, STATUS_AWAITING_CONFIRMATION,
	  "missing-late-review", ACTION_REVIEW, ACTION_REQUEUE, STATUS_MANUAL_REVIEW, "review", "operation.review",
	  true, .control = CONTROL_FOUND, .late = true, .postponed = 2 },
	{ "an old answer is no excuse for another clause", REQUEUE, CLASS_MISSING, STATUS_AWAITING_CONFIRMATION,
	  "missing-requeue-review", ACTION_REVIEW, ACTION_REQUEUE, STATUS_MANUAL_REVIEW, "review",
	  "operation.review", true, .late = true },
	{ "an old answer confirms", PLAIN, CLASS_CORRECT, STATUS_AWAITING_CONFIRMATION, "correct-confirm",
	  ACTION_CONFIRM, ACTION_WAIT, STATUS_CONFIRMED, "confirmed", "operation.confirmed", .late = true },

	{ "promise 12: a guard holds a requeue", REQUEUE, CLASS_MISSING, STATUS_AWAITING_CONFIRMATION, "guard-wait",
	  ACTION_WAIT, ACTION_REQUEUE, STATUS_AWAITING_CONFIRMATION, "judged", NULL, true,
	  .control = CONTROL_FOUND, .guarded = true },
	{ "promise 12: a guard holds a review", PLAIN, CLASS_AMBIGUOUS, STATUS_AWAITING_CONFIRMATION, "guard-wait",
	  ACTION_WAIT, ACTION_REVIEW, STATUS_AWAITING_CONFIRMATION, "judged", NULL, true, .guarded = true },
	{ "promise 12: a guard holds the review of a clause", REQUEUE, CLASS_MISSING, STATUS_AWAITING_CONFIRMATION,
	  "guard-wait", ACTION_WAIT, ACTION_REVIEW, STATUS_AWAITING_CONFIRMATION, "judged", NULL, true,
	  .guarded = true },
	{ "promise 12: a guard holds a closing", PLAIN, CLASS_NOT_APPLICABLE, STATUS_MANUAL_REVIEW, "guard-wait",
	  ACTION_WAIT, ACTION_CLOSE, STATUS_MANUAL_REVIEW, "judged", NULL, true, .guarded = true },
	{ "promise 12: a guard holds no confirmation", PLAIN, CLASS_CORRECT, STATUS_MANUAL_REVIEW, "correct-confirm",
	  ACTION_CONFIRM, ACTION_WAIT, STATUS_CONFIRMED, "confirmed", "operation.confirmed", .guarded = true },
	{ "a guard holds nothing where nothing would change", PLAIN, CLASS_MISSING, STATUS_MANUAL_REVIEW,
	  "missing-review", ACTION_REVIEW, ACTION_REVIEW, STATUS_MANUAL_REVIEW, "judged", NULL, true,
	  .guarded = true },
	{ "nor what waits anyway", REQUEUE, CLASS_MISSING, STATUS_RETRY_SCHEDULED, "missing-worker-wait",
	  ACTION_WAIT, ACTION_WAIT, STATUS_RETRY_SCHEDULED, "judged", NULL, true, .guarded = true },
	{ "an old answer under a guard is asked again", REQUEUE, CLASS_MISSING, STATUS_AWAITING_CONFIRMATION,
	  "missing-late-wait", ACTION_WAIT, ACTION_WAIT, STATUS_AWAITING_CONFIRMATION, "judged", NULL, true,
	  .control = CONTROL_FOUND, .guarded = true, .late = true },
	{ "and held for the third time", REQUEUE, CLASS_MISSING, STATUS_AWAITING_CONFIRMATION, "guard-wait",
	  ACTION_WAIT, ACTION_REVIEW, STATUS_AWAITING_CONFIRMATION, "judged", NULL, true,
	  .control = CONTROL_FOUND, .guarded = true, .late = true, .postponed = 2 },
	{ "no guard is asked where nothing is carried out", OBSERVE, CLASS_AMBIGUOUS, STATUS_AWAITING_CONFIRMATION,
	  "ambiguous-review", ACTION_REVIEW, ACTION_REVIEW, STATUS_AWAITING_CONFIRMATION, "observed", NULL, true,
	  .guarded = true },
	{ "but the clause is told", "{" PROBE ",'mode':'observe','idempotent':'natural',"
	  "'actions':{'missing':'requeue'}}", CLASS_MISSING, STATUS_AWAITING_CONFIRMATION, "missing-requeue-review",
	  ACTION_REVIEW, ACTION_REQUEUE, STATUS_AWAITING_CONFIRMATION, "observed", NULL, true,
	  .control = CONTROL_FOUND, .guarded = true },

	{ "a requeue is recommended to a person", ACTIONS("'missing':'requeue'"), CLASS_MISSING,
	  STATUS_AWAITING_CONFIRMATION, "missing-requeue-review", ACTION_REVIEW, ACTION_REQUEUE,
	  STATUS_MANUAL_REVIEW, "review", "operation.review", true },
	{ "missing may be closed", ACTIONS("'missing':'close'"), CLASS_MISSING, STATUS_AWAITING_CONFIRMATION,
	  "missing-close", ACTION_CLOSE, ACTION_WAIT, STATUS_NOT_APPLICABLE, "closed", "operation.closed" },
	{ "missing may be left waiting", ACTIONS("'missing':'wait'"), CLASS_MISSING, STATUS_AWAITING_CONFIRMATION,
	  "missing-wait", ACTION_WAIT, ACTION_WAIT, STATUS_AWAITING_CONFIRMATION, "judged", NULL, true },
	{ "missing goes on waiting for its worker", ACTIONS("'missing':'requeue'"), CLASS_MISSING,
	  STATUS_RETRY_SCHEDULED, "missing-worker-wait", ACTION_WAIT, ACTION_WAIT, STATUS_RETRY_SCHEDULED,
	  "judged", NULL, true },
	{ "missing in review stays there", ACTIONS("'missing':'requeue'"), CLASS_MISSING, STATUS_MANUAL_REVIEW,
	  "missing-requeue-review", ACTION_REVIEW, ACTION_REQUEUE, STATUS_MANUAL_REVIEW, "judged", NULL, true },
	{ "nobody confirms what is missing", ACTIONS("'missing':'confirm'"), CLASS_MISSING,
	  STATUS_AWAITING_CONFIRMATION, "missing-review", ACTION_REVIEW, ACTION_REVIEW, STATUS_MANUAL_REVIEW,
	  "review", "operation.review", true },

	{ "divergent is reviewed", PLAIN, CLASS_DIVERGENT, STATUS_AWAITING_CONFIRMATION, "divergent-review",
	  ACTION_REVIEW, ACTION_REVIEW, STATUS_MANUAL_REVIEW, "review", "operation.review", true },
	{ "a compensation is recommended to a person", ACTIONS("'divergent':'compensate'"), CLASS_DIVERGENT,
	  STATUS_AWAITING_CONFIRMATION, "divergent-compensate-review", ACTION_REVIEW, ACTION_COMPENSATE,
	  STATUS_MANUAL_REVIEW, "review", "operation.review", true },
	{ "divergent may be closed", ACTIONS("'divergent':'close'"), CLASS_DIVERGENT, STATUS_AWAITING_CONFIRMATION,
	  "divergent-close", ACTION_CLOSE, ACTION_WAIT, STATUS_NOT_APPLICABLE, "closed", "operation.closed" },
	{ "divergent may be left waiting", ACTIONS("'divergent':'wait'"), CLASS_DIVERGENT,
	  STATUS_AWAITING_CONFIRMATION, "divergent-wait", ACTION_WAIT, ACTION_WAIT, STATUS_AWAITING_CONFIRMATION,
	  "judged", NULL, true },

	{ "an older copy before the first send waits for its worker", PLAIN, CLASS_DIVERGENT, STATUS_PENDING,
	  "divergent-unsent-wait", ACTION_WAIT, ACTION_WAIT, STATUS_PENDING, "judged", NULL, true,
	  .never_sent = true, .reason = "older" },
	{ "an older copy after a send is reviewed", PLAIN, CLASS_DIVERGENT, STATUS_AWAITING_CONFIRMATION,
	  "divergent-review", ACTION_REVIEW, ACTION_REVIEW, STATUS_MANUAL_REVIEW, "review", "operation.review",
	  true, .reason = "older" },
	{ "other data before the first send is reviewed", PLAIN, CLASS_DIVERGENT, STATUS_PENDING,
	  "divergent-review", ACTION_REVIEW, ACTION_REVIEW, STATUS_MANUAL_REVIEW, "review", "operation.review",
	  true, .never_sent = true },

	{ "ambiguous is reviewed", PLAIN, CLASS_AMBIGUOUS, STATUS_AWAITING_CONFIRMATION, "ambiguous-review",
	  ACTION_REVIEW, ACTION_REVIEW, STATUS_MANUAL_REVIEW, "review", "operation.review", true },
	{ "ambiguous may be left waiting", ACTIONS("'ambiguous':'wait'"), CLASS_AMBIGUOUS,
	  STATUS_AWAITING_CONFIRMATION, "ambiguous-wait", ACTION_WAIT, ACTION_WAIT, STATUS_AWAITING_CONFIRMATION,
	  "judged", NULL, true },
	{ "promise 1: ambiguous is never sent again", ACTIONS("'ambiguous':'requeue'"), CLASS_AMBIGUOUS,
	  STATUS_AWAITING_CONFIRMATION, "ambiguous-review", ACTION_REVIEW, ACTION_REVIEW, STATUS_MANUAL_REVIEW,
	  "review", "operation.review", true },
	{ "promise 1: ambiguous is never compensated", ACTIONS("'ambiguous':'compensate'"), CLASS_AMBIGUOUS,
	  STATUS_AWAITING_CONFIRMATION, "ambiguous-review", ACTION_REVIEW, ACTION_REVIEW, STATUS_MANUAL_REVIEW,
	  "review", "operation.review", true },
	{ "promise 3: ambiguous is never closed", ACTIONS("'ambiguous':'close'"), CLASS_AMBIGUOUS,
	  STATUS_AWAITING_CONFIRMATION, "ambiguous-review", ACTION_REVIEW, ACTION_REVIEW, STATUS_MANUAL_REVIEW,
	  "review", "operation.review", true },

	{ "not applicable is closed", PLAIN, CLASS_NOT_APPLICABLE, STATUS_AWAITING_CONFIRMATION,
	  "not_applicable-close", ACTION_CLOSE, ACTION_WAIT, STATUS_NOT_APPLICABLE, "closed", "operation.closed" },
	{ "also from review", PLAIN, CLASS_NOT_APPLICABLE, STATUS_MANUAL_REVIEW, "not_applicable-close",
	  ACTION_CLOSE, ACTION_WAIT, STATUS_NOT_APPLICABLE, "closed", "operation.closed" },
	{ "not applicable may be reviewed", ACTIONS("'not_applicable':'review'"), CLASS_NOT_APPLICABLE,
	  STATUS_AWAITING_CONFIRMATION, "not_applicable-review", ACTION_REVIEW, ACTION_REVIEW,
	  STATUS_MANUAL_REVIEW, "review", "operation.review", true },
	{ "not applicable may be left waiting", ACTIONS("'not_applicable':'wait'"), CLASS_NOT_APPLICABLE,
	  STATUS_AWAITING_CONFIRMATION, "not_applicable-wait", ACTION_WAIT, ACTION_WAIT,
	  STATUS_AWAITING_CONFIRMATION, "judged", NULL, true },

	{ "waiting waits", PLAIN, CLASS_WAITING, STATUS_AWAITING_CONFIRMATION, "waiting-wait", ACTION_WAIT,
	  ACTION_WAIT, STATUS_AWAITING_CONFIRMATION, "looked", NULL, true },
	{ "promise 2: inconclusive waits", PLAIN, CLASS_INCONCLUSIVE, STATUS_AWAITING_CONFIRMATION,
	  "inconclusive-wait", ACTION_WAIT, ACTION_WAIT, STATUS_AWAITING_CONFIRMATION, "looked", NULL, true },
	{ "the reversal goes on", PLAIN, CLASS_CORRECT, STATUS_COMPENSATING, "compensating-wait", ACTION_WAIT,
	  ACTION_WAIT, STATUS_COMPENSATING, NULL, NULL, true },
	{ "what is final stays", PLAIN, CLASS_MISSING, STATUS_CONFIRMED, "final-wait", ACTION_WAIT, ACTION_WAIT,
	  STATUS_CONFIRMED },

	{ "a row of actions, by the operation", ACTIONS("'missing':[{'when':{'op./expected/amount':{'lt':50}},"
	  "'do':'requeue'},{'do':'review'}]"), CLASS_MISSING, STATUS_AWAITING_CONFIRMATION,
	  "missing-requeue-review", ACTION_REVIEW, ACTION_REQUEUE, STATUS_MANUAL_REVIEW, "review",
	  "operation.review", true },

	{ "promise 9: observing confirms nothing", OBSERVE, CLASS_CORRECT, STATUS_AWAITING_CONFIRMATION,
	  "correct-confirm", ACTION_CONFIRM, ACTION_CONFIRM, STATUS_AWAITING_CONFIRMATION, "observed", NULL },
	{ "promise 9: observing reviews nothing", OBSERVE, CLASS_AMBIGUOUS, STATUS_AWAITING_CONFIRMATION,
	  "ambiguous-review", ACTION_REVIEW, ACTION_REVIEW, STATUS_AWAITING_CONFIRMATION, "observed", NULL, true },
	{ "promise 9: observing closes nothing", OBSERVE, CLASS_NOT_APPLICABLE, STATUS_AWAITING_CONFIRMATION,
	  "not_applicable-close", ACTION_CLOSE, ACTION_CLOSE, STATUS_AWAITING_CONFIRMATION, "observed", NULL, true },
	{ "promise 9: the process observes whatever the policy says", PLAIN, CLASS_CORRECT,
	  STATUS_AWAITING_CONFIRMATION, "correct-confirm", ACTION_CONFIRM, ACTION_CONFIRM,
	  STATUS_AWAITING_CONFIRMATION, "observed", NULL, true, .observe = true },
	{ "observing recommends what the policy asks for", ACTIONS("'missing':'requeue'"), CLASS_MISSING,
	  STATUS_AWAITING_CONFIRMATION, "missing-requeue-review", ACTION_REVIEW, ACTION_REQUEUE,
	  STATUS_AWAITING_CONFIRMATION, "observed", NULL, true, .observe = true },
};
/* clang-format on */

static struct verdict verdict_of(enum verdict_class class)
{
	return (struct verdict){
		.class = class,
		.reason = "field_differs",
		.rule = "compare",
		.earned = { .since_us = TIME_NONE },
	};
}

static struct decision
decision_of(struct arena *arena, const struct row *row)
{
	struct operation op = build_operation(
		arena, row->never_sent ? "{'sent':null}" : "{'expected':{'amount':'49.99'}}");
	struct verdict verdict = verdict_of(row->class);
	struct decide_context context = { .arena = arena,
					  .observe = row->observe,
					  .guarded = row->guarded,
					  .late = row->late,
					  .control = row->control,
					  .now_us = SENT_US };
	struct decision decision;

	if (row->reason)
		verdict.reason = row->reason;
	op.status = row->status;
	op.disputed = row->disputed;
	op.postponed = row->postponed;
	decide(build_policy(arena, row->policy), &op, &verdict, &context, &decision);
	return decision;
}

static bool
same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void
test_row(struct arena *arena, const struct row *row)
{
	struct decision d = decision_of(arena, row);
	bool ok = same(d.row, row->want_row) && d.action == row->action &&
		  d.recommended == row->recommended && d.status == row->after &&
		  same(d.event, row->event) && same(d.outbox_type, row->outbox_type) &&
		  d.due == row->due;

	tap_ok(ok, "%s", row->name);
	if (!ok)
		printf("# got %s %s, recommended %s, %s, %s, %s, due %d\n", d.row,
		       action_name(d.action), action_name(d.recommended), status_name(d.status),
		       d.event ? d.event : "-", d.outbox_type ? d.outbox_type : "-", d.due);
}

static void
test_table(struct arena *arena)
{
	size_t count, reached = 0;
	const struct decision_row *table = decision_rows(&count);

	for (size_t i = 0; i < count; i++) {
		bool hit = false;

		for (size_t n = 0; n < ARRAY_LEN(rows) && !hit; n++)
			hit = same(rows[n].want_row, table[i].name);
		reached += hit;
		if (!hit)
			printf("# not reached: %s\n", table[i].name);
		tap_ok((table[i].when == NULL) == (table[i].applies == NULL),
		       "%s says its condition", table[i].name);
	}
	tap_int((long long)reached, (long long)count, "every row is reached");
	for (int class = CLASS_MISSING; class < CLASS_COUNT; class ++) {
		const struct decision_row *last = NULL;

		for (size_t i = 0; i < count; i++)
			if (table[i].class == (enum verdict_class) class)
				last = &table[i];
		tap_ok(last && last->applies == NULL, "%s ends in an unconditional row",
		       class_name((enum verdict_class) class));
		for (size_t i = 0; i < count; i++)
			if (table[i].class == CLASS_AMBIGUOUS &&
			    (table[i].action == ACTION_REQUEUE ||
			     table[i].action == ACTION_COMPENSATE))
				tap_ok(false, "promise 1: %s acts", table[i].name);
	}
}

/* Rows of {when, do}: the first that holds for the operation, whatever was seen. */
static const struct {
	const char *name, *op;
	enum verdict_class class;
	const char *want_row;
	enum action recommended;
} action_rows[] = {
	{ "the first row", "{'expected':{'amount':'49.99'}}", CLASS_MISSING, "missing-requeue",
	  ACTION_WAIT },
	{ "its limit is exact", "{'expected':{'amount':'50.00'}}", CLASS_MISSING, "missing-review",
	  ACTION_REVIEW },
	{ "the second row", "{'expected':{'amount':'50.00'},'entity_state':'cancelled'}",
	  CLASS_MISSING, "missing-wait", ACTION_WAIT },
	{ "the first of two that hold",
	  "{'expected':{'amount':'1e1'},'entity_state':'cancelled'}", CLASS_MISSING,
	  "missing-requeue-review", ACTION_REQUEUE },
	{ "what is not there passes no test", "{}", CLASS_MISSING, "missing-review",
	  ACTION_REVIEW },
	{ "rows of another class", "{'business_key':'vip-7'}", CLASS_DIVERGENT,
	  "divergent-compensate-review", ACTION_COMPENSATE },
	{ "and its last row", "{'business_key':'7'}", CLASS_DIVERGENT, "divergent-wait",
	  ACTION_WAIT },
	{ "a class without rows", "{'expected':{'amount':'49.99'}}", CLASS_AMBIGUOUS,
	  "ambiguous-review", ACTION_REVIEW },
};

static void
test_action_rows(struct arena *arena)
{
	const struct policy *policy = build_policy(
		arena, "{" PROBE ",'idempotent':'natural','actions':{'missing':["
		       "{'when':{'op./expected/amount':{'lt':50}},'do':'requeue'},"
		       "{'when':{'op.entity_state':['cancelled','deleted']},'do':'wait'},"
		       "{'do':'review'}],'divergent':["
		       "{'when':{'op.business_key':{'prefix':'vip-'}},'do':'compensate'},"
		       "{'do':'wait'}]}}");

	for (size_t i = 0; i < ARRAY_LEN(action_rows); i++) {
		struct operation op = build_operation(arena, action_rows[i].op);
		struct verdict verdict = verdict_of(action_rows[i].class);
		struct decide_context context = { .arena = arena,
						  .control = CONTROL_FOUND,
						  .now_us = SENT_US };
		struct decision d;

		op.status = STATUS_AWAITING_CONFIRMATION;
		decide(policy, &op, &verdict, &context, &d);
		tap_str(d.row, action_rows[i].want_row, action_rows[i].name);
		tap_str(action_name(d.recommended), action_name(action_rows[i].recommended),
			"what is recommended");
	}
}

/* Whatever a policy asks for, in whatever state: no requeue, no compensation, no false arrow. */
static void
test_every_wish(struct arena *arena)
{
	static const char *const wishes[] = { "wait",	    "confirm", "requeue",
					      "compensate", "review",  "close" };
	bool safe = true, allowed = true, quiet = true;

	for (size_t w = 0; w < ARRAY_LEN(wishes); w++) {
		struct policy *policy = build_policy(
			arena,
			arena_printf(arena,
				     "{" PROBE ",'actions':{'missing':'%s','correct':'%s',"
				     "'divergent':'%s','ambiguous':'%s','not_applicable':'%s'}}",
				     wishes[w], wishes[w], wishes[w], wishes[w], wishes[w]));

		for (int n = CLASS_MISSING * STATUS_COUNT * 2; n < CLASS_COUNT * STATUS_COUNT * 2;
		     n++) {
			struct operation op = build_operation(arena, "{}");
			struct verdict verdict =
				verdict_of((enum verdict_class)(n / (STATUS_COUNT * 2)));
			struct decide_context context = { .arena = arena,
							  .observe = n % 2 == 0,
							  .now_us = SENT_US };
			struct decision d;

			op.status = (enum status)(n / 2 % STATUS_COUNT);
			decide(policy, &op, &verdict, &context, &d);
			if (verdict.class == CLASS_AMBIGUOUS)
				safe = safe &&
				       (d.action == ACTION_REVIEW || d.action == ACTION_WAIT) &&
				       d.recommended != ACTION_REQUEUE &&
				       d.recommended != ACTION_COMPENSATE;
			allowed = allowed && lifecycle_allows(op.status, d.status) &&
				  (d.outbox_type != NULL) == (d.status != op.status);
			if (context.observe || !class_is_verdict(verdict.class))
				quiet = quiet && d.status == op.status && d.outbox_type == NULL;
		}
	}
	tap_ok(safe, "promise 1: ambiguous leads to review or waits, whatever is asked");
	tap_ok(allowed,
	       "promise 10: an event exactly with a change of status, along the life cycle");
	tap_ok(quiet, "promises 2 and 9: observing and no verdict change no status");
}

static void
test_changed(struct arena *arena)
{
	const struct policy *policy = build_policy(arena, PLAIN);
	struct operation op = build_operation(arena, "{}");
	struct decide_context context = { .arena = arena, .now_us = SENT_US };
	struct verdict verdict = verdict_of(CLASS_AMBIGUOUS);
	struct decision d;

	op.status = STATUS_MANUAL_REVIEW;
	op.class = CLASS_AMBIGUOUS;
	op.reason = "field_differs";
	op.recommended_action = "review";
	decide(policy, &op, &verdict, &context, &d);
	tap_ok(!d.changed, "the same verdict again changes nothing");
	verdict.reason = "unreadable";
	decide(policy, &op, &verdict, &context, &d);
	tap_ok(d.changed, "another reason is a change");
	verdict = verdict_of(CLASS_WAITING);
	decide(policy, &op, &verdict, &context, &d);
	tap_ok(!d.changed, "waiting changes no verdict");
	op.class = CLASS_NONE;
	op.reason = "";
	op.recommended_action = "";
	op.status = STATUS_AWAITING_CONFIRMATION;
	decide(policy, &op, &verdict, &context, &d);
	tap_ok(d.changed && d.status == op.status && !d.outbox_type,
	       "while there is no verdict, the reason why is told");
	tap_str(d.event, "looked", "as a look");
	op.reason = verdict.reason;
	decide(policy, &op, &verdict, &context, &d);
	tap_ok(!d.changed && !d.event, "once for each reason");
	verdict = verdict_of(CLASS_DIVERGENT);
	decide(policy, &op, &verdict, &context, &d);
	tap_ok(d.changed && d.disputed, "divergent is remembered");
	op.first_sent_at_us = TIME_NONE;
	decide(policy, &op, &verdict, &context, &d);
	tap_ok(!d.disputed, "but not before the first send");
	op.first_sent_at_us = SENT_US;
	verdict = verdict_of(CLASS_AMBIGUOUS);
	verdict.several = true;
	decide(policy, &op, &verdict, &context, &d);
	tap_ok(d.disputed, "several is remembered");
}

static void
test_closed_reason(struct arena *arena)
{
	struct row row = { .policy = PLAIN, .class = CLASS_CORRECT, .status = STATUS_PROCESSING };

	tap_str(decision_of(arena, &row).closed_reason, "field_differs", "confirmed: the reason");
	row.class = CLASS_NOT_APPLICABLE;
	tap_str(decision_of(arena, &row).closed_reason, "compare", "closed: the rule");
	row.class = CLASS_MISSING;
	tap_str(decision_of(arena, &row).closed_reason, NULL, "in review: none");
}

#define EMPTY_ANSWER                                                                               \
	{                                                                                          \
		.status = 404                                                                      \
	}

/* The next look, in seconds, after an absence at at_s with checks looks before it. */
static long long
due_after(struct arena *arena, const char *policy, int at_s, int checks, int64_t since_us)
{
	struct scenario s = scenario_start(arena, policy, "{}", "{}");
	struct scripted answer = EMPTY_ANSWER;

	answer.at_s = at_s;
	s.op.checks = checks;
	if (since_us != TIME_NONE)
		s.op.earned = (struct earned){ CLASS_MISSING, 1, since_us, 0 };
	scenario_play(arena, &s, &answer, 1);
	return s.decision.due ? s.decision.due_in_us / SECOND : -1;
}

#define SLOW                                                                                       \
	"{" PROBE ",'latency_window':'5m','absence':{'confirm':'3','over':'30m'},"                 \
	"'recheck':{'first':'1m','factor':'2','max':'1h'}}"

static void
test_due(struct arena *arena)
{
	tap_int(due_after(arena, SLOW, 60, 0, TIME_NONE), 240, "too early: when the window ends");
	tap_int(due_after(arena, SLOW, 60, 9, TIME_NONE), 240, "however often it was asked");
	tap_int(due_after(arena, SLOW, 300, 0, TIME_NONE), 60,
		"unconfirmed: spaced like every look");
	tap_int(due_after(arena, SLOW, 300, 3, TIME_NONE), 480, "growing");
	tap_int(due_after(arena, SLOW, 900, 9, SENT_US + 300 * SECOND), 1200,
		"but not beyond the time that the looks must span");
	tap_int(due_after(arena, SLOW, 2099, 9, SENT_US + 300 * SECOND), 60,
		"and never closer than the first spacing");
	tap_int(due_after(arena, PLAIN, 900, 9, SENT_US + 300 * SECOND), 7200,
		"in review: review.recheck");
}

static void
test_backoff(void)
{
	struct backoff backoff = { MINUTE, HOUR, "2", 2000, 0 };
	bool within = true, differs = false;

	tap_int(backoff_delay_us(&backoff, 0, 0), MINUTE, "first");
	tap_int(backoff_delay_us(&backoff, 1, 0), 2 * MINUTE, "second");
	tap_int(backoff_delay_us(&backoff, 5, 0), 32 * MINUTE, "sixth");
	tap_int(backoff_delay_us(&backoff, 6, 0), HOUR, "not above the maximum");
	tap_int(backoff_delay_us(&backoff, 2000000000, 0), HOUR, "for ever");
	backoff.factor_milli = 1500;
	tap_int(backoff_delay_us(&backoff, 2, 0), 135 * SECOND, "a factor of 1.5");
	backoff.factor_milli = 1000;
	tap_int(backoff_delay_us(&backoff, 2000000000, 0), MINUTE, "a factor of 1 stays");
	backoff = (struct backoff){ 100 * 365 * DAY, 100 * 365 * DAY, "100", 100000, 0 };
	tap_int(backoff_delay_us(&backoff, 50, 0), 100 * 365 * DAY, "nothing overflows");
	backoff = (struct backoff){ HOUR, HOUR, "2", 2000, 10 };
	for (uint64_t i = 0; i < 1000; i++) {
		int64_t delay = backoff_delay_us(&backoff, 3, i * 0x9E3779B97F4A7C15u);

		within = within && delay >= 54 * MINUTE && delay <= 66 * MINUTE;
		differs = differs || delay != HOUR;
	}
	tap_ok(within && differs, "jitter of a tenth");
}

int
main(void)
{
	struct arena *arena = arena_create();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		test_row(arena, &rows[i]);
	test_table(arena);
	test_action_rows(arena);
	test_every_wish(arena);
	test_changed(arena);
	test_closed_reason(arena);
	test_due(arena);
	test_backoff();
	arena_destroy(arena);
	return tap_done();
}
