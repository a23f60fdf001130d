/* SPDX-License-Identifier: Apache-2.0
 *
 * Promise 5: what is sent again, clause by clause and at random. What a guard holds, when answers
 * are too old, and when an operation is taken and looked at again.
 */
#include "scenario.h"

#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "tap.h"

#define PROBE                                                                                      \
	"'probes':[{'get':'/x/{operation_id}','found':{'status':'200'},"                           \
	"'absent':{'status':'404'}}],'existence_only':'true'"
#define ASKING(text) "{" PROBE ",'actions':{'missing':'requeue'}," text "}"
#define BY_KEY                                                                                     \
	ASKING("'idempotent':'key','resend':{'key_valid':'24h'},"                                  \
	       "'requeue':{'max':'3','delay':'1m','factor':'2'},'attempts':{'max':'5'}")
#define KEY "{'idempotency_key':'k-1'}"

enum { DAY_S = 86400 };

/* clang-format off */
/* An operation that is missing. What is zero is as the clauses want it. */
static const struct row {
	const char *name, *policy, *op;
	const char *failed, *decided; /* failed NULL: none, then missing-requeue is meant */
	int now_s;		      /* after the first send; 0: an hour */
	int attempts, requeues;
	bool disputed, late, guarded, no_control, lost;
} rows[] = {
	{ "every clause holds", BY_KEY, KEY, NULL, NULL },
	{ "not idempotent", ASKING("'idempotent':'no'"), KEY, "idempotent", "missing-requeue-review" },
	{ "natural needs no key", ASKING("'idempotent':'natural'"), "{}", NULL, NULL },
	{ "nor does conditional", ASKING("'idempotent':'conditional'"), "{}", NULL, NULL },
	{ "no key to send again", BY_KEY, "{}", "same_key", "missing-requeue-review" },
	{ "the key is just known", BY_KEY, KEY, NULL, NULL, .now_s = DAY_S - 61 },
	{ "the key is forgotten when it is sent", BY_KEY, KEY, "key_fresh", "missing-requeue-review",
	  .now_s = DAY_S - 60 },
	{ "the next delay counts", BY_KEY, KEY, "key_fresh", "missing-requeue-review", .now_s = DAY_S - 120,
	  .requeues = 1 },
	{ "the first send counts, not the last", BY_KEY, "{'idempotency_key':'k-1','sent_at':'80000'}", "key_fresh",
	  "missing-requeue-review", .now_s = DAY_S },
	{ "how long a key is known does not matter without one", ASKING("'idempotent':'natural'"), KEY, NULL, NULL,
	  .now_s = 400 * DAY_S },
	{ "an attempt is alive", BY_KEY, "{'idempotency_key':'k-1','attempt_until':'3600'}", "attempt_over",
	  "missing-requeue-review" },
	{ "it was alive until just now", BY_KEY, "{'idempotency_key':'k-1','attempt_until':'3599'}", NULL, NULL },
	{ "superseded", BY_KEY, "{'idempotency_key':'k-1','superseded_by':'op_2'}", "wanted",
	  "missing-requeue-review" },
	{ "cancelled", BY_KEY, "{'idempotency_key':'k-1','entity_state':'cancelled'}", "wanted",
	  "missing-requeue-review" },
	{ "a state of the entity that nobody knows", BY_KEY, "{'idempotency_key':'k-1','entity_state':''}", "wanted",
	  "missing-requeue-review" },
	{ "another effect was seen once", BY_KEY, KEY, "undisputed", "missing-requeue-review", .disputed = true },
	{ "an old answer", BY_KEY, KEY, "fresh", "missing-late-wait", .late = true },
	{ "no control is declared", BY_KEY, KEY, "control", "missing-requeue-review", .no_control = true },
	{ "the control is lost", BY_KEY, KEY, "control", "missing-requeue-review", .lost = true },
	{ "the last requeue", BY_KEY, KEY, NULL, NULL, .requeues = 2 },
	{ "requeued too often", BY_KEY, KEY, "limits", "missing-requeue-review", .requeues = 3 },
	{ "the last attempt", BY_KEY, KEY, NULL, NULL, .attempts = 4 },
	{ "tried too often", BY_KEY, KEY, "limits", "missing-requeue-review", .attempts = 5 },
	{ "never, says the policy", ASKING("'idempotent':'natural','requeue':{'max':'0'}"), "{}", "limits",
	  "missing-requeue-review" },
	{ "a guard is tripped", BY_KEY, KEY, "guard", "guard-wait", .guarded = true },
};
/* clang-format on */

static struct verdict
missing(void)
{
	return (struct verdict){
		.class = CLASS_MISSING,
		.reason = "absent_confirmed",
		.rule = "absence",
		.earned = { .class = CLASS_MISSING, .looks = 2, .since_us = SENT_US },
	};
}

static struct decision
decision_of(struct arena *arena, const struct row *row)
{
	struct operation op = build_operation(arena, row->op);
	struct verdict verdict = missing();
	struct decide_context context = {
		.arena = arena,
		.late = row->late,
		.guarded = row->guarded,
		.control = row->no_control ? CONTROL_NONE
			   : row->lost	   ? CONTROL_LOST
					   : CONTROL_FOUND,
		.now_us = SENT_US + (row->now_s ? row->now_s : 3600) * SECOND,
	};
	struct decision decision;

	op.attempts = row->attempts;
	op.requeues = row->requeues;
	op.disputed = row->disputed;
	decide(build_policy(arena, row->policy), &op, &verdict, &context, &decision);
	return decision;
}

static void
test_row(struct arena *arena, const struct row *row)
{
	struct decision d = decision_of(arena, row);
	bool each = true;

	tap_str(d.row, row->failed ? row->decided : "missing-requeue", row->name);
	tap_int((long long)d.clauses_count, 10, "all clauses are told");
	for (size_t i = 0; i < d.clauses_count; i++) {
		bool fails = row->failed && strcmp(clause_name(d.clauses[i].clause), row->failed) == 0;

		each = each && d.clauses[i].clause == (enum clause)i && d.clauses[i].ok == !fails;
	}
	tap_ok(each, "%s fails and no other", row->failed ? row->failed : "none");
	tap_ok(d.corrects == !row->failed, "a correction exactly if none fails");
}

static void
test_names(void)
{
	static const char *const names[] = { "idempotent", "same_key", "key_fresh", "attempt_over",
					     "wanted",	   "undisputed", "fresh",   "control",
					     "limits",	   "guard" };

	for (int i = 0; i < CLAUSE_COUNT; i++)
		tap_str(clause_name((enum clause)i), names[i], "the public name of a clause");
}

static void
test_times(struct arena *arena)
{
	struct row row = { .policy = BY_KEY, .op = KEY };
	struct decision d = decision_of(arena, &row);

	tap_int(d.next_attempt_in_us, MINUTE, "workers may take it after requeue.delay");
	tap_int(d.due_in_us, 2 * MINUTE, "and it is looked at a little later");
	row.requeues = 2;
	d = decision_of(arena, &row);
	tap_int(d.next_attempt_in_us, 4 * MINUTE, "the third time after twice the delay, twice");
	tap_int(d.due_in_us, 5 * MINUTE, "and a look after that");
	row = (struct row){ .policy = BY_KEY, .op = KEY, .late = true };
	d = decision_of(arena, &row);
	tap_int(d.due_in_us, MINUTE, "an answer that is too old is asked for after recheck.first");
	tap_int(d.next_attempt_in_us, 0, "and no worker may take it");
	tap_int(d.postponed, 1, "which is counted");
	row = (struct row){ .policy = BY_KEY, .op = KEY, .guarded = true };
	tap_int(decision_of(arena, &row).due_in_us, MINUTE, "what a guard holds: by recheck");
}

/* What draws on the guard, what is held by it, what is a correction. */
static void
test_marks(struct arena *arena)
{
	struct row row = { .policy = BY_KEY, .op = KEY };
	struct decision d = decision_of(arena, &row);

	tap_ok(d.guarded && d.corrects && !d.held && !d.observed, "a requeue draws on the guard");
	row.disputed = true;
	d = decision_of(arena, &row);
	tap_ok(d.guarded && !d.corrects && !d.held, "a review too, but it corrects nothing");
	row.guarded = true;
	d = decision_of(arena, &row);
	tap_ok(!d.guarded && !d.corrects && d.held, "what is held does not");
	tap_ok(d.changed && d.status == STATUS_AWAITING_CONFIRMATION && !d.outbox_type,
	       "it is recorded, its status stays");
	row = (struct row){ .policy = "{" PROBE ",'actions':{'missing':'review'}}", .op = KEY };
	d = decision_of(arena, &row);
	tap_int((long long)d.clauses_count, 0, "no clauses where no requeue is asked for");
	row.policy = "{" PROBE ",'mode':'observe','idempotent':'natural',"
		     "'actions':{'missing':'requeue'}}";
	d = decision_of(arena, &row);
	tap_ok(d.observed && d.action == ACTION_REQUEUE && !d.guarded && !d.corrects &&
		       d.next_attempt_in_us == 0,
	       "observing draws on no guard and hands out nothing");
	tap_int((long long)d.clauses_count, 10, "but tells the clauses");
}

/* Three answers in a row that come too late; any other verdict starts that count anew. */
static void
test_postponed(struct arena *arena)
{
	const struct policy *policy = build_policy(arena, BY_KEY);
	struct operation op = build_operation(arena, KEY);
	struct decide_context context = { .arena = arena,
					  .late = true,
					  .control = CONTROL_FOUND,
					  .now_us = SENT_US + HOUR };
	struct verdict verdict = missing();
	struct decision d;

	decide(policy, &op, &verdict, &context, &d);
	op.postponed = d.postponed;
	decide(policy, &op, &verdict, &context, &d);
	tap_int(d.postponed, 2, "twice too late");
	op.postponed = d.postponed;
	verdict.class = CLASS_INCONCLUSIVE;
	decide(policy, &op, &verdict, &context, &d);
	tap_int(d.postponed, 2, "a look without verdict does not change that");
	verdict.class = CLASS_AMBIGUOUS;
	decide(policy, &op, &verdict, &context, &d);
	tap_int(d.postponed, 0, "another verdict does");
	verdict = missing();
	decide(policy, &op, &verdict, &context, &d);
	tap_str(d.row, "missing-late-review", "the third time a person is asked");
	tap_int(d.postponed, 0, "and the count is over");
	context.late = false;
	decide(policy, &op, &verdict, &context, &d);
	tap_str(d.row, "missing-requeue", "a fresh answer sends it again");
	tap_int(d.postponed, 0, "and the count is over as well");
}

/* Through the whole judgement: two absences, the control found. */
static void
test_history(struct arena *arena)
{
	struct scenario s = scenario_start(
		arena,
		"{'probes':[{'get':'/x/{operation_id}','found':{'status':'200'},"
		"'absent':{'status':'404','/e':'none'}}],'existence_only':'true',"
		"'latency_window':'5m','idempotent':'natural','actions':{'missing':'requeue'}}",
		"{}", "{}");
	static const struct scripted answers[] = {
		{ .at_s = 300, .status = 404, .body = "{'e':'none'}", .control = CONTROL_FOUND },
		{ .at_s = 599, .status = 404, .body = "{'e':'none'}", .control = CONTROL_FOUND },
		{ .at_s = 600, .status = 404, .body = "{'e':'none'}", .control = CONTROL_FOUND },
	};

	scenario_play(arena, &s, answers, 2);
	tap_int(s.op.status, STATUS_AWAITING_CONFIRMATION, "absence is not proven yet");
	scenario_play(arena, &s, answers + 2, 1);
	tap_int(s.op.status, STATUS_RETRY_SCHEDULED, "then it is sent again");
	scenario_play(arena, &s, answers + 2, 1);
	tap_str(s.decision.row, "missing-worker-wait", "and waits for its worker");
}

static uint64_t seed = 20260302;

static uint32_t
draw(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

/* Mostly true, so that all clauses hold often enough. */
static bool
likely(void)
{
	return draw(16) != 0;
}

struct draft {
	struct policy policy;
	struct operation op;
	struct decide_context context;
};

static void
draw_draft(struct draft *draft, const struct policy *policy, const struct operation *op)
{
	draft->policy = *policy;
	draft->policy.enforce = likely();
	draft->policy.idempotent = likely() ? IDEMPOTENT_KEY : (enum idempotence)draw(4);
	draft->policy.key_valid_us = (1 + draw(48)) * HOUR;
	draft->policy.requeue_max = (int)draw(6);
	draft->policy.attempts_max = 1 + (int)draw(8);
	draft->op = *op;
	draft->op.status = likely() ? STATUS_AWAITING_CONFIRMATION : (enum status)draw(STATUS_COUNT);
	draft->op.idempotency_key = likely() ? "k-1" : "";
	draft->op.superseded_by = likely() ? "" : "op_2";
	draft->op.entity_state = likely() ? "active" : "deleted";
	draft->op.disputed = !likely();
	draft->op.attempts = (int)draw(5);
	draft->op.requeues = (int)draw(3);
	draft->op.postponed = (int)draw(3);
	draft->op.attempt_until_us = likely() ? TIME_NONE : SENT_US + draw(DAY_S) * SECOND;
	draft->context.observe = !likely();
	draft->context.guarded = !likely();
	draft->context.late = !likely();
	draft->context.control = likely() ? CONTROL_FOUND : (enum control_state)draw(3);
	draft->context.now_us = SENT_US + draw(DAY_S) * SECOND;
	draft->context.random = draw(UINT32_MAX);
}

/* Promise 5 in one sentence, in its own words and with its own sums. */
static bool
is_safe(const struct draft *of)
{
	const struct operation *op = &of->op;
	int64_t delay_us = MINUTE;

	for (int i = 0; i < op->requeues; i++)
		delay_us *= 2;
	if (of->policy.idempotent == IDEMPOTENT_NO)
		return false;
	if (of->policy.idempotent == IDEMPOTENT_KEY &&
	    (strlen(op->idempotency_key) == 0 ||
	     of->context.now_us + delay_us - op->first_sent_at_us >= of->policy.key_valid_us))
		return false;
	if (op->attempt_until_us != TIME_NONE && op->attempt_until_us >= of->context.now_us)
		return false;
	return strlen(op->superseded_by) == 0 && strcmp(op->entity_state, "active") == 0 &&
	       !op->disputed && !of->context.late && of->context.control == CONTROL_FOUND &&
	       op->requeues < of->policy.requeue_max && op->attempts < of->policy.attempts_max &&
	       !of->context.guarded &&
	       (op->status == STATUS_AWAITING_CONFIRMATION || op->status == STATUS_PROCESSING);
}

static void
test_random(struct arena *arena)
{
	const struct policy *policy = build_policy(arena, BY_KEY);
	const struct operation op = build_operation(arena, KEY);
	bool safe = true, complete = true, guarded = true, told = true;
	int sent = 0, held = 0;

	for (int i = 0; i < 20000; i++) {
		struct draft draft = { .context.arena = arena };
		struct verdict verdict = missing();
		struct decision d;

		draw_draft(&draft, policy, &op);
		decide(&draft.policy, &draft.op, &verdict, &draft.context, &d);
		sent += d.action == ACTION_REQUEUE;
		held += d.held;
		safe = safe && (d.action != ACTION_REQUEUE || is_safe(&draft));
		complete = complete && (d.action == ACTION_REQUEUE || !is_safe(&draft));
		told = told && (d.clauses_count == CLAUSE_COUNT ||
				status_is_final(draft.op.status) ||
				draft.op.status == STATUS_COMPENSATING);
		if (draft.context.guarded || d.observed)
			guarded = guarded && d.status == draft.op.status && !d.outbox_type;
	}
	tap_ok(safe, "promise 5: nothing is sent again unless every clause holds (%d times)", sent);
	tap_ok(complete, "and all that may be is");
	tap_ok(told, "the clauses are always told");
	tap_ok(guarded, "promises 9 and 12: observed or held, no status changes (%d held)", held);
	tap_ok(sent > 1000 && held > 100, "both happen");
}

int
main(void)
{
	struct arena *arena = arena_create();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		test_row(arena, &rows[i]);
	test_names();
	test_times(arena);
	test_marks(arena);
	test_postponed(arena);
	test_history(arena);
	test_random(arena);
	arena_destroy(arena);
	return tap_done();
}
