/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of store share.
 */
#include <stdlib.h>

#include "store_test.h"

static struct event_base *base;
static struct arena *texts;

static void
give_up(const char *what, const char *why)
{
	printf("Bail out! %s: %s\n", what, why);
	exit(1);
}

struct event_base *
test_base(void)
{
	if (!base)
		base = event_base_new();
	return base;
}

static const char *
cluster(void)
{
	const char *conninfo = getenv("RECONCILED_TEST_DATABASE");

	if (!conninfo)
		give_up("RECONCILED_TEST_DATABASE", "not set");
	return conninfo;
}

const char *
test_format(const char *fmt, ...)
{
	char line[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (!texts)
		texts = arena_create();
	return arena_strdup(texts, line);
}

PGconn *
test_plain(const char *conninfo)
{
	PGconn *conn = PQconnectdb(conninfo);

	if (PQstatus(conn) != CONNECTION_OK)
		give_up("connection", PQerrorMessage(conn));
	return conn;
}

static PGresult *
run(PGconn *conn, const char *sql)
{
	PGresult *result = PQexec(conn, sql);

	if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
		give_up(sql, PQerrorMessage(conn));
	return result;
}

void
test_sql(PGconn *conn, const char *sql)
{
	PQclear(run(conn, sql));
}

const char *
test_value(PGconn *conn, const char *sql)
{
	static char value[65536];
	PGresult *result = run(conn, sql);

	snprintf(value, sizeof(value), "%s",
		 PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "(no row)");
	PQclear(result);
	return value;
}

const char *
test_empty_database(const char *name)
{
	PGconn *admin = test_plain(cluster());

	test_sql(admin, "SET client_min_messages = warning");
	test_sql(admin, test_format("DROP DATABASE IF EXISTS %s WITH (FORCE)", name));
	test_sql(admin, test_format("CREATE DATABASE %s TEMPLATE template0", name));
	PQfinish(admin);
	return test_format("%s dbname=%s", cluster(), name);
}

const char *
test_database(const char *name)
{
	const char *conninfo = test_empty_database(name);
	const struct db_options options = test_options(conninfo);
	struct err err = { 0 };

	if (!db_migrate(&options, NULL, NULL, &err))
		give_up("migrate", err.text);
	return conninfo;
}

struct db_options
test_options(const char *conninfo)
{
	return (struct db_options){
		.conninfo = conninfo,
		.application_name = "reconciled",
		.connect_timeout_us = 20 * SECOND,
		.statement_timeout_us = 20 * SECOND,
	};
}

struct db *
test_connect(const char *conninfo)
{
	const struct db_options options = test_options(conninfo);
	struct db *db = db_create(test_base(), &options);
	struct err err = { 0 };

	if (!db_connect_wait(db, &err))
		give_up("db_connect_wait", err.text);
	return db;
}

void
told_done(void *owner, const struct err *err)
{
	struct told *told = owner;

	told->times++;
	if (err)
		told->err = *err;
}

void
told_due(void *owner, struct due_rows *rows, const struct err *err)
{
	struct told *told = owner;

	told->rows = rows;
	told_done(owner, err);
}

void
told_recorded(void *owner, const struct record_result *results, const struct err *err)
{
	struct told *told = owner;

	if (results)
		memcpy(told->results, results, told->results_count * sizeof(*results));
	told_done(owner, err);
}

void
told_count(void *owner, int64_t count, const struct err *err)
{
	struct told *told = owner;

	told->count = count;
	told_done(owner, err);
}

static void
on_too_late(evutil_socket_t fd, short what, void *arg)
{
	give_up("test_wait", "nothing was reported");
}

void
test_wait(const struct told *told, int times)
{
	struct event *deadline = event_new(test_base(), -1, 0, on_too_late, NULL);

	event_add(deadline, &(struct timeval){ .tv_sec = 30 });
	while (told->times < times)
		event_base_loop(test_base(), EVLOOP_ONCE);
	event_free(deadline);
}

void
test_turn(int64_t for_us)
{
	struct timeval tv = { .tv_sec = for_us / SECOND, .tv_usec = for_us % SECOND };

	event_base_loopexit(test_base(), &tv);
	event_base_dispatch(test_base());
}

struct told
test_record(struct db *db, const struct record_row *rows, size_t count)
{
	struct told told = { .results_count = count };
	const struct record_batch batch = {
		.actor = "reconciled:test",
		.instance_id = "i-1",
		.rows = rows,
		.count = count,
	};

	store_record(db, &batch, told_recorded, &told);
	test_wait(&told, 1);
	return told;
}

struct due_rows *
test_fetch(struct db *db, const char *type, int limit)
{
	struct told told = { 0 };
	const struct due_request request = {
		.operation_type = type,
		.until_us = TIME_NONE,
		.after_due_us = TIME_NONE,
		.limit = limit,
	};

	store_fetch_due(db, &request, told_due, &told);
	test_wait(&told, 1);
	if (!told.rows)
		give_up("fetch", told.err.text);
	return told.rows;
}

struct record_row
test_row(const char *operation_id)
{
	return (struct record_row){
		.operation_id = operation_id,
		.operation_type = "sync_customer",
		.from = STATUS_AWAITING_CONFIRMATION,
		.to = STATUS_CONFIRMED,
		.changed = true,
		.class = CLASS_CORRECT,
		.reason = "fields_equal",
		.closed_reason = "confirmed: fields_equal",
		.remote_id = "c9",
		.earned.since_us = TIME_NONE,
		.event = "confirmed",
		.action = "confirm",
		.rule = "compare",
		.evidence = "{\"reading\":\"found\"}",
		.evidence_digest =
			"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
		.policy_digest = "aa",
		.journal_class = CLASS_CORRECT,
		.journal_reason = "fields_equal",
		.outbox_type = "operation.confirmed",
		.tally_class = CLASS_CORRECT,
		.tally_action = ACTION_CONFIRM,
	};
}
