/* SPDX-License-Identifier: Apache-2.0
 *
 * The access token of a target (OAuth 2.0): fetched when somebody needs one, by one request at a
 * time, and forgotten shortly before it ends. Kept in memory only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "reconciled/core/verdict.h"
#include "reconciled/net/curl_loop.h"
#include "reconciled/probe/login.h"

struct token;

/* Somebody who cannot go on without one; embedded by him. */
struct token_waiter {
	/* From the loop, once: REASON_COUNT, there is one now; else why there is none. */
	void (*done)(void *owner, enum reason fault);
	void *owner;
	TAILQ_ENTRY(token_waiter) link;
	struct token_waiters *list;
};
TAILQ_HEAD(token_waiters, token_waiter);

struct token_options {
	const char *target;		   /* for the log */
	const struct probe_oauth2 *oauth2; /* borrowed */
	/* How its address is reached; headers, connections and the size of the body are set here. */
	const struct curl_peer_options *peer;
};

struct token *token_create(struct curl_loop *curl, const struct token_options *options);
void token_destroy(struct token *token); /* nobody waits any more */

/* NULL: wait for one. Valid until the loop turns. */
const char *token_bearer(struct token *token);

/* Which one token_bearer gives: another number for another token. */
unsigned token_number(const struct token *token);
void token_wait(struct token *token, struct token_waiter *waiter);
void token_unwait(struct token *token, struct token_waiter *waiter);

/* The target does not take the token of this number any more. */
void token_refused(struct token *token, unsigned number);

/* Takes over what was fetched with the same credentials at the same address. */
void token_inherit(struct token *token, const struct token *before);
