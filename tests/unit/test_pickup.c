/* SPDX-License-Identifier: Apache-2.0
 *
 * When an operation that no worker takes is announced again, and when it is looked at for that.
 */
#include "policy_builder.h"

#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "tap.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* The pickup window is the latency window: five minutes. */
#define POLICY(mode)                                                                               \
	"{'probes':[{'get':'/x','found':{'status':'200'},'absent':{'status':'404'}}],"             \
	"'existence_only':'true','requeue':{'max':'3'},'mode':'" mode "'}"
#define REQUESTED "operation.requested"
#define REQUEUED "operation.requeued"

enum { EARLY_S = 299, TIME_S = 300 };

/* clang-format off */
/* Requested at 0 and looked at after now_s. */
static const struct row {
	const char *name, *op;
	int now_s;
	const char *announced; /* the type of the event; NULL: it is not */
	enum verdict_class class;
	const char *reason;
	enum status status;
	int ready_s, announced_s, announcements; /* 0: never */
	bool guarded, observe, look_first;
	const char *policy;
} rows[] = {
	{ "nobody took it within the window", "{'sent':null}", TIME_S, REQUESTED },
	{ "the window is not over", "{'sent':null}", EARLY_S, NULL },
	{ "announced once, the window begins again", "{'sent':null}", 599, NULL, .announced_s = TIME_S,
	  .announcements = 1 },
	{ "and ends again", "{'sent':null}", 600, REQUESTED, .announced_s = TIME_S, .announcements = 1 },
	{ "the last time", "{'sent':null}", 1200, REQUESTED, .announced_s = 900, .announcements = 2 },
	{ "as often as it may be", "{'sent':null}", 9000, NULL, .announced_s = 1200, .announcements = 3 },
	{ "superseded: no worker may take it", "{'sent':null,'superseded_by':'op-2'}", TIME_S, NULL },
	{ "it needs a look first: no worker may take it", "{'sent':null}", TIME_S, NULL, .look_first = true },
	{ "a guard is tripped", "{'sent':null}", TIME_S, NULL, .guarded = true },
	{ "the instance observes", "{'sent':null}", TIME_S, NULL, .observe = true },
	{ "the policy observes", "{'sent':null}", TIME_S, NULL, .policy = POLICY("observe") },
	{ "the target could not be asked", "{'sent':null}", TIME_S, NULL, CLASS_INCONCLUSIVE, "timeout" },
	{ "the target is still at it", "{'sent':null}", TIME_S, NULL, CLASS_WAITING, "unfinished_at_target" },
	{ "an older copy is there", "{'sent':null}", TIME_S, REQUESTED, CLASS_DIVERGENT, "older" },
	{ "another effect is there", "{'sent':null}", TIME_S, NULL, CLASS_DIVERGENT, "field_differs" },
	{ "it is there", "{'sent':null}", TIME_S, NULL, CLASS_CORRECT, "fields_equal" },
	{ "handed back, and nobody took it", "{}", 400, REQUEUED, CLASS_MISSING, "absent_confirmed",
	  STATUS_RETRY_SCHEDULED, .ready_s = 100 },
	{ "handed back, the window is not over", "{}", 399, NULL, CLASS_MISSING, "absent_confirmed",
	  STATUS_RETRY_SCHEDULED, .ready_s = 100 },
	{ "handed back, not yet seen missing", "{}", 400, NULL, CLASS_WAITING, "absent_unconfirmed",
	  STATUS_RETRY_SCHEDULED, .ready_s = 100 },
	{ "a worker has it", "{}", 9000, NULL, CLASS_WAITING, "too_early", STATUS_PROCESSING },
};
/* clang-format on */

static int64_t
at(int s)
{
	return s == 0 ? TIME_NONE : SENT_US + s * SECOND;
}

static struct decision
decision_of(struct arena *arena, const struct row *row)
{
	struct operation op = build_operation(arena, row->op);
	const struct verdict verdict = {
		.class = row->class == CLASS_NONE ? CLASS_WAITING : row->class,
		.reason = row->class == CLASS_NONE ? "never_sent" : row->reason,
		.rule = "absence",
		.earned.since_us = TIME_NONE,
	};
	const struct decide_context context = {
		.arena = arena,
		.guarded = row->guarded,
		.observe = row->observe,
		.now_us = SENT_US + row->now_s * SECOND,
	};
	struct decision decision;

	op.status = row->status;
	op.created_at_us = SENT_US;
	op.next_attempt_at_us = at(row->ready_s);
	op.announced_at_us = at(row->announced_s);
	op.announcements = row->announcements;
	op.look_first = row->look_first;
	decide(build_policy(arena, row->policy ? row->policy : POLICY("enforce")), &op, &verdict,
	       &context, &decision);
	return decision;
}

static void
test_rows(struct arena *arena)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *row = &rows[i];
		struct decision d = decision_of(arena, row);

		tap_str(d.announces ? d.outbox_type : NULL, row->announced, row->name);
		if (row->announced)
			tap_ok(d.changed && d.action == ACTION_WAIT && d.status == row->status &&
				       strcmp(d.event, "announced") == 0,
			       "it is journaled, and nothing else happens");
	}
}

/* Looks are a minute, two, four … apart: the first one of those after the window would be late. */
static void
test_next_look(struct arena *arena)
{
	struct row row = { "", "{'sent':null}", 210, NULL };

	tap_int(decision_of(arena, &row).due_in_us, 60 * SECOND, "the next look as ever");
	row.now_s = 290;
	tap_int(decision_of(arena, &row).due_in_us, 60 * SECOND, "no sooner than looks are spaced");
	row.now_s = TIME_S;
	tap_int(decision_of(arena, &row).due_in_us, 60 * SECOND, "announced, the next look as ever");
}

static void
test_late_look(struct arena *arena)
{
	const struct policy *policy = build_policy(arena, POLICY("enforce"));
	struct operation op = build_operation(arena, "{'sent':null}");
	const struct verdict verdict = {
		.class = CLASS_WAITING, .reason = "never_sent", .earned.since_us = TIME_NONE
	};
	struct decide_context context = { .arena = arena, .now_us = SENT_US + 100 * SECOND };
	struct decision d;

	op.status = STATUS_PENDING;
	op.created_at_us = SENT_US;
	op.checks = 5; /* the next look would be in 32 minutes */
	decide(policy, &op, &verdict, &context, &d);
	tap_int(d.due_in_us, 200 * SECOND, "a look when the window ends");
	context.now_us = SENT_US + 300 * SECOND;
	decide(policy, &op, &verdict, &context, &d);
	tap_int(d.due_in_us, 300 * SECOND, "and when the next one ends");
	op.announcements = 3;
	decide(policy, &op, &verdict, &context, &d);
	tap_int(d.due_in_us, 1920 * SECOND, "none for what is not announced any more");
}

int
main(void)
{
	struct arena *arena = arena_create();

	test_rows(arena);
	test_next_look(arena);
	test_late_look(arena);
	arena_destroy(arena);
	return tap_done();
}
