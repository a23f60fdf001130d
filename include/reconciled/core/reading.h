/* SPDX-License-Identifier: Apache-2.0
 *
 * From a question to a reading: which probe is asked, what is sent, and what the answer is evidence
 * of. Pure; drivers fetch, this decides nothing about the operation.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/base/attributes.h"
#include "reconciled/core/exchange.h"
#include "reconciled/core/policy.h"

/* What came, on as many pages as were asked so far, in order. */
struct answer {
	const struct target_rules *rules;
	const struct probe *probe;
	const struct operation *op; /* the one it is judged for; NULL: a control */
	const struct exchange *pages;
	size_t count;
};

enum reading_kind {
	READING_FOUND,
	READING_ABSENT,
	READING_GONE,
	READING_SEVERAL,
	READING_UNFINISHED,
	READING_UNAVAILABLE,
	READING_INCOMPLETE,
};

/* Of a list, and the page it was on. */
struct item {
	const struct value *value;
	const struct response *response;
};

struct reading {
	enum reading_kind kind;
	enum reason reason; /* of UNAVAILABLE and INCOMPLETE */
	const struct probe *probe;
	const struct exchange *pages;
	size_t pages_count;
	const struct request *request;	 /* of the first page */
	const struct response *response; /* of the last one; never NULL */
	const struct item *items;	 /* FOUND: what passed where, without the skipped ones */
	size_t items_count;
	const struct item
		*skipped; /* FOUND: what passed where but is to be ignored beside others */
	size_t skipped_count;
	const struct page *next; /* not NULL: not a reading yet, this page is asked first */
};

const char *reading_kind_name(enum reading_kind kind);

/* Why an answer with this status is no evidence, whatever its body claims; REASON_COUNT: it may be. */
enum reason reading_barred(int status);

enum applies { APPLIES, APPLIES_NOT, APPLIES_BAD_REFERENCE };

/*
 * Whether a probe can be asked for this operation: its needs and placeholders are present, and what
 * it would send is safe (policy language, "reference"; by default up to 200 letters, digits and
 * "._:@+=~-", but neither "." nor "..").
 */
enum applies probe_applies(const struct policy *policy, const struct probe *probe,
			   const struct operation *op, struct arena *arena);

/* What an answer is evidence of. Status codes first, then throttled, broken, then the rules. The
 * pages of the answer are borrowed; each has passed response_read. */
const struct reading *reading_judge(struct arena *arena, const struct answer *answer);
