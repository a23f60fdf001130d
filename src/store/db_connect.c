/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes a connection: host after host, each of its addresses, a deadline for each step. Nothing
 * here waits outside the loop.
 */
#include <stdlib.h>

#include "db_private.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/log.h"
#include "reconciled/base/xalloc.h"
#include "sqlstate.h"

static void
forget_addresses(struct walk *walk)
{
	for (size_t i = 0; i < walk->addresses_count; i++)
		free(walk->addresses[i]);
	walk->addresses_count = 0;
	walk->address = 0;
}

void
connect_reset(struct db *db)
{
	forget_addresses(&db->walk);
	strbuf_reset(&db->walk.failures);
	db->walk.host = 0;
}

void
connect_finish(struct db *db)
{
	forget_addresses(&db->walk);
	strbuf_finish(&db->walk.failures);
}

static void
connect_over(struct db *db, const struct err *err)
{
	connect_reset(db);
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
			 strbuf_text(&db->walk.failures));
	db_disconnect(db);
	connect_over(db, &err);
}

static void
note_failure(struct walk *walk, const char *why)
{
	if (walk->failures.len > 0)
		strbuf_puts(&walk->failures, "; ");
	sqlstate_add_line(&walk->failures, why);
}

static void
next_host(struct walk *walk)
{
	forget_addresses(walk);
	walk->host++;
}

/* Of an address; on with the next one, or the next host. */
static void
attempt_failed(struct db *db, const char *why)
{
	note_failure(&db->walk, why);
	db_disconnect(db);
	db->state = DB_CONNECTING;
	if (++db->walk.address >= db->walk.addresses_count)
		next_host(&db->walk);
}

static void
lookup_failed(struct db *db, const char *why)
{
	struct strbuf line = { 0 };

	strbuf_printf(&line, "could not translate host name \"%s\" to address: %s",
		      db->hosts.list[db->walk.host].host, why);
	note_failure(&db->walk, strbuf_text(&line));
	strbuf_finish(&line);
	next_host(&db->walk);
}

static const char *
address_of(const struct walk *walk)
{
	return walk->addresses_count > 0 ? walk->addresses[walk->address] : NULL;
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
	db_release_event(&db->socket);
	db->socket = event_new(db->base, PQsocket(db->conn), what, on_connecting, db);
	event_add(db->socket, NULL);
}

static void
on_connecting(evutil_socket_t fd, short what, void *arg)
{
	struct db *db = arg;

	db_enter(db);
	db_release_event(&db->socket);
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
		attempt_failed(db, PQerrorMessage(db->conn));
		connect_walk(db);
		break;
	}
	db_leave(db);
}

static void
on_looked_up(void *owner, const struct lookup_answer *answer)
{
	struct db *db = owner;
	struct walk *walk = &db->walk;

	db_enter(db);
	walk->lookup = NULL;
	event_del(db->timer);
	for (size_t i = 0; i < answer->count; i++)
		walk->addresses[i] = xstrdup(answer->addresses[i]);
	walk->addresses_count = answer->count;
	if (answer->count == 0)
		lookup_failed(db, answer->error);
	connect_walk(db);
	db_leave(db);
}

/* Of the host or the address whose turn it is; false: that failed at once. */
static bool
start_attempt(struct db *db)
{
	struct walk *walk = &db->walk;
	const struct host *host = &db->hosts.list[walk->host];

	if (walk->addresses_count == 0 && !host->hostaddr && lookup_is_needed(host->host)) {
		walk->lookup = lookup_start(db->base, host->host, on_looked_up, db);
		db_set_timer(db, db->options.connect_timeout_us);
		return true;
	}
	db->conn = hosts_connect_start(&db->hosts, walk->host, address_of(walk), &db->options);
	if (!db->conn)
		abort(); /* out of memory */
	if (PQstatus(db->conn) == CONNECTION_BAD) {
		attempt_failed(db, PQerrorMessage(db->conn));
		return false;
	}
	PQsetNoticeReceiver(db->conn, on_notice, NULL);
	db_set_timer(db, db->options.connect_timeout_us);
	wait_connecting(db, EV_WRITE);
	return true;
}

void
connect_walk(struct db *db)
{
	while (db->walk.host < db->hosts.count)
		if (start_attempt(db))
			return;
	connect_failed(db);
}

void
connect_on_deadline(struct db *db)
{
	struct walk *walk = &db->walk;
	struct strbuf why = { 0 };

	if (walk->lookup) {
		strbuf_puts(&why, "no answer");
		db_add_deadline(&why, db->options.connect_timeout_us);
		lookup_cancel(TAKE(walk->lookup));
		lookup_failed(db, strbuf_text(&why));
	} else {
		hosts_describe(&db->hosts, walk->host, address_of(walk), &why);
		strbuf_puts(&why, " failed: no answer");
		db_add_deadline(&why, db->options.connect_timeout_us);
		attempt_failed(db, strbuf_text(&why));
	}
	strbuf_finish(&why);
	connect_walk(db);
}
