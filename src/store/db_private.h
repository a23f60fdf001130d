/* SPDX-License-Identifier: Apache-2.0
 *
 * A connection from inside: db.c owns and loses it, db_connect.c makes it, db_statements.c sends
 * over it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "db_send.h"
#include "hosts.h"
#include "lookup.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/store/db.h"

enum db_state { DB_CLOSED, DB_CONNECTING, DB_READY, DB_RUNNING };

struct waiting {
	const struct sql_statement *statement;
	struct params params;
	bool text;
	db_result_fn *done;
	void *context; /* owned */
	struct waiting *next;
};

/* Where the making of a connection is. */
struct walk {
	size_t host;	       /* being tried */
	struct lookup *lookup; /* of its name, under way */
	char *addresses[LOOKUP_ADDRESSES_MAX];
	size_t addresses_count, address; /* of its name; none: it needs no lookup */
	struct strbuf failures;		 /* of what was tried before */
};

struct db {
	struct event_base *base;
	struct db_options options; /* points to what follows */
	char *application_name;
	struct secret *password;
	struct hosts hosts;
	struct err bad_options; /* told by db_connect */
	struct err closed;	/* told to whoever wants something of a closed one */
	enum db_state state;
	PGconn *conn;
	struct walk walk;
	struct event *socket; /* connecting: one shot; then EV_READ that stays */
	struct event *writable;
	struct event *timer; /* of the host or the statement */
	struct event *later; /* what must not happen inside a call */
	db_connected_fn *connected;
	void *connected_owner;
	db_lost_fn *lost; /* or NULL */
	void *lost_owner;
	db_notified_fn *notified; /* or NULL */
	void *notified_owner;
	struct waiting *first, **last;
	struct waiting *given_up; /* by db_close; not told yet */
	PGresult *result;	  /* of the statement under way: its first, or what failed */
	int entered;		  /* callbacks on the stack */
	bool destroyed;		  /* by one of them */
};

/* Around what the loop calls: db may be destroyed in between and is freed when the last leaves. */
void db_enter(struct db *db);
void db_leave(struct db *db);

void db_set_timer(struct db *db, int64_t after_us);
void db_set_later(struct db *db);

/* Does what can be done in this state without waiting. */
void db_step(struct db *db);

/* Closes the connection and tells everybody who waits, then the owner. */
void db_lose(struct db *db, const char *why);

/* Closes it, or the making of it, and tells nobody. The socket belongs to libpq: events go first. */
void db_disconnect(struct db *db);
void db_release_event(struct event **event);
void db_add_deadline(struct strbuf *out, int64_t limit_us);

/* db_connect.c: to the first host; on from where the walk is, until something is waited for; over.
 */
void connect_reset(struct db *db);
void connect_walk(struct db *db);
void connect_on_deadline(struct db *db);
void connect_finish(struct db *db);

/* db_statements.c. Everybody who waits now learns err; who comes during that waits on. */
void statements_fail_all(struct db *db, const struct err *err);

/* Whoever waits now learns from the next step that the connection was closed; so does connected,
 * if not NULL. */
void statements_give_up(struct db *db, db_connected_fn *connected, void *owner);
void statements_tell_given_up(struct db *db);

/* Asks for notifications, before anything that waits and is not under way. */
void statements_listen(struct db *db);
void statements_send_first(struct db *db);
void statements_on_deadline(struct db *db);
void statements_on_readable(evutil_socket_t fd, short what, void *db);
void statements_on_writable(evutil_socket_t fd, short what, void *db);
