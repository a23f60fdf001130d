/* SPDX-License-Identifier: Apache-2.0
 *
 * One line of a table: what a target answered over time, and the verdict on it.
 */
#pragma once

#include <string.h>

#include "scenario.h"
#include "tap.h"

struct verdict_row {
	const char *name, *policy, *target, *op;
	struct scripted answers[16];
	const char *class, *reason, *rule; /* of the last look */
};

/* Every answer is asked for, and the rule that decides is the last one that held. */
static inline void
verdict_row_play(struct arena *arena, const struct verdict_row *row)
{
	struct scenario s = scenario_start(arena, row->policy, row->target, row->op);
	const struct verdict *v = &s.verdict;
	bool asked = strcmp(row->rule, "applicable") != 0 && strcmp(row->rule, "reference") != 0;
	bool same;

	scenario_play(arena, &s, row->answers, 16);
	same = strcmp(class_name(v->class), row->class) == 0 &&
	       strcmp(v->reason, row->reason) == 0 && strcmp(v->rule, row->rule) == 0 &&
	       v->traces_count > 0 && v->traces[v->traces_count - 1].held &&
	       strcmp(v->traces[v->traces_count - 1].rule, row->rule) == 0 &&
	       (s.unused == 0) == asked;
	tap_ok(same, "%s", row->name);
	if (!same)
		printf("# got %s %s %s, unused %zu\n", class_name(v->class), v->reason, v->rule,
		       s.unused);
}
