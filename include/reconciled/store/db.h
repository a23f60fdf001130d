/* SPDX-License-Identifier: Apache-2.0
 *
 * One asynchronous PostgreSQL connection on a libevent base. Statements are answered in order, each
 * exactly once, from the loop, never from inside the call that sent it. Works behind PgBouncer in
 * transaction mode: no named statements, no session state.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reconciled/base/attributes.h"

struct err;
struct event_base;
struct secret;

struct db;

struct db_options {
	const char *conninfo;	       /* conninfo or URI; may name several hosts */
	const struct secret *password; /* or NULL */
	const char *application_name;
	int64_t connect_timeout_us;   /* for each address, and for looking up a name */
	int64_t statement_timeout_us; /* client side: then the connection is given up */
};

/* connected, or err says why not (naming host and port, never the password). Exactly once per
 * db_connect. */
typedef void db_connected_fn(void *owner, const struct err *err);

struct db *db_create(struct event_base *base, const struct db_options *options);
void db_destroy(struct db *db); /* what was not answered is not answered any more */
void db_connect(struct db *db, db_connected_fn *connected, void *owner);
bool db_is_connected(const struct db *db);

/* Gives the connection up, or the making of it; what waits is failed from the loop, connected too.
 * db_connect may be called again, also at once. */
void db_close(struct db *db);

/* Called from the loop when an established connection is lost, idle or not, after the statements
 * were failed (none of which is ever sent again from here). Not for db_close and db_destroy. */
typedef void db_lost_fn(void *owner, const struct err *err);
void db_on_lost(struct db *db, db_lost_fn *lost, void *owner);

/*
 * LISTEN reconciled on this connection, again after each db_connect. A hint only: behind a pooler
 * it is silent. payload: the operation type, or "".
 */
typedef void db_notified_fn(void *owner, const char *payload);
void db_on_notified(struct db *db, db_notified_fn *notified, void *owner);

/*
 * For programs without a loop of their own (reconcilectl): turns base until connected or failed.
 */
bool db_connect_wait(struct db *db, struct err *err) MUST_CHECK;

/*
 * Applies what is missing of the migrations, each in one transaction, under an advisory lock;
 * blocks. report is called with a line for each applied one. A newer schema than ours is
 * ERR_INVALID.
 */
typedef void db_migrated_fn(void *owner, const char *name);
bool db_migrate(const struct db_options *options, db_migrated_fn *report, void *owner,
		struct err *err) MUST_CHECK;
