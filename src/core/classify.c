/* SPDX-License-Identifier: Apache-2.0
 *
 * From the readings of one look to a verdict. Which probe is next, and which rule a reading falls
 * under; absence and found items are judged in files of their own.
 */
#include <assert.h>

#include "earned.h"
#include "judgement.h"

#include "reconciled/base/arena.h"

/* Places in the trace that rules which did not hold leave free. */
enum { TRACES_RESERVED = 2 };

struct scene
judgement_scene(const struct judgement *of, const struct value *item)
{
	return (struct scene){
		.arena = of->arena,
		.op = of->op,
		.response = of->reading->response,
		.item = item,
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

	verdict->earned = of->op->earned;
	if (reason_counts_to_give_up(reason))
		verdict->earned.inconclusive++;
	verdict->unavailable = reason_is_unavailable(reason) || reason == REASON_CONTROL;
	if (verdict->earned.inconclusive < of->policy->give_up) {
		judgement_fire(of, rule, CLASS_INCONCLUSIVE, reason);
		return;
	}
	judgement_pass(of, rule);
	judgement_fire(of, "give_up", CLASS_AMBIGUOUS, REASON_GIVE_UP);
}

/* A waiting state at the target may last so long, then a person looks. */
static bool
is_stuck(const struct judgement *of)
{
	int64_t basis_us = earned_basis_us(of->op);

	if (basis_us == TIME_NONE)
		basis_us = of->op->created_at_us;
	return basis_us != TIME_NONE && of->look->at_us > basis_us + of->policy->waiting_until_us;
}

static void
wait_or_stuck(struct judgement *of, const char *rule, const char *reason)
{
	if (is_stuck(of))
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
		wait_or_stuck(of, rule, reason);
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

void
judge_unfinished(struct judgement *of)
{
	wait_or_stuck(of, "unfinished", reason_name(REASON_UNFINISHED_AT_TARGET));
}

void
judge_gone(struct judgement *of)
{
	struct scene scene = { .arena = of->arena, .op = of->op };

	if (!judgement_rows(of, "on_gone", &of->policy->on_gone, &scene))
		judgement_fire(of, "gone", CLASS_DIVERGENT, REASON_GONE_AT_TARGET);
}

void
judge_several(struct judgement *of)
{
	of->verdict->several = true;
	if (of->policy->several_divergent)
		judgement_fire(of, "several", CLASS_DIVERGENT, REASON_DUPLICATE_EFFECT);
	else
		judgement_fire(of, "several", CLASS_AMBIGUOUS, REASON_SEVERAL_AT_TARGET);
}

/* Absent here, so the next place is asked; any other answer ends the look. */
static bool
goes_on(const struct reading *reading)
{
	return reading->kind == READING_ABSENT;
}

/* The probe after the last one that was asked; NULL when the look is over. */
static const struct probe *
next_probe(const struct policy *policy, const struct operation *op, const struct look *look,
	   struct arena *arena)
{
	const struct probe *end = policy->probes + policy->probes_count;
	const struct probe *probe = policy->probes;

	if (look->count > 0) {
		const struct reading *last = look->readings[look->count - 1];

		if (!goes_on(last))
			return NULL;
		assert(last->probe >= probe && last->probe < end);
		probe = last->probe + 1;
	}
	for (; probe < end; probe++)
		if (probe_applies(policy, probe, op, arena) == APPLIES)
			return probe;
	return NULL;
}

/* An unsafe reference in any probe that would be asked stops all of them. */
static bool
has_bad_reference(const struct policy *policy, const struct operation *op, struct arena *arena)
{
	for (size_t i = 0; i < policy->probes_count; i++)
		if (probe_applies(policy, &policy->probes[i], op, arena) == APPLIES_BAD_REFERENCE)
			return true;
	return false;
}

/* Each probe is looked at once: patterns of policies cost. */
static const struct probe *
first_probe(const struct policy *policy, const struct operation *op, struct arena *arena)
{
	const struct probe *first = NULL;

	for (size_t i = 0; i < policy->probes_count; i++) {
		enum applies applies = probe_applies(policy, &policy->probes[i], op, arena);

		if (applies == APPLIES_BAD_REFERENCE)
			return NULL;
		if (applies == APPLIES && first == NULL)
			first = &policy->probes[i];
	}
	return first;
}

const struct probe *
look_next_probe(const struct policy *policy, const struct operation *op, const struct look *look,
		struct arena *arena)
{
	if (look->count == LOOK_READINGS_MAX)
		return NULL;
	return look->count == 0 ? first_probe(policy, op, arena)
				: next_probe(policy, op, look, arena);
}

/* Nothing could be asked, or a probe that should have been was not. */
static void
judge_unasked(struct judgement *of)
{
	if (has_bad_reference(of->policy, of->op, of->arena))
		judgement_fire(of, "reference", CLASS_AMBIGUOUS, REASON_BAD_REFERENCE);
	else if (next_probe(of->policy, of->op, of->look, of->arena) == NULL)
		judgement_fire(of, "applicable", CLASS_AMBIGUOUS, REASON_NO_RELIABLE_QUERY);
	else
		judgement_inconclusive(of, "probe", REASON_INCOMPLETE);
}

static void
judge_absent(struct judgement *of)
{
	if (next_probe(of->policy, of->op, of->look, of->arena) != NULL)
		judgement_inconclusive(of, "probe", REASON_INCOMPLETE);
	else
		judge_absence(of);
}

static void
judge_found(struct judgement *of)
{
	assert(of->reading->items_count > 0);
	if (of->reading->items_count > 1)
		judge_several(of);
	else
		judge_item(of, of->reading->items[0]);
}

static void
judge_reading(struct judgement *of)
{
	switch (of->reading->kind) {
	case READING_FOUND:
		judge_found(of);
		return;
	case READING_ABSENT:
		judge_absent(of);
		return;
	case READING_GONE:
		judge_gone(of);
		return;
	case READING_SEVERAL:
		judge_several(of);
		return;
	case READING_UNFINISHED:
		judge_unfinished(of);
		return;
	case READING_UNAVAILABLE:
	case READING_INCOMPLETE:
		judgement_inconclusive(of, "probe", of->reading->reason);
		return;
	}
}

void
classify(struct arena *arena, const struct policy *policy, const struct operation *op,
	 const struct look *look, struct verdict *ret_verdict)
{
	struct judgement of = {
		.arena = arena,
		.policy = policy,
		.op = op,
		.look = look,
		.reading = look->count > 0 ? look->readings[look->count - 1] : NULL,
		.verdict = ret_verdict,
	};

	*ret_verdict = (struct verdict){ .earned = earned_nothing(), .reading = of.reading };
	if (of.reading == NULL)
		judge_unasked(&of);
	else
		judge_reading(&of);
	assert(ret_verdict->class != CLASS_NONE);
}
