/* SPDX-License-Identifier: Apache-2.0
 *
 * One client: reads a request, has it answered, writes the answer, and goes on or ends. A request
 * and its answer together have one deadline.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct connection;
struct request_head;

/* What is written back. Texts are copied. */
struct answer {
	int status;
	const char *type;   /* Content-Type; NULL: plain text */
	const char *fields; /* further lines, each with CR LF; or NULL */
	const char *body;
	size_t body_bytes;
};

/* What the connections of a server share. */
struct connection_owner {
	struct event_base *base;
	/* A whole request came: connection_answer once, now or later. head is valid during the call. */
	void (*on_request)(void *owner, struct connection *connection,
			   const struct request_head *head);
	/* The connection is about to be freed, from the loop. */
	void (*on_close)(void *owner, struct connection *connection);
	void *owner;
};

/* owner is borrowed, fd is taken over, also when there is no connection: NULL. */
struct connection *connection_create(const struct connection_owner *owner, int fd);
void connection_destroy(struct connection *connection); /* tells on_close */
void connection_answer(struct connection *connection, const struct answer *answer);
