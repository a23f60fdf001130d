/* SPDX-License-Identifier: Apache-2.0
 *
 * How a rule becomes a verdict: trace, class, reason, and the limits after which waiting or a lack
 * of evidence becomes a case for a person. Which rules there are is not known here.
 */
#include "judgement.h"

#include "earned.h"

#include "reconciled/base/arena.h"

/* Places in the trace that rules which did not hold leave free. */
enum { TRACES_RESERVED = 2 };

struct scene
judgement_scene(const struct judgement *of, const struct item *item)
{
	return (struct scene){
		.arena = of->arena,
		.op = of->op,
		.response = item->response,
		.item = item->value,
	};
}

static void
add_trace(struct verdict *verdict, const char *rule, bool held)
{
	if (verdict->traces_count < VERDICT_TRACES_MAX)
		verdict->traces[verdict->traces_count++] = (struct rule_trace){ rule, held };
}

void
judgement_pass(struct judgement *of, const char *rule)
{
	if (of->verdict->traces_count < VERDICT_TRACES_MAX - TRACES_RESERVED)
		add_trace(of->verdict, rule, false);
}

static void
set_verdict(struct judgement *of, const char *rule, enum verdict_class class, const char *reason)
{
	of->verdict->class = class;
	of->verdict->reason = reason;
	of->verdict->rule = rule;
	add_trace(of->verdict, rule, true);
}

void
judgement_fire(struct judgement *of, const char *rule, enum verdict_class class, enum reason reason)
{
	set_verdict(of, rule, class, reason_name(reason));
}

void
judgement_inconclusive(struct judgement *of, const char *rule, enum reason reason)
{
	struct verdict *verdict = of->verdict;
	/* The target answers everything like this, so it says nothing about this operation. */
	bool lost = of->look->control == CONTROL_LOST;

	verdict->earned = of->op->earned;
	if (reason_counts_to_give_up(reason) && !lost)
		verdict->earned.inconclusive++;
	verdict->unavailable = reason_is_unavailable(reason) || reason == REASON_CONTROL;
	if (lost || verdict->earned.inconclusive < of->policy->give_up) {
		judgement_fire(of, rule, CLASS_INCONCLUSIVE, reason);
		return;
	}
	judgement_pass(of, rule);
	judgement_fire(of, "give_up", CLASS_AMBIGUOUS, REASON_GIVE_UP);
}

/* What was earned before stays. A look that is judged late was too early all the same. */
static void
keep_waiting(struct judgement *of, const char *rule, int64_t after_us)
{
	of->verdict->earned = of->op->earned;
	of->verdict->earned.inconclusive = 0;
	judgement_fire(of, rule, CLASS_WAITING,
		       look_now_us(of->look) < after_us ? REASON_TOO_EARLY
							: REASON_ABSENT_UNCONFIRMED);
}

bool
judgement_may_count(struct judgement *of, const char *rule)
{
	int64_t after_us = earned_after_us(of->policy, of->op);

	if (of->look->control == CONTROL_LOST)
		judgement_inconclusive(of, "control", REASON_CONTROL);
	else if (of->op->first_sent_at_us == TIME_NONE)
		judgement_fire(of, rule, CLASS_WAITING, REASON_NEVER_SENT);
	else if (of->look->at_us < after_us)
		keep_waiting(of, rule, after_us);
	else
		return true;
	return false;
}

/* A waiting state at the target may last so long, then a person looks. */
static bool
is_stuck(const struct judgement *of)
{
	int64_t basis_us = earned_basis_us(of->op);

	if (basis_us == TIME_NONE)
		basis_us = of->op->created_at_us;
	return basis_us != TIME_NONE &&
	       look_now_us(of->look) > basis_us + of->policy->waiting_until_us;
}

void
judgement_wait(struct judgement *of, const char *rule, const char *reason)
{
	of->stuck = is_stuck(of);
	if (of->stuck)
		judgement_fire(of, rule, CLASS_AMBIGUOUS, REASON_STUCK_AT_TARGET);
	else
		set_verdict(of, rule, CLASS_WAITING, reason);
}

static bool
is_word(const char *text)
{
	const char *c = text;

	while ((*c >= 'a' && *c <= 'z') || *c == '_')
		c++;
	return c != text && *c == '\0';
}

static enum verdict_class class_of_row(enum judge_class class)
{
	switch (class) {
	case JUDGE_WAITING:
		return CLASS_WAITING;
	case JUDGE_DIVERGENT:
		return CLASS_DIVERGENT;
	case JUDGE_AMBIGUOUS:
		return CLASS_AMBIGUOUS;
	case JUDGE_NOT_APPLICABLE:
		return CLASS_NOT_APPLICABLE;
	case JUDGE_COMPARE:
		break;
	}
	return CLASS_NONE;
}

/* A `why` of one word is the reason itself; any other text stands beside the reason. */
static void
fire_row(struct judgement *of, const char *rule, const struct judge_row *row)
{
	const char *reason = reason_name(REASON_JUDGED);

	if (row->why && is_word(row->why))
		reason = row->why;
	else
		of->verdict->why = row->why;
	if (row->class == JUDGE_WAITING)
		judgement_wait(of, rule, reason);
	else
		set_verdict(of, rule, class_of_row(row->class), reason);
}

bool
judgement_rows(struct judgement *of, const char *name, const struct judge_rows *rows,
	       const struct scene *scene)
{
	for (size_t i = 0; i < rows->count; i++) {
		const char *rule = arena_printf(of->arena, "%s[%zu]", name, i);

		if (!condition_holds(scene, &rows->rows[i].when)) {
			judgement_pass(of, rule);
			continue;
		}
		if (rows->rows[i].class != JUDGE_COMPARE) {
			fire_row(of, rule, &rows->rows[i]);
			return true;
		}
		add_trace(of->verdict, rule, true);
		return false;
	}
	return false;
}
