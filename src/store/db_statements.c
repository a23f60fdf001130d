/* SPDX-License-Identifier: Apache-2.0
 *
 * The statements of a connection: one after the other, each answered once.
 */
#include <stdlib.h>

#include "db_private.h"
#include "reconciled/base/log.h"
#include "reconciled/base/xalloc.h"
#include "sqlstate.h"

extern const struct sql_statement sql_listen;

void
pgresult_clear_at(PGresult **result)
{
	PQclear(*result);
}

static void
waiting_destroy(struct waiting *waiting)
{
	params_finish(&waiting->params);
	free(waiting->context);
	free(waiting);
}

static void
fail_list(struct db *db, struct waiting *waiting, const struct err *err)
{
	while (waiting) {
		struct waiting *next = waiting->next;

		if (!db->destroyed)
			waiting->done(waiting->context, NULL, err);
		waiting_destroy(waiting);
		waiting = next;
	}
}

static struct waiting *
take_all(struct db *db)
{
	struct waiting *all = db->first;

	db->first = NULL;
	db->last = &db->first;
	return all;
}

void
statements_fail_all(struct db *db, const struct err *err)
{
	fail_list(db, take_all(db), err);
}

struct connecting {
	db_connected_fn *connected;
	void *owner;
};

static void
on_connecting_closed(void *context, PGresult *result, const struct err *err)
{
	const struct connecting *connecting = context;

	connecting->connected(connecting->owner, err);
}

static struct waiting *
waiting_for_connection(db_connected_fn *connected, void *owner)
{
	struct waiting *waiting = xcalloc(1, sizeof(*waiting));
	struct connecting *connecting = xcalloc(1, sizeof(*connecting));

	*connecting = (struct connecting){ connected, owner };
	waiting->done = on_connecting_closed;
	waiting->context = connecting;
	return waiting;
}

void
statements_give_up(struct db *db, db_connected_fn *connected, void *owner)
{
	struct waiting **end = &db->given_up;

	while (*end)
		end = &(*end)->next;
	if (connected) {
		*end = waiting_for_connection(connected, owner);
		end = &(*end)->next;
	}
	*end = take_all(db);
}

void
statements_tell_given_up(struct db *db)
{
	static const struct err closed = { ERR_TRANSIENT,
					   "the connection to the database was closed" };

	fail_list(db, TAKE(db->given_up), &closed);
}

static void
on_listening(void *context, PGresult *result, const struct err *err)
{
	if (err)
		log_debug("could not ask the database for notifications",
			  F_STR("error", err->text));
	PQclear(result);
}

void
statements_listen(struct db *db)
{
	struct waiting *listen = xcalloc(1, sizeof(*listen));
	struct waiting **at = db->state == DB_RUNNING ? &db->first->next : &db->first;

	listen->statement = &sql_listen;
	listen->done = on_listening;
	listen->next = *at;
	*at = listen;
	if (!listen->next)
		db->last = &listen->next;
}

/* Each may close or destroy the connection. */
static void
tell_notifications(struct db *db)
{
	PGnotify *notify;

	while (db->conn && (notify = PQnotifies(db->conn))) {
		if (db->notified)
			db->notified(db->notified_owner, notify->extra);
		PQfreemem(notify);
	}
}

static void
finish_statement(struct db *db)
{
	struct waiting *done = db->first;
	PGresult *result = TAKE(db->result);
	struct err err = { 0 };
	bool ends;

	if (PQstatus(db->conn) == CONNECTION_BAD) {
		PQclear(result);
		db_lose(db, PQerrorMessage(db->conn));
		return;
	}
	db->first = done->next;
	if (!db->first)
		db->last = &db->first;
	db->state = DB_READY;
	event_del(db->timer);
	ends = sqlstate_ends_connection(result);
	if (PQresultStatus(result) != PGRES_TUPLES_OK &&
	    PQresultStatus(result) != PGRES_COMMAND_OK) {
		sqlstate_err(done->statement->name, result, &err);
		PQclear(TAKE(result));
	}
	done->done(done->context, result, err.code == ERR_NONE ? NULL : &err);
	waiting_destroy(done);
	if (!db->destroyed && ends && db->state == DB_READY)
		db_lose(db, "it takes no more statements");
	else if (!db->destroyed)
		db_step(db);
}

static bool
has_failed(const PGresult *result)
{
	return PQresultStatus(result) == PGRES_FATAL_ERROR;
}

/* The first result counts, unless a later one says that the transaction did not commit. */
static void
keep_result(struct db *db, PGresult *result)
{
	if (!db->result || (has_failed(result) && !has_failed(db->result))) {
		PQclear(db->result);
		db->result = result;
	} else {
		PQclear(result);
	}
}

/* Back to the loop after each statement that is over, so that none starves the other events. */
static void
collect(struct db *db)
{
	while (!PQisBusy(db->conn)) {
		PGresult *result = PQgetResult(db->conn);

		if (!result) {
			finish_statement(db);
			return;
		}
		keep_result(db, result);
	}
}

static bool
flush(struct db *db)
{
	int left = PQflush(db->conn);

	if (left > 0)
		event_add(db->writable, NULL);
	return left >= 0;
}

void
statements_on_deadline(struct db *db)
{
	struct strbuf why = { 0 };

	strbuf_printf(&why, "no answer to %s", db->first->statement->name);
	db_add_deadline(&why, db->options.statement_timeout_us);
	db_lose(db, strbuf_text(&why));
	strbuf_finish(&why);
}

void
statements_on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct db *db = arg;

	db_enter(db);
	if (!PQconsumeInput(db->conn) || !flush(db)) {
		db_lose(db, PQerrorMessage(db->conn));
	} else {
		if (db->state == DB_RUNNING)
			collect(db);
		tell_notifications(db);
	}
	db_leave(db);
}

void
statements_on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct db *db = arg;

	db_enter(db);
	if (!flush(db))
		db_lose(db, PQerrorMessage(db->conn));
	db_leave(db);
}

void
statements_send_first(struct db *db)
{
	struct waiting *first = db->first;
	const char *values[PARAMS_MAX];
	int formats[PARAMS_MAX];

	for (int i = 0; i < first->params.count; i++) {
		formats[i] = 1;
		values[i] = first->params.length[i] < 0
				    ? NULL
				    : first->params.data + first->params.start[i];
	}
	db->state = DB_RUNNING;
	db_set_timer(db, db->options.statement_timeout_us);
	if (!PQsendQueryParams(db->conn, first->statement->text, first->params.count, NULL, values,
			       first->params.length, formats, first->text ? 0 : 1) ||
	    !flush(db))
		db_lose(db, PQerrorMessage(db->conn));
	else
		params_finish(&first->params);
}

void
db_send(struct db *db, const struct db_query *query, db_result_fn *done, void *context)
{
	struct waiting *waiting = xcalloc(1, sizeof(*waiting));

	*waiting = (struct waiting){
		.statement = query->statement,
		.params = *query->params,
		.text = query->text,
		.done = done,
		.context = context,
	};
	*query->params = (struct params){ 0 };
	*db->last = waiting;
	db->last = &waiting->next;
	db_set_later(db);
}
