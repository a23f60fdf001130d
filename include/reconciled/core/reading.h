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
#include "reconciled/core/policy.h"

struct header {
	const char *name; /* lower case */
	const char *value;
};

/* The question as it is sent. */
struct request {
	enum http_method method;
	const char *path;  /* encoded, begins with "/", below the target's base */
	const char *query; /* encoded, without "?", or NULL */
	const struct header *headers;
	size_t headers_count;
	const char *body; /* or NULL */
	size_t body_len;
	const char *content_type; /* with body */
	const char *url_template; /* path and query as the policy writes them, for evidence */
};

/* The answer as it came. fault REASON_COUNT: none, the status and body are there. */
struct response {
	/* timeout refused dns tls transport truncated too_large; of a question that was kept back,
	 * why; or REASON_COUNT */
	enum reason fault;
	int status;
	const struct header *headers;
	size_t headers_count;
	const char *body;
	size_t body_len;
	int64_t elapsed_us;
	const struct value *parsed; /* filled by reading_judge: the body as a tree, or NULL */
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

struct reading {
	enum reading_kind kind;
	enum reason reason; /* of UNAVAILABLE and INCOMPLETE */
	const struct probe *probe;
	const struct request *request;
	const struct response *response; /* status, size, headers for evidence; never NULL */
	char body_sha256[65];		 /* "" without body */
	const struct value **items;	 /* FOUND: what passed where */
	size_t items_count;
};

const char *reading_kind_name(enum reading_kind kind);

enum applies { APPLIES, APPLIES_NOT, APPLIES_BAD_REFERENCE };

/*
 * Whether a probe can be asked for this operation: its needs and placeholders are present, and what
 * it would send is safe (policy language, "reference"; by default up to 200 letters, digits and
 * "._:@+=~-", but neither "." nor "..").
 */
enum applies probe_applies(const struct policy *policy, const struct probe *probe,
			   const struct operation *op, struct arena *arena);

/* Renders a probe that applies (or a control, with op NULL). */
const struct request *request_render(struct arena *arena, const struct probe *probe,
				     const struct operation *op);

/* What an answer is evidence of. Status codes first, then throttled, broken, then the rules. */
const struct reading *reading_judge(struct arena *arena, const struct target_rules *rules,
				    const struct probe *probe, const struct operation *op,
				    const struct request *request, struct response *response);
