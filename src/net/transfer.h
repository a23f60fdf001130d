/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside net: a peer, its pooled easy handles, and one transfer on one of them. curl_loop.c drives
 * them, transfer.c sets them up and reads the outcome.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <curl/curl.h>
#include <event2/event_struct.h>

#include "answer.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/net/curl_loop.h"
#include "sockets.h"

struct curl_loop {
	CURLM *multi;
	struct event timer;
	struct sockets sockets;
	long connections; /* of all peers */
};

TAILQ_HEAD(transfer_list, transfer);

struct curl_peer {
	struct curl_loop *loop;
	struct curl_peer_options options; /* its texts are copies, its headers are below */
	struct curl_slist *headers;
	bool unusable;	/* a header of its own would break the request */
	int delivering; /* callbacks of it on the stack */
	bool doomed;	/* destroyed from inside one of them */
	struct transfer_list running, idle;
};

struct transfer {
	struct curl_peer *peer;
	CURL *easy;
	TAILQ_ENTRY(transfer) link;
	enum transfer_method method;
	transfer_done_fn *done;
	void *owner;
	struct answer answer;
	struct strbuf lines;	  /* the request's headers, each with NUL */
	struct curl_slist *nodes; /* over lines and the peer's headers */
	size_t nodes_size;
};

struct transfer *transfer_create(struct curl_peer *peer);
void transfer_destroy(struct transfer *transfer);

/* The request goes into the easy handle. */
void transfer_prepare(struct transfer *transfer, const struct transfer_request *request);

/* What came of it; borrows from the transfer. */
struct transfer_result transfer_outcome(struct transfer *transfer, CURLcode code);

/* No control characters and a name: safe as a line of a request. */
bool transfer_header_is_safe(const char *line);
