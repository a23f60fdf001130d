/* SPDX-License-Identifier: Apache-2.0
 *
 * Plays a case of a policy test: the same functions that judge in the daemon, over written readings.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/config/test_file.h"
#include "reconciled/core/decide.h"

struct arena;

enum { CASE_FAULTS_MAX = 8 };

/* Everything is in the arena. */
struct case_result {
	struct verdict verdict; /* of the last look */
	enum action action;	/* as if the policy was enforced */
	const char *
		unasked; /* the look ended at this question, for which nothing is written, or NULL */
	bool ok;
	/* What is wrong with the case beside its expectation, and what is other than expected. */
	const char *faults[CASE_FAULTS_MAX];
	size_t faults_count;
};

void case_run(struct arena *arena, const struct test_file *tests, const struct test_case *test,
	      struct case_result *ret_result);
