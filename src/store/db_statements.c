/* SPDX-License-Identifier: Apache-2.0
 *
 * The statements of a connection: one after the other, each answered once.
 */
#include <stdlib.h>

#include "db_private.h"
#include "reconciled/base/xalloc.h"
#include "sqlstate.h"

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

void
statements_fail_all(struct db *db, const struct err *err)
{
	struct waiting *waiting = db->first;

	db->first = NULL;
	db->last = &db->first;
	while (waiting) {
		struct waiting *next = waiting->next;

		if (!db->destroyed)
			waiting->done(waiting->context, NULL, err);
		waiting_destroy(waiting);
		waiting = next;
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
		if (db->result)
			PQclear(result);
		else
			db->result = result;
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
statements_on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct db *db = arg;
	PGnotify *notify;

	db_enter(db);
	if (!PQconsumeInput(db->conn) || !flush(db)) {
		db_lose(db, PQerrorMessage(db->conn));
	} else {
		while ((notify = PQnotifies(db->conn)))
			PQfreemem(notify);
		if (db->state == DB_RUNNING)
			collect(db);
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
