/* SPDX-License-Identifier: Apache-2.0
 *
 * One connection on the loop: walks the hosts, notices when it is lost, keeps the deadlines of
 * hosts and statements.
 */
#include <assert.h>
#include <stdlib.h>

#include "db_private.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/log.h"
#include "reconciled/base/secret.h"
#include "reconciled/base/xalloc.h"
#include "sqlstate.h"

static void try_host(struct db *db);

static void
event_release(struct event **event)
{
	if (*event)
		event_free(*event);
	*event = NULL;
}

/* The socket belongs to libpq: events go first. */
static void
disconnect(struct db *db)
{
	event_release(&db->socket);
	event_release(&db->writable);
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
	struct timeval tv = { .tv_sec = after_us / SECOND, .tv_usec = after_us % SECOND };

	event_add(db->timer, &tv);
}

void
db_set_later(struct db *db)
{
	event_add(db->later, &(struct timeval){ 0 });
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
	disconnect(db);
	log_debug("database connection lost", F_STR("error", err.text));
	statements_fail_all(db, &err);
	if (!db->destroyed && db->lost)
		db->lost(db->lost_owner, &err);
}

static void
connect_over(struct db *db, const struct err *err)
{
	strbuf_reset(&db->failures);
	db->connected(db->connected_owner, err);
	if (!db->destroyed && err && db->state == DB_CLOSED)
		statements_fail_all(db, err);
}

static void
connect_failed(struct db *db)
{
	struct err err = { 0 };

	if (db->bad_options.code != ERR_NONE)
		err = db->bad_options;
	else
		err_fill(&err, ERR_TRANSIENT, "could not connect to the database: %s",
			 strbuf_text(&db->failures));
	disconnect(db);
	connect_over(db, &err);
}

static void
next_host(struct db *db, const char *why)
{
	if (db->failures.len > 0)
		strbuf_puts(&db->failures, "; ");
	if (why)
		sqlstate_add_line(&db->failures, why);
	disconnect(db);
	db->state = DB_CONNECTING;
	db->host++;
	try_host(db);
}

/* Severity and code only: the text of a notice may quote data. */
static void
on_notice(void *arg, const PGresult *result)
{
	const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
	const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	log_debug("database notice", F_STR("severity", severity ? severity : ""),
		  F_STR("sqlstate", sqlstate ? sqlstate : ""));
}

static void
connect_done(struct db *db)
{
	evutil_socket_t fd = PQsocket(db->conn);

	event_del(db->timer);
	PQsetnonblocking(db->conn, 1);
	db->socket = event_new(db->base, fd, EV_READ | EV_PERSIST, statements_on_readable, db);
	db->writable = event_new(db->base, fd, EV_WRITE, statements_on_writable, db);
	event_add(db->socket, NULL);
	db->state = DB_READY;
	if (db->notified)
		statements_listen(db);
	connect_over(db, NULL);
	if (!db->destroyed)
		db_step(db);
}

static void on_connecting(evutil_socket_t fd, short what, void *arg);

/* A new event each time: libpq may have opened another socket. */
static void
wait_connecting(struct db *db, short what)
{
	event_release(&db->socket);
	db->socket = event_new(db->base, PQsocket(db->conn), what, on_connecting, db);
	event_add(db->socket, NULL);
}

static void
on_connecting(evutil_socket_t fd, short what, void *arg)
{
	struct db *db = arg;

	db_enter(db);
	event_release(&db->socket);
	switch (PQconnectPoll(db->conn)) {
	case PGRES_POLLING_READING:
		wait_connecting(db, EV_READ);
		break;
	case PGRES_POLLING_WRITING:
		wait_connecting(db, EV_WRITE);
		break;
	case PGRES_POLLING_OK:
		connect_done(db);
		break;
	case PGRES_POLLING_FAILED:
	case PGRES_POLLING_ACTIVE:
		next_host(db, PQerrorMessage(db->conn));
		break;
	}
	db_leave(db);
}

static void
try_host(struct db *db)
{
	if (db->host >= db->hosts.count) {
		connect_failed(db);
		return;
	}
	db->conn = hosts_connect_start(&db->hosts, db->host, &db->options);
	if (!db->conn)
		abort(); /* out of memory */
	if (PQstatus(db->conn) == CONNECTION_BAD) {
		next_host(db, PQerrorMessage(db->conn));
		return;
	}
	PQsetNoticeReceiver(db->conn, on_notice, NULL);
	db_set_timer(db, db->options.connect_timeout_us);
	wait_connecting(db, EV_WRITE);
}

static void
add_deadline(struct strbuf *out, int64_t limit_us)
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
	struct strbuf why = { 0 };

	db_enter(db);
	if (db->state == DB_CONNECTING) {
		hosts_describe(&db->hosts, db->host, &why);
		strbuf_puts(&why, " failed: no answer");
		add_deadline(&why, db->options.connect_timeout_us);
		next_host(db, strbuf_text(&why));
	} else if (db->state == DB_RUNNING) {
		strbuf_printf(&why, "no answer to %s", db->first->statement->name);
		add_deadline(&why, db->options.statement_timeout_us);
		db_lose(db, strbuf_text(&why));
	}
	strbuf_finish(&why);
	db_leave(db);
}

/* What is to be done in this state without waiting for anything. */
void
db_step(struct db *db)
{
	static const struct err closed = { ERR_TRANSIENT, "not connected to the database" };

	statements_tell_given_up(db);
	if (db->destroyed)
		return;
	switch (db->state) {
	case DB_CLOSED:
		statements_fail_all(db, &closed);
		break;
	case DB_CONNECTING:
		if (!db->conn)
			try_host(db);
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
	disconnect(db);
	statements_tell_given_up(db);
	statements_fail_all(db, NULL);
	event_release(&db->timer);
	event_release(&db->later);
	hosts_finish(&db->hosts);
	strbuf_finish(&db->failures);
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
	db->host = 0;
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
	disconnect(db);
	strbuf_reset(&db->failures);
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
