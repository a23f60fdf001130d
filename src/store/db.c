/* SPDX-License-Identifier: Apache-2.0
 *
 * One connection on the loop: what it is made of, its states, and how it ends.
 */
#include <assert.h>
#include <stdlib.h>

#include "db_private.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/log.h"
#include "reconciled/base/secret.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"
#include "sqlstate.h"

void
db_release_event(struct event **event)
{
	if (*event)
		event_free(*event);
	*event = NULL;
}

void
db_disconnect(struct db *db)
{
	db_release_event(&db->socket);
	db_release_event(&db->writable);
	lookup_cancel(TAKE(db->walk.lookup));
	event_del(db->timer);
	PQclear(TAKE(db->result));
	PQfinish(TAKE(db->conn));
	db->state = DB_CLOSED;
}

void
db_enter(struct db *db)
{
	db->entered++;
}

void
db_leave(struct db *db)
{
	if (--db->entered == 0 && db->destroyed)
		free(db);
}

void
db_set_timer(struct db *db, int64_t after_us)
{
	timer_set(db->timer, after_us);
}

void
db_set_later(struct db *db)
{
	timer_set(db->later, 0);
}

void
db_lose(struct db *db, const char *why)
{
	struct strbuf line = { 0 };
	struct err err = { 0 };

	sqlstate_add_line(&line, why);
	err_fill(&err, ERR_TRANSIENT, "connection to the database was lost: %s",
		 line.len > 0 ? strbuf_text(&line) : "closed by the server");
	strbuf_finish(&line);
	db_disconnect(db);
	db->closed = err;
	log_debug("database connection lost", F_STR("error", err.text));
	statements_fail_all(db, &err);
	if (!db->destroyed && db->lost)
		db->lost(db->lost_owner, &err);
}

void
db_add_deadline(struct strbuf *out, int64_t limit_us)
{
	if (limit_us % SECOND == 0)
		strbuf_printf(out, " within %lld s", (long long)(limit_us / SECOND));
	else
		strbuf_printf(out, " within %lld ms", (long long)(limit_us / MILLISECOND));
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct db *db = arg;

	db_enter(db);
	if (db->state == DB_CONNECTING)
		connect_on_deadline(db);
	else if (db->state == DB_RUNNING)
		statements_on_deadline(db);
	db_leave(db);
}

/* What is to be done in this state without waiting for anything. */
void
db_step(struct db *db)
{
	statements_tell_given_up(db);
	if (db->destroyed)
		return;
	switch (db->state) {
	case DB_CLOSED:
		statements_fail_all(db, &db->closed);
		break;
	case DB_CONNECTING:
		if (!db->conn && !db->walk.lookup)
			connect_walk(db);
		break;
	case DB_READY:
		if (db->first)
			statements_send_first(db);
		break;
	case DB_RUNNING:
		break;
	}
}

static void
on_later(evutil_socket_t fd, short what, void *arg)
{
	struct db *db = arg;

	db_enter(db);
	db_step(db);
	db_leave(db);
}

struct db *
db_create(struct event_base *base, const struct db_options *options)
{
	struct db *db = xcalloc(1, sizeof(*db));

	db->base = base;
	db->options = *options;
	db->options.conninfo = NULL; /* lives on in hosts */
	db->application_name = xstrdup(options->application_name);
	db->options.application_name = db->application_name;
	if (options->password)
		db->password = secret_create(secret_reveal(options->password),
					     secret_len(options->password));
	db->options.password = db->password;
	db->last = &db->first;
	err_fill(&db->closed, ERR_TRANSIENT, "not connected to the database");
	db->timer = event_new(base, -1, 0, on_timer, db);
	db->later = event_new(base, -1, 0, on_later, db);
	if (!hosts_parse(&db->hosts, options->conninfo, &db->bad_options))
		assert(db->bad_options.code != ERR_NONE);
	return db;
}

void
db_destroy(struct db *db)
{
	if (!db)
		return;
	db->destroyed = true;
	db_disconnect(db);
	statements_tell_given_up(db);
	statements_fail_all(db, NULL);
	db_release_event(&db->timer);
	db_release_event(&db->later);
	hosts_finish(&db->hosts);
	connect_finish(db);
	secret_destroy(db->password);
	free(db->application_name);
	if (db->entered == 0)
		free(db);
}

void
db_connect(struct db *db, db_connected_fn *connected, void *owner)
{
	assert(db->state == DB_CLOSED);
	db->state = DB_CONNECTING;
	connect_reset(db);
	db->connected = connected;
	db->connected_owner = owner;
	db_set_later(db);
}

bool
db_is_connected(const struct db *db)
{
	return db->state == DB_READY || db->state == DB_RUNNING;
}

void
db_close(struct db *db)
{
	bool connecting = db->state == DB_CONNECTING;

	if (db->state == DB_CLOSED)
		return;
	db_disconnect(db);
	statements_give_up(db, connecting ? db->connected : NULL, db->connected_owner);
	db_set_later(db);
}

void
db_on_lost(struct db *db, db_lost_fn *lost, void *owner)
{
	db->lost = lost;
	db->lost_owner = owner;
}

void
db_on_notified(struct db *db, db_notified_fn *notified, void *owner)
{
	bool connected = db_is_connected(db);

	if (connected && !db->notified)
		statements_listen(db);
	db->notified = notified;
	db->notified_owner = owner;
	if (connected)
		db_set_later(db);
}
