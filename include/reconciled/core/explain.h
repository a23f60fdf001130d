/* SPDX-License-Identifier: Apache-2.0
 *
 * A judgement in detail, for people: each rule in order, the value it saw, whether it held. Judged
 * anew from the look; changes nothing. Texts are safe to show as far as evidence is: values that the
 * policy does not keep are keyed hashes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/core/evidence.h"

/* One row of a condition. */
struct explained_test {
	const char *locator;	 /* as the policy writes it */
	const char *test;	 /* in words: "is one of paid, settled" */
	const char *const *seen; /* what was there; none: nothing */
	size_t seen_count;
	bool held;
};

struct explained_rule {
	const char *rule; /* "absent", "where", "judge[0]", "compare" */
	const char *note; /* what else there is to know, or NULL */
	bool held;
	const struct explained_test *tests;
	size_t tests_count;
};

struct explained_probe {
	const struct probe *probe;
	const char *unasked;	       /* why it was not asked; NULL: it was */
	const struct reading *reading; /* when it was */
	bool reread;		       /* the authoritative second read */
	const char *note;	       /* why no rule was tried, or NULL */
	const struct explained_rule *rules;
	size_t rules_count;
};

struct explanation {
	const struct explained_probe *probes; /* in the order of the look, then the others */
	size_t probes_count;
	const struct explained_rule *rules; /* of the verdict; the last one held */
	size_t rules_count;
};

/* In the arena. `of` is a look that is over, its verdict and decision; rules are the target's. */
void explain(struct arena *arena, struct hmac *key, const struct target_rules *rules,
	     const struct evidence_of *of, struct explanation *ret_explanation);

/* A test in the words of a sentence: "is open", "no value is one of a, b", "> 5". What it takes from
 * the operation is named, not shown. */
const char *explain_test(struct arena *arena, const struct test *test);
