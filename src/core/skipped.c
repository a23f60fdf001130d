/* SPDX-License-Identifier: Apache-2.0
 *
 * Only items that count for nothing beside others, and no other: an attempt that was cancelled may
 * still be the whole story.
 */
#include "judgement.h"

#include "reconciled/base/arena.h"

static const char SKIP[] = "skip";

/* By the judge rows alone; NONE where they leave it to the comparison. */
static enum verdict_class
class_of(struct judgement *of, const struct item *item)
{
	struct scene scene = judgement_scene(of, item);

	return judgement_rows(of, "judge", &of->policy->judge, &scene) ? of->verdict->class
								       : CLASS_NONE;
}

static bool
all_are(const struct judgement *of, enum verdict_class class)
{
	for (size_t i = 1; i < of->reading->skipped_count; i++) {
		struct arena_mark mark = arena_mark(of->arena);
		struct verdict other = { .class = CLASS_NONE };
		struct judgement scratch = *of;
		bool same;

		scratch.verdict = &other;
		same = class_of(&scratch, &of->reading->skipped[i]) == class;
		arena_release(of->arena, mark);
		if (!same)
			return false;
	}
	return true;
}

void
judge_skipped(struct judgement *of)
{
	struct verdict *verdict = of->verdict;
	const struct reading *reading = of->reading;
	enum verdict_class class = class_of(of, &reading->skipped[0]);

	if (reading->skipped_count == 1) {
		verdict->item = reading->skipped[0].value;
		verdict->item_response = reading->skipped[0].response;
	}
	if (class != CLASS_NONE && all_are(of, class))
		return;
	verdict->why = NULL;
	judgement_fire(of, SKIP, CLASS_AMBIGUOUS,
		       reading->skipped_count == 1 ? REASON_UNKNOWN_STATE
						   : REASON_SEVERAL_AT_TARGET);
}
