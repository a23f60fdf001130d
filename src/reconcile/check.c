/* SPDX-License-Identifier: Apache-2.0
 *
 * State machine of one operation. The only waiting state is PROBING; its deadline is the target's
 * total timeout, kept by the probe engine, which answers every probe exactly once.
 */
#include <assert.h>
#include <stdlib.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/probe/engine.h"
#include "reconciled/reconcile/check.h"

enum state { CHECK_IDLE, CHECK_ASKING, CHECK_PROBING, CHECK_JUDGED };

struct check {
	enum state state;
	struct arena *arena;
	struct check_subject subject;
	struct decide_context context;
	struct probe_run *run; /* PROBING */
	bool reread;	       /* PROBING: what is asked is a second read */
	int64_t answered_us;   /* CLOCK_MONOTONIC: the oldest answer of the look */
	struct look look;
	struct verdict verdict;
	struct decision decision;
	check_judged_fn *judged;
	void *owner;
};

static void ask(struct check *check);

struct check *
check_create(check_judged_fn *judged, void *owner)
{
	struct check *check = xcalloc(1, sizeof(*check));

	check->arena = arena_create();
	check->judged = judged;
	check->owner = owner;
	return check;
}

void
check_destroy(struct check *check)
{
	if (!check)
		return;
	check_reset(check);
	arena_destroy(check->arena);
	free(check);
}

struct arena *
check_arena(struct check *check)
{
	return check->arena;
}

struct check_subject *
check_subject(struct check *check)
{
	return &check->subject;
}

void
check_reset(struct check *check)
{
	if (check->state == CHECK_PROBING)
		probe_cancel(check->run);
	check->state = CHECK_IDLE;
	check->run = NULL;
	check->look = (struct look){ 0 };
	arena_reset(check->arena);
}

const struct look *
check_look(const struct check *check)
{
	return &check->look;
}

const struct verdict *
check_verdict(const struct check *check)
{
	return &check->verdict;
}

const struct decision *
check_decision(const struct check *check)
{
	return &check->decision;
}

int64_t
check_answered_us(const struct check *check)
{
	return check->answered_us + check->subject.clock_offset_us;
}

struct decision
check_decide_if(const struct check *check, bool guarded, bool late)
{
	struct decide_context context = check->context;
	struct decision decision;

	context.guarded = guarded;
	context.late = late;
	decide(check->subject.type->policy, &check->subject.op, &check->verdict, &context,
	       &decision);
	return decision;
}

static void
judge(struct check *check)
{
	const struct policy *policy = check->subject.type->policy;
	struct operation *op = &check->subject.op;

	check->state = CHECK_JUDGED;
	if (check->look.count == 0)
		check->answered_us = clock_monotonic_us();
	check->context.control = check->look.control;
	check->context.now_us = check_answered_us(check);
	classify(check->arena, policy, op, &check->look, &check->verdict);
	decide(policy, op, &check->verdict, &check->context, &check->decision);
	check->judged(check->owner, check);
}

static void
on_answer(void *owner, const struct probe_answer *answer)
{
	struct check *check = owner;

	assert(check->state == CHECK_PROBING);
	check->run = NULL;
	if (check->look.count == 0 || answer->answered_us < check->answered_us)
		check->answered_us = answer->answered_us;
	if (check->look.count == 0)
		check->look.at_us = answer->began_us + check->subject.clock_offset_us;
	check->look.control = answer->control;
	check->look.reread = check->reread;
	check->look.readings[check->look.count++] = answer->reading;
	ask(check);
}

static void
ask(struct check *check)
{
	const struct check_subject *subject = &check->subject;
	struct probe_question question = { .arena = check->arena };
	struct look_step step;

	check->state = CHECK_ASKING;
	step = look_next(subject->type->policy, &subject->op, &check->look, check->arena);
	if (!step.probe) {
		judge(check);
		return;
	}
	question.probe = step.probe;
	question.op = step.op;
	check->reread = step.reread;
	check->state = CHECK_PROBING;
	check->run = probe_start(subject->type->target, &question, on_answer, check);
}

void
check_start(struct check *check, const struct decide_context *context)
{
	assert(check->state == CHECK_IDLE);
	check->context = *context;
	check->context.arena = check->arena;
	check->look.at_us = clock_monotonic_us() + check->subject.clock_offset_us;
	ask(check);
}
