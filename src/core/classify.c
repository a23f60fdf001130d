/* SPDX-License-Identifier: Apache-2.0
 *
 * From the readings of one look to a verdict. Which probe is next, and which rule a reading falls
 * under; absence and found items are judged in files of their own.
 */
#include <assert.h>

#include "earned.h"
#include "judgement.h"
#include "stale.h"

const char *
control_state_name(enum control_state control)
{
	switch (control) {
	case CONTROL_NONE:
		return "none";
	case CONTROL_FOUND:
		return "found";
	case CONTROL_LOST:
		return "absent";
	}
	return "";
}

static void
judge_unfinished(struct judgement *of)
{
	judgement_wait(of, "unfinished", reason_name(REASON_UNFINISHED_AT_TARGET));
}

static void
judge_gone(struct judgement *of)
{
	struct scene scene = { .arena = of->arena, .op = of->op };

	if (!judgement_rows(of, "on_gone", &of->policy->on_gone, &scene))
		judgement_fire(of, "gone", CLASS_DIVERGENT, REASON_GONE_AT_TARGET);
}

static void
judge_several(struct judgement *of)
{
	of->verdict->several = true;
	if (of->policy->several_divergent)
		judgement_fire(of, "several", CLASS_DIVERGENT, REASON_DUPLICATE_EFFECT);
	else
		judgement_fire(of, "several", CLASS_AMBIGUOUS, REASON_SEVERAL_AT_TARGET);
}

/* Absent here, so the next place is asked. */
static bool
goes_on(const struct reading *reading)
{
	return reading->kind == READING_ABSENT;
}

/* Whose place in the order the last reading has: a second read, and nothing else, follows what was
 * found, and stands for it. */
static const struct reading *
last_in_order(const struct look *look)
{
	const struct reading *const *last = &look->readings[look->count - 1];

	return look->count > 1 && last[-1]->kind == READING_FOUND ? last[-1] : last[0];
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
		probe = last_in_order(look)->probe + 1;
		assert(probe > policy->probes && probe <= end);
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

struct look_step
look_next(const struct policy *policy, const struct operation *op, const struct look *look,
	  struct arena *arena)
{
	struct look_step step = { .op = op };

	if (look->count == LOOK_READINGS_MAX)
		return step;
	if (look->count == 0)
		step.probe = first_probe(policy, op, arena);
	else if (goes_on(look->readings[look->count - 1]))
		step.probe = next_probe(policy, op, look, arena);
	else
		step = stale_next(policy, op, look, arena);
	return step;
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
	assert(of->reading->items_count + of->reading->skipped_count > 0);
	if (of->reading->items_count > 1)
		judge_several(of);
	else
		stale_judge(of);
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
