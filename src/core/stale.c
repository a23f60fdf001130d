/* SPDX-License-Identifier: Apache-2.0
 *
 * An index or a copy may show what was before the effect. What it says in favour counts at once;
 * what it says against is read again where the truth is, or earned by saying it for long enough.
 */
#include "stale.h"

#include <string.h>

#include "earned.h"
#include "template_value.h"

#include "reconciled/base/arena.h"

/* A second read is the truth, so its own source is not asked about. */
static bool
may_be_behind(const struct look *look)
{
	const struct reading *last = look->readings[look->count - 1];

	return last->probe->stale && last->kind == READING_FOUND && !look->reread;
}

/* The verdict on one item is against the effect, or against the copy that was seen of it. */
static bool
is_against(const struct judgement *of)
{
	enum verdict_class class = of->verdict->class;

	return of->by_outcome || class == CLASS_DIVERGENT ||
	       (class == CLASS_AMBIGUOUS && !of->stuck);
}

/* A value that may take the place of a field; NULL where there is none that may be sent. */
static const char *
field_value(const struct scene *scene, const struct locator *from)
{
	struct located found = locator_find(scene, from);
	const struct value *value = found.count == 1 && !found.several ? found.values[0] : NULL;

	if (value == NULL || !value_is_scalar(value) || strlen(value->text) != value->len ||
	    !reference_is_default(value->text))
		return NULL;
	return value->text;
}

/* The operation with the fields that the item gives; NULL when one of them is missing. */
static const struct operation *
with_fields(const struct judgement *of, const struct reread *reread, const struct item *item)
{
	struct operation *op = arena_new(of->arena, struct operation);
	struct scene scene = judgement_scene(of, item);

	*op = *of->op;
	for (size_t i = 0; i < reread->with_count; i++) {
		const char *text = field_value(&scene, &reread->with[i].from);

		if (text == NULL || !operation_set_text(op, reread->with[i].field, text))
			return NULL;
	}
	return op;
}

static struct look_step
second_read(const struct judgement *of, const struct item *item)
{
	const struct reread *reread = &of->reading->probe->reread;
	const struct look_step none = { .op = of->op };
	struct look_step step = { .probe = reread->probe, .reread = true };

	if (reread->probe == NULL || of->look->count == LOOK_READINGS_MAX)
		return none;
	step.op = with_fields(of, reread, item);
	if (step.op == NULL ||
	    probe_applies(of->policy, reread->probe, step.op, of->arena) != APPLIES)
		return none;
	return step;
}

struct look_step
stale_next(const struct policy *policy, const struct operation *op, const struct look *look,
	   struct arena *arena)
{
	const struct reading *last = look->readings[look->count - 1];
	struct verdict scratch = { .earned = earned_nothing() };
	struct judgement of = { arena, policy, op, look, last, .verdict = &scratch };
	const struct look_step none = { .op = op };

	if (!may_be_behind(look) || last->items_count != 1)
		return none;
	judge_item(&of, &last->items[0]);
	return is_against(&of) ? second_read(&of, &last->items[0]) : none;
}

/* The verdict stands when the same was seen often enough. */
static void
earn(struct judgement *of)
{
	struct verdict *verdict = of->verdict;
	int64_t at_us = of->look->at_us;

	verdict->earned = of->op->earned;
	verdict->earned.inconclusive = 0;
	if (at_us >= earned_after_us(of->policy, of->op)) {
		verdict->earned = earned_with(of->policy, of->op, verdict->class, at_us);
		if (earned_enough(of->policy, &verdict->earned, at_us))
			return;
	}
	verdict->class = CLASS_WAITING;
	verdict->reason = reason_name(REASON_ABSENT_UNCONFIRMED);
}

/* A look that is over without the second read that it asked for is no evidence. */
static void
judge_one(struct judgement *of, const struct item *item)
{
	judge_item(of, item);
	if (!may_be_behind(of->look) || !is_against(of))
		return;
	if (second_read(of, item).probe != NULL)
		judgement_inconclusive(of, "probe", REASON_INCOMPLETE);
	else if (!of->by_outcome)
		earn(of);
}

void
stale_judge(struct judgement *of)
{
	if (of->reading->items_count == 1) {
		judge_one(of, &of->reading->items[0]);
		return;
	}
	judge_skipped(of);
	if (may_be_behind(of->look) && of->verdict->class == CLASS_DIVERGENT)
		earn(of);
}
