/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTTP server of the daemon: /metrics, /healthz and /readyz, for GET and HEAD. Strict in what it
 * reads, and limited: connections, bytes, and the time that a request may take in all.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/base/attributes.h"

struct err;
struct event_base;
struct strbuf;

struct web_server;

struct web_address {
	const char *host; /* TCP; or NULL */
	int port;
	const char *socket; /* path of a unix socket; or NULL */
	int fd;		    /* a listening socket from the service manager, taken over; or -1 */
};

/*
 * metrics: answers with the text, now or later (the numbers of the database may have to be asked
 * for first): web_answer_metrics exactly once for each request, also when the client, or the whole
 * server, is gone by then. not_ready: NULL, or why not; valid during the call. healthz is 200 as
 * long as the loop turns.
 */
struct web_request;
struct web_handlers {
	void (*metrics)(void *owner, struct web_request *request);
	const char *(*not_ready)(void *owner);
	void *owner;
};
void web_answer_metrics(struct web_request *request, const struct strbuf *text); /* NULL: 503 */

/*
 * ERR_FATAL names the address that cannot be listened on. The socket of a process that died is
 * replaced, its mode is 0660. SIGPIPE must be ignored by the process.
 */
struct web_server *web_server_create(struct event_base *base, const struct web_address *address,
				     const struct web_handlers *handlers,
				     struct err *err) MUST_CHECK;
void web_server_destroy(struct web_server *server);
int web_server_port(const struct web_server *server); /* of TCP, also when 0 was asked for */
