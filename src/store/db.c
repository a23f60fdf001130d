/* SPDX-License-Identifier: Apache-2.0
 *
 * One connection on the loop: walks the hosts, sends one statement after the other, reports every
 * loss once to everybody who waits. Knows nothing of what the statements mean.
 */
#include <assert.h>
#include <stdlib.h>

#include <event2/event.h>

#include "db_send.h"
#include "hosts.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/log.h"
#include "reconciled/base/secret.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/store/db.h"
#include "sqlstate.h"

enum db_state { DB_CLOSED, DB_CONNECTING, DB_READY, DB_RUNNING };

struct waiting {
	const struct sql_statement *statement;
	struct params params;
	bool text;
	db_result_fn *done;
	void *context; /* owned */
	struct waiting *next;
};

struct db {
	struct event_base *base;
	struct db_options options; /* points to what follows */
	char *application_name;
	struct secret *password;
	struct hosts hosts;
	struct err bad_options; /* told by db_connect */
	enum db_state state;
	PGconn *conn;
	size_t host;		/* being tried */
	struct strbuf failures; /* of the hosts before it */
	struct event *socket;	/* connecting: one shot; then EV_READ that stays */
	struct event *writable;
	struct event *timer; /* of the host or the statement */
	struct event *later; /* what must not happen inside a call */
	db_connected_fn *connected;
	void *connected_owner;
	struct waiting *first, **last;
	PGresult *result; /* of the statement under way */
	int entered;	  /* callbacks on the stack */
	bool destroyed;	  /* by one of them */
};

static void step(struct db *db);
static void try_host(struct db *db);

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

static void
enter(struct db *db)
{
	db->entered++;
}

static void
leave(struct db *db)
{
	if (--db->entered == 0 && db->destroyed)
		free(db);
}

static void
set_timer(struct db *db, int64_t after_us)
{
	struct timeval tv = { .tv_sec = after_us / SECOND, .tv_usec = after_us % SECOND };

	event_add(db->timer, &tv);
}

static void
set_later(struct db *db)
{
	event_add(db->later, &(struct timeval){ 0 });
}

/* Everybody who waits now learns it; who comes during that waits for the next connection. */
static void
fail_all(struct db *db, const struct err *err)
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
lose(struct db *db, const char *why)
{
	struct strbuf line = { 0 };
	struct err err = { 0 };

	sqlstate_add_line(&line, why);
	err_fill(&err, ERR_TRANSIENT, "connection to the database was lost: %s",
		 line.len > 0 ? strbuf_text(&line) : "closed by the server");
	strbuf_finish(&line);
	disconnect(db);
	log_debug("database connection lost", F_STR("error", err.text));
	fail_all(db, &err);
}

static void
connect_over(struct db *db, const struct err *err)
{
	strbuf_reset(&db->failures);
	db->connected(db->connected_owner, err);
	if (!db->destroyed && err && db->state == DB_CLOSED)
		fail_all(db, err);
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

static void
finish_statement(struct db *db)
{
	struct waiting *done = db->first;
	PGresult *result = TAKE(db->result);
	struct err err = { 0 };
	bool ends;

	if (PQstatus(db->conn) == CONNECTION_BAD) {
		PQclear(result);
		lose(db, PQerrorMessage(db->conn));
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
		lose(db, "it takes no more statements");
	else if (!db->destroyed)
		step(db);
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

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct db *db = arg;
	PGnotify *notify;

	enter(db);
	if (!PQconsumeInput(db->conn) || !flush(db)) {
		lose(db, PQerrorMessage(db->conn));
	} else {
		while ((notify = PQnotifies(db->conn)))
			PQfreemem(notify);
		if (db->state == DB_RUNNING)
			collect(db);
	}
	leave(db);
}

static void
on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct db *db = arg;

	enter(db);
	if (!flush(db))
		lose(db, PQerrorMessage(db->conn));
	leave(db);
}

static void
send_first(struct db *db)
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
	set_timer(db, db->options.statement_timeout_us);
	if (!PQsendQueryParams(db->conn, first->statement->text, first->params.count, NULL, values,
			       first->params.length, formats, first->text ? 0 : 1) ||
	    !flush(db))
		lose(db, PQerrorMessage(db->conn));
	else
		params_finish(&first->params);
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
	db->socket = event_new(db->base, fd, EV_READ | EV_PERSIST, on_readable, db);
	db->writable = event_new(db->base, fd, EV_WRITE, on_writable, db);
	event_add(db->socket, NULL);
	db->state = DB_READY;
	connect_over(db, NULL);
	if (!db->destroyed)
		step(db);
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

	enter(db);
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
	leave(db);
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
	set_timer(db, db->options.connect_timeout_us);
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

	enter(db);
	if (db->state == DB_CONNECTING) {
		hosts_describe(&db->hosts, db->host, &why);
		strbuf_puts(&why, " failed: no answer");
		add_deadline(&why, db->options.connect_timeout_us);
		next_host(db, strbuf_text(&why));
	} else if (db->state == DB_RUNNING) {
		strbuf_printf(&why, "no answer to %s", db->first->statement->name);
		add_deadline(&why, db->options.statement_timeout_us);
		lose(db, strbuf_text(&why));
	}
	strbuf_finish(&why);
	leave(db);
}

/* What is to be done in this state without waiting for anything. */
static void
step(struct db *db)
{
	static const struct err closed = { ERR_TRANSIENT, "not connected to the database" };

	switch (db->state) {
	case DB_CLOSED:
		fail_all(db, &closed);
		break;
	case DB_CONNECTING:
		if (!db->conn)
			try_host(db);
		break;
	case DB_READY:
		if (db->first)
			send_first(db);
		break;
	case DB_RUNNING:
		break;
	}
}

static void
on_later(evutil_socket_t fd, short what, void *arg)
{
	struct db *db = arg;

	enter(db);
	step(db);
	leave(db);
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
	fail_all(db, NULL);
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
	set_later(db);
}

bool
db_is_connected(const struct db *db)
{
	return db->state == DB_READY || db->state == DB_RUNNING;
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
	set_later(db);
}

/* For programs without a loop of their own. */
struct answer {
	bool over;
	PGresult *result;
	struct err err;
};

static void
answer_fill(struct answer *answer, PGresult *result, const struct err *err)
{
	answer->over = true;
	answer->result = result;
	if (err)
		answer->err = *err;
}

static void
on_answer(void *context, PGresult *result, const struct err *err)
{
	answer_fill(*(struct answer **)context, result, err);
}

static void
on_connected(void *owner, const struct err *err)
{
	answer_fill(owner, NULL, err);
}

static bool
wait_for(struct db *db, struct answer *answer, struct err *err)
{
	while (!answer->over)
		event_base_loop(db->base, EVLOOP_ONCE);
	if (answer->err.code != ERR_NONE)
		*err = answer->err;
	return answer->err.code == ERR_NONE;
}

bool
db_connect_wait(struct db *db, struct err *err)
{
	struct answer answer = { 0 };

	db_connect(db, on_connected, &answer);
	return wait_for(db, &answer, err);
}

bool
db_send_wait(struct db *db, const struct db_query *query, PGresult **ret_result, struct err *err)
{
	struct answer answer = { 0 };
	struct answer **context = xcalloc(1, sizeof(struct answer *));

	*context = &answer;
	db_send(db, query, on_answer, context);
	if (!wait_for(db, &answer, err))
		return false;
	*ret_result = answer.result;
	return true;
}
