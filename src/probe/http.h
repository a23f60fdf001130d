/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTTP driver: a probe and an operation become a request, the answer becomes a reading. Knows
 * addresses and credentials, no limits.
 */
#pragma once

#include "reconciled/probe/engine.h"

struct curl_loop;
struct http_peer;
struct transfer;

/* Exactly once per query that was not cancelled, from the loop, never from inside http_start. */
typedef void http_done_fn(void *owner, const struct reading *reading);

/* Embedded by who asks, who sets the first five. */
struct http_query {
	struct arena *arena;
	const struct probe *probe;
	const struct operation *op; /* NULL: a control */
	http_done_fn *done;
	void *owner;
	struct http_peer *peer;
	const struct request *request;
	struct transfer *transfer;
};

/* options is borrowed; the credentials in it are copied into the headers of the peer. */
struct http_peer *http_peer_create(struct curl_loop *curl,
				   const struct probe_target_options *options);
void http_peer_destroy(struct http_peer *peer);

void http_start(struct http_peer *peer, struct http_query *query);

/* The reading of a question that was not sent: unavailable, for this reason. */
const struct reading *http_unasked(struct http_peer *peer, struct http_query *query,
				   enum reason reason);
void http_cancel(struct http_query *query);
