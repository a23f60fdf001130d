/* SPDX-License-Identifier: Apache-2.0
 *
 * One object was found: the policy's judge rows, then the comparison, then what older and newer
 * mean. `correct` comes from here and from nowhere else.
 */
#include <string.h>

#include "earned.h"
#include "judgement.h"

#include "reconciled/base/arena.h"

/* As long as what applications may say about themselves; it goes into events. */
enum { REMOTE_ID_MAX = 500 };

static const char COMPARE[] = "compare", OUTCOME[] = "outcome";

/* What the operation will remember the object by: the text of one plain value. */
static const char *
remote_id(const struct scene *scene, const struct probe *probe)
{
	struct located found;

	if (!probe->has_remote_id)
		return NULL;
	found = locator_find(scene, &probe->remote_id);
	if (found.several || found.count != 1 || !value_is_scalar(found.values[0]))
		return NULL;
	if (found.values[0]->len == 0 || found.values[0]->len > REMOTE_ID_MAX ||
	    strlen(found.values[0]->text) != found.values[0]->len)
		return NULL;
	return found.values[0]->text;
}

static size_t
count_result(const struct verdict *verdict, enum compare_result result)
{
	size_t n = 0;

	for (size_t i = 0; i < verdict->compared_count; i++)
		n += verdict->compared[i].result == result;
	return n;
}

/*
 * An older (or newer) copy that the policy takes for a missing effect is negative evidence and is
 * earned like an absence, in a run of its own.
 */
static void
earn_missing(struct judgement *of, enum reason reason)
{
	struct verdict *verdict = of->verdict;
	int64_t at_us = of->look->at_us;

	if (!judgement_may_count(of, OUTCOME))
		return;
	verdict->earned = earned_with(of->policy, of->op, CLASS_WAITING, at_us);
	if (earned_enough(of->policy, &verdict->earned, at_us))
		judgement_fire(of, OUTCOME, CLASS_MISSING, reason);
	else
		judgement_fire(of, OUTCOME, CLASS_WAITING, REASON_ABSENT_UNCONFIRMED);
}

static void
apply_outcome(struct judgement *of, enum outcome outcome, enum reason reason)
{
	bool superseded = of->op->superseded_by[0] != '\0';

	switch (outcome) {
	case OUTCOME_DIVERGENT:
		judgement_fire(of, COMPARE, CLASS_DIVERGENT, reason);
		return;
	case OUTCOME_NOT_APPLICABLE:
		judgement_fire(of, OUTCOME, superseded ? CLASS_NOT_APPLICABLE : CLASS_DIVERGENT,
			       reason);
		return;
	case OUTCOME_MISSING:
		of->by_outcome = true;
		earn_missing(of, reason);
		return;
	}
}

static void
weigh(struct judgement *of)
{
	const struct verdict *verdict = of->verdict;
	size_t older = count_result(verdict, COMPARED_OLDER);
	size_t newer = count_result(verdict, COMPARED_NEWER);
	size_t equal = count_result(verdict, COMPARED_EQUAL);

	if (count_result(verdict, COMPARED_DIFFERENT) > 0)
		judgement_fire(of, COMPARE, CLASS_DIVERGENT, REASON_FIELD_DIFFERS);
	else if (count_result(verdict, COMPARED_UNREADABLE) > 0)
		judgement_fire(of, COMPARE, CLASS_AMBIGUOUS, REASON_UNREADABLE);
	else if (older > 0 && newer > 0)
		judgement_fire(of, COMPARE, CLASS_DIVERGENT, REASON_NEWER);
	else if (newer > 0)
		apply_outcome(of, of->policy->newer, REASON_NEWER);
	else if (older > 0)
		apply_outcome(of, of->policy->older, REASON_OLDER);
	else if (equal == verdict->compared_count && (equal > 0 || of->policy->existence_only))
		judgement_fire(of, COMPARE, CLASS_CORRECT, REASON_FIELDS_EQUAL);
	else /* nothing to compare with: existence alone was not declared enough */
		judgement_fire(of, COMPARE, CLASS_AMBIGUOUS, REASON_UNREADABLE);
}

static void
compare_fields(struct judgement *of, const struct scene *scene)
{
	size_t count = of->policy->compare_count;
	struct compared *compared = arena_array(of->arena, struct compared, count ? count : 1);

	for (size_t i = 0; i < count; i++)
		compared[i] = compare_field(scene, &of->policy->compare[i]);
	of->verdict->compared = compared;
	of->verdict->compared_count = count;
}

/* What is read a second time is the same object, also where that probe says nothing of its id. */
static const char *
remote_id_before(const struct judgement *of)
{
	const struct reading *before;
	struct scene scene;

	if (!of->look->reread || of->look->count < 2)
		return NULL;
	before = of->look->readings[of->look->count - 2];
	if (before->items_count != 1)
		return NULL;
	scene = judgement_scene(of, &before->items[0]);
	return remote_id(&scene, before->probe);
}

void
judge_item(struct judgement *of, const struct item *item)
{
	struct scene scene = judgement_scene(of, item);

	of->verdict->item = item->value;
	of->verdict->item_response = item->response;
	of->verdict->remote_id = remote_id(&scene, of->reading->probe);
	if (of->verdict->remote_id == NULL)
		of->verdict->remote_id = remote_id_before(of);
	if (judgement_rows(of, "judge", &of->policy->judge, &scene))
		return;
	compare_fields(of, &scene);
	weigh(of);
}
