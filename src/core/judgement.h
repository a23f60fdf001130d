/* SPDX-License-Identifier: Apache-2.0
 *
 * One judgement in the making: what the parts of classify share. Private to core.
 */
#pragma once

#include "reconciled/core/classify.h"

struct judgement {
	struct arena *arena;
	const struct policy *policy;
	const struct operation *op;
	const struct look *look;
	const struct reading *reading; /* the one that decides; NULL when nothing was asked */
	struct verdict *verdict;
	bool by_outcome; /* the item is missing by `outcome`, earned or not */
	bool stuck;	 /* what waits there has waited too long */
};

/* What locators of judge and compare see. */
struct scene judgement_scene(const struct judgement *of, const struct item *item);

/* Notes a rule that did not hold. The last places are kept for those that do. */
void judgement_pass(struct judgement *of, const char *rule);

/* The verdict: class, reason and the rule that held. */
void judgement_fire(struct judgement *of, const char *rule, enum verdict_class class,
		    enum reason reason);

/*
 * No evidence: what was earned stays, and an answer that helps nobody counts towards give_up, unless
 * the control object is lost as well.
 */
void judgement_inconclusive(struct judgement *of, const char *rule, enum reason reason);

/*
 * Whether this look may count as negative evidence. If not, that is the verdict: the control object
 * is lost, no worker ever started it, or the look was before the effect had to be visible.
 */
bool judgement_may_count(struct judgement *of, const char *rule);

/* Not final at the target yet; after the policy's limit that is ambiguous. */
void judgement_wait(struct judgement *of, const char *rule, const char *reason);

/*
 * Tries the rows in order. The first that holds gives the verdict (true), unless its class is
 * `compare`: then it is noted and the caller goes on (false), as when none holds.
 */
bool judgement_rows(struct judgement *of, const char *name, const struct judge_rows *rows,
		    const struct scene *scene);

/* Nothing there, one item there, only items there that are to be ignored: each ends in a verdict. */
void judge_absence(struct judgement *of);
void judge_item(struct judgement *of, const struct item *item);
void judge_skipped(struct judgement *of);
