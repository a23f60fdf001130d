/* SPDX-License-Identifier: Apache-2.0
 *
 * What goes to a target and what comes back: one page of a question. Pure; drivers send.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "reconciled/base/hash.h"
#include "reconciled/core/operation.h"
#include "reconciled/core/probe.h"
#include "reconciled/core/value.h"
#include "reconciled/core/verdict.h"

struct arena;

struct header {
	const char *name; /* lower case */
	const char *value;
};

/* Which page of a list. Zeroed: the first. */
struct page {
	int index;	   /* from 0 */
	const char *token; /* of PAGING_NEXT: what the page before named */
	const char *link;  /* of PAGING_LINK: the address as the page before wrote it */
};

/* What is asked: about one operation; about several where the probe has `batch`; about none for a
 * control. */
struct question {
	const struct probe *probe;
	const struct operation *const *ops;
	size_t ops_count;
	struct page page;
};

/* The question as it is sent. */
struct request {
	enum http_method method;
	const char *path;  /* encoded, begins with "/", below the target's base */
	const char *query; /* encoded, without "?", or NULL */
	/* Instead of both, unchecked: where the page before said that this one is. Whoever sends
	 * it sees to it that it stays below the base. */
	const char *link;
	const struct header *headers;
	size_t headers_count;
	const char *body; /* or NULL */
	size_t body_len;
	const char *content_type; /* with body */
	const char *url_template; /* path and query as the policy writes them, for evidence */
};

/* Renders a question whose probe applies to each of its operations. */
const struct request *request_render(struct arena *arena, const struct question *question);

/* The answer as it came. fault REASON_COUNT: none, the status and body are there. */
struct response {
	/* timeout refused dns tls transport truncated too_large; of a question that was kept back,
	 * why; or REASON_COUNT */
	enum reason fault;
	int status;
	const struct header *headers;
	size_t headers_count;
	const char *body; /* not needed after response_read */
	size_t body_len;
	int64_t elapsed_us;
	/* by response_read */
	const struct value *parsed;	   /* the body as a tree, or NULL */
	enum value_fault unparsed;	   /* why there is none */
	size_t parsed_bytes;		   /* memory that the tree takes */
	char body_sha256[HASH_SHA256_HEX]; /* "" without body */
};

/* Reads the body, once; what it keeps is in the arena. A batch judges one answer many times. */
void response_read(struct arena *arena, const struct probe *probe, struct response *response);

/* One page. */
struct exchange {
	const struct request *request;
	const struct response *response;
};
