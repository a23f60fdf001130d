/* SPDX-License-Identifier: Apache-2.0
 *
 * A file of policy tests: a policy, a target, and cases of written readings with what each must
 * lead to. Immutable once it is loaded; no secret is read.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "reconciled/base/attributes.h"
#include "reconciled/config/target.h"
#include "reconciled/core/classify.h"

struct problems;

/* One page as the case says it came. */
struct test_answer {
	enum reason fault; /* REASON_COUNT: none */
	int status;
	const struct header *headers;
	size_t headers_count;
	const char *body; /* "" without */
	size_t body_len;
};

struct test_reading {
	int64_t at_us; /* since the last send */
	const char *probe;
	const struct test_answer *pages;
	size_t pages_count;
};

struct test_expected {
	enum verdict_class class;
	const char *reason, *rule; /* NULL: any */
	enum action action;	   /* ACTION_COUNT: any */
};

struct test_case {
	const char *name;
	struct operation op;
	int64_t sent_us; /* what `at` and `now` count from */
	int64_t now_us;	 /* since then; TIME_NONE: the last reading */
	enum control_state control;
	const struct test_reading *readings;
	size_t readings_count;
	struct test_expected expected;
};

struct test_file {
	const char *file;
	const struct policy *policy;
	const struct target *target; /* without its secrets */
	const struct test_case *cases;
	size_t cases_count;
};

/* NULL when the file, its policy or its target does not load; problems then says why. */
struct test_file *test_file_load(const char *file, struct problems *problems) MUST_CHECK;
void test_file_destroy(struct test_file *tests); /* accepts NULL */
