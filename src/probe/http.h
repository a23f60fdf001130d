/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTTP driver: a probe and operations become requests, page by page, and the answers readings.
 * Knows addresses and credentials, no limits.
 */
#pragma once

#include "reconciled/probe/engine.h"
#include "token.h"

struct curl_loop;
struct http_peer;
struct transfer;

enum http_outcome {
	HTTP_ANSWERED, /* the page is there, or what went wrong */
	HTTP_AGAIN,    /* the login was refused: the same page is asked again, with a new one */
};

/* Exactly once per query that was not cancelled, from the loop, never from inside http_start. */
typedef void http_done_fn(void *owner, enum http_outcome outcome);

/* Embedded by who asks. Zeroed but for the first group: no page asked yet. */
struct http_query {
	struct arena *arena; /* the pages are in it */
	const struct probe *probe;
	const struct operation *const *ops; /* read by http_start and http_leave only */
	size_t ops_count;		    /* 0: a control */
	http_done_fn *done;
	void *owner;

	struct page page;	/* the next one to ask */
	struct exchange *pages; /* that came, in order */
	size_t pages_count;

	struct http_peer *peer;
	const struct request *request;
	const char *url; /* of the page before, where its link is needed */
	struct transfer *transfer;
	bool strays; /* its address is not below the base */
	bool waits;  /* for a token */
	struct token_waiter waiter;
	unsigned login_number;
	bool login_renewed;
};

/* options is borrowed; the credentials that are the same for all requests are copied. */
struct http_peer *http_peer_create(struct curl_loop *curl,
				   const struct probe_target_options *options);
void http_peer_destroy(struct http_peer *peer);

/* Tokens go over where the login is the same. */
void http_peer_inherit(struct http_peer *peer, const struct http_peer *before);

/* Asks query->page; what came of an earlier try of the same page is replaced. */
void http_start(struct http_peer *peer, struct http_query *query);

/* As if the page had been answered: it was not sent, for this reason. */
void http_leave(struct http_peer *peer, struct http_query *query, enum reason reason);

/* What the pages so far are evidence of, for one of the operations (NULL: a control). */
const struct reading *http_reading(const struct http_query *query, struct arena *arena,
				   const struct operation *op);
void http_cancel(struct http_query *query);
