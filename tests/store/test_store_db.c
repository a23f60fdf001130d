/* SPDX-License-Identifier: Apache-2.0
 *
 * The connection: hosts that refuse or keep silent (L01), servers that die, turn read-only (D01) or
 * say nothing any more.
 */
#include "reconciled/base/secret.h"
#include "relay.h"
#include "store_test.h"

static const char *conninfo;
static PGconn *plain;

static struct err
try(const char *to, int64_t timeout_us, struct db **ret_db)
{
	struct db_options options = test_options(to);
	struct err err = { 0 };

	options.connect_timeout_us = timeout_us;
	*ret_db = db_create(test_base(), &options);
	if (!db_connect_wait(*ret_db, &err))
		printf("# %s\n", err.text);
	return err;
}

static void
test_unreachable(void)
{
	int port = relay_closed_port();
	struct db *db;
	struct err err =
		try(test_format("host=127.0.0.1 port=%d password=sesame", port), SECOND, &db);

	tap_int(err.code, ERR_TRANSIENT, "nobody listens");
	tap_ok(strstr(err.text, "127.0.0.1") && strstr(err.text, test_format("%d", port)),
	       "the message names host and port");
	tap_ok(!strstr(err.text, "sesame") && !strchr(err.text, '\n'),
	       "on one line, without the password");
	db_destroy(db);
	err = try("host=/nonexistent", SECOND, &db);
	tap_ok(strstr(err.text, "/nonexistent") != NULL, "or the socket");
	db_destroy(db);
	err = try("postgresql://u:sesame@[broken", SECOND, &db);
	tap_int(err.code, ERR_INVALID, "a connection string that cannot be read");
	tap_ok(!strstr(err.text, "sesame"), "is not quoted");
	db_destroy(db);
	err = try("host=a,b,c port=1,2", SECOND, &db);
	tap_int(err.code, ERR_INVALID, "three hosts, two ports");
	db_destroy(db);
}

static void
test_silent(void)
{
	struct relay *silent = relay_create_silent("127.0.0.1", 0);
	struct db *db;
	struct err err = try(test_format("host=127.0.0.1 port=%d", relay_port(silent)),
			     200 * MILLISECOND, &db);

	tap_int(err.code, ERR_TRANSIENT, "a silent host");
	tap_ok(strstr(err.text, "no answer within 200 ms") &&
		       strstr(err.text, test_format("%d", relay_port(silent))),
	       "is named");
	tap_ok(!db_is_connected(db), "and not connected");
	db_destroy(db);
	relay_destroy(silent);
}

static void
test_l01_two_hosts(void)
{
	struct relay *good = relay_create(PQhost(plain), "127.0.0.1", 0);
	struct relay *silent = relay_create_silent("127.0.0.1", 0);
	int refusing = relay_closed_port();
	struct db *db;
	struct err err = try(test_format("host=127.0.0.1,127.0.0.1 port=%d,%d user=postgres "
					 "dbname=db sslmode=prefer",
					 refusing, relay_port(good)),
			     5 * SECOND, &db);

	tap_int(err.code, ERR_NONE, "L01: the first host refuses, the second answers");
	db_destroy(db);
	err = try(test_format("host=127.0.0.1,127.0.0.1 port=%d,%d user=postgres dbname=db",
			      relay_port(silent), relay_port(good)),
		  3 * SECOND, &db);
	tap_int(err.code, ERR_NONE, "L01: the first host is silent, the second answers");
	db_destroy(db);
	err = try(test_format("host=localhost port=%d user=postgres dbname=db", relay_port(good)),
		  5 * SECOND, &db);
	tap_int(err.code, ERR_NONE, "L01: one name, ::1 closed, 127.0.0.1 open");
	db_destroy(db);
	err = try(test_format("host=127.0.0.1,127.0.0.1 port=%d,%d user=postgres dbname=db",
			      refusing, relay_port(silent)),
		  200 * MILLISECOND, &db);
	tap_ok(strstr(err.text, test_format("%d", refusing)) &&
		       strstr(err.text, test_format("%d", relay_port(silent))),
	       "when none is left, each is named");
	db_destroy(db);
	relay_destroy(good);
	relay_destroy(silent);
}

static void
fetch(struct db *db, struct told *told)
{
	static const struct due_request request = {
		.operation_type = "none",
		.share_count = 1,
		.until_us = TIME_NONE,
		.after_due_us = TIME_NONE,
		.limit = 1,
	};

	store_fetch_due(db, &request, told_due, told);
}

static void
test_order(void)
{
	const struct db_options options = test_options(conninfo);
	struct db *db = db_create(test_base(), &options);
	struct told connected = { 0 }, answers[3] = { 0 };

	db_connect(db, told_done, &connected);
	for (size_t i = 0; i < 3; i++)
		fetch(db, &answers[i]);
	tap_int(connected.times + answers[0].times, 0, "nothing is told from inside a call");
	for (size_t i = 0; i < 3; i++) {
		test_wait(&answers[i], 1);
		for (size_t later = i + 1; later < 3; later++)
			if (answers[later].times > 0)
				tap_ok(false, "answer %zu came before %zu", later, i);
	}
	test_turn(50 * MILLISECOND);
	tap_int(connected.times, 1, "connected once");
	tap_int(answers[0].times + answers[1].times + answers[2].times, 3,
		"each is answered once, in order");
	tap_int(answers[2].err.code, ERR_NONE, "what was sent while connecting too");
	for (size_t i = 0; i < 3; i++)
		due_rows_destroy(answers[i].rows);
	db_destroy(db);
}

static void
test_not_connected(void)
{
	const struct db_options options = test_options("host=/nonexistent");
	struct db *db = db_create(test_base(), &options);
	struct told connected = { 0 }, told = { 0 };

	fetch(db, &told);
	test_wait(&told, 1);
	tap_int(told.err.code, ERR_TRANSIENT, "a statement without connection fails");
	db_connect(db, told_done, &connected);
	fetch(db, &told);
	test_wait(&told, 2);
	tap_int(connected.times, 1, "with the connection that fails");
	tap_int(told.err.code, ERR_TRANSIENT, "fails what waited for it");
	db_destroy(db);
}

static void
terminate(void)
{
	test_sql(plain, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
			"WHERE application_name = 'reconciled'");
}

static void
test_idle_killed(void)
{
	struct db *db = test_connect(conninfo);
	struct told told = { 0 };
	struct err err = { 0 };

	terminate();
	test_turn(200 * MILLISECOND);
	tap_ok(!db_is_connected(db), "a connection that dies idle is noticed");
	fetch(db, &told);
	test_wait(&told, 1);
	tap_int(told.err.code, ERR_TRANSIENT, "the next statement says so");
	tap_ok(db_connect_wait(db, &err), "it connects again");
	fetch(db, &told);
	test_wait(&told, 2);
	tap_ok(told.rows != NULL, "and works");
	due_rows_destroy(told.rows);
	db_destroy(db);
}

static void
test_lost(void)
{
	struct db *db = test_connect(conninfo);
	struct told lost = { 0 }, told = { 0 };
	struct err err = { 0 };

	db_on_lost(db, told_done, &lost);
	terminate();
	test_wait(&lost, 1);
	tap_int(lost.err.code, ERR_TRANSIENT, "the owner learns that an idle connection was lost");
	tap_ok(!db_is_connected(db), "it is not connected then");
	tap_ok(db_connect_wait(db, &err), "and connects again");
	db_close(db);
	fetch(db, &told);
	test_wait(&told, 1);
	db_destroy(db);
	test_turn(50 * MILLISECOND);
	tap_int(lost.times, 1, "closing and destroying are no loss");
}

static void
test_lost_under_way(void)
{
	struct db *db = test_connect(conninfo);
	struct told lost = { 0 }, told = { 0 };

	db_on_lost(db, told_done, &lost);
	test_sql(plain, "BEGIN; LOCK TABLE reconcile.operations");
	fetch(db, &told);
	test_turn(50 * MILLISECOND);
	terminate();
	test_wait(&lost, 1);
	test_sql(plain, "ROLLBACK");
	tap_int(told.times, 1, "the statements fail before the owner learns of the loss");
	tap_int(told.err.code, ERR_TRANSIENT, "as transient");
	tap_int(lost.times, 1, "once");
	db_destroy(db);
}

static void
test_close(void)
{
	const struct db_options options = test_options(conninfo);
	struct db *db = db_create(test_base(), &options);
	struct told cut = { 0 }, connected = { 0 }, before = { 0 }, after = { 0 };

	db_close(db);
	db_connect(db, told_done, &cut);
	fetch(db, &before);
	db_close(db);
	db_connect(db, told_done, &connected);
	fetch(db, &after);
	tap_int(cut.times + before.times, 0, "db_close tells nobody from inside");
	test_wait(&after, 1);
	tap_int(cut.times, 1, "a connect that was closed is answered");
	tap_int(cut.err.code, ERR_TRANSIENT, "as failed");
	tap_int(before.times, 1, "and so is what waited for it");
	tap_int(before.err.code, ERR_TRANSIENT, "as failed too");
	tap_int(connected.times, 1, "the next connect is answered for itself");
	tap_int(after.err.code, ERR_NONE, "with what was sent after it");
	due_rows_destroy(after.rows);
	fetch(db, &before);
	db_close(db);
	db_destroy(db);
	test_turn(50 * MILLISECOND);
	tap_int(before.times, 1, "after db_destroy nobody is told");
}

struct heard {
	int times;
	char payload[64];
};

static void
on_notified(void *owner, const char *payload)
{
	struct heard *heard = owner;

	heard->times++;
	snprintf(heard->payload, sizeof(heard->payload), "%s", payload);
}

/* A notification arrives with the commit, but the loop has to turn to see it. */
static void
wait_heard(const struct heard *heard, int times)
{
	for (int i = 0; i < 3000 && heard->times < times; i++)
		test_turn(10 * MILLISECOND);
	tap_int(heard->times, times, "no more and no fewer notifications are heard");
}

static void
test_q04_notified(void)
{
	struct db *db = test_connect(conninfo);
	struct heard heard = { 0 };
	struct told told = { 0 }, lost = { 0 };
	struct err err = { 0 };

	db_on_notified(db, on_notified, &heard);
	db_on_lost(db, told_done, &lost);
	fetch(db, &told);
	test_wait(&told, 1); /* after LISTEN */
	due_rows_destroy(told.rows);
	test_sql(plain, "NOTIFY reconciled, 'sync_customer'");
	wait_heard(&heard, 1);
	tap_str(heard.payload, "sync_customer", "with the type");
	test_sql(plain, "NOTIFY somebody_else");
	terminate();
	test_wait(&lost, 1);
	tap_ok(db_connect_wait(db, &err), "connected again");
	fetch(db, &told);
	test_wait(&told, 2);
	due_rows_destroy(told.rows);
	test_sql(plain, "NOTIFY reconciled");
	wait_heard(&heard, 2);
	tap_str(heard.payload, "", "Q04: it listens on the new connection");
	db_destroy(db);
}

/* The command is complete, but the transaction is not: the error comes with the commit. */
static void
test_commit_refused(void)
{
	struct db *db = test_connect(conninfo);
	struct record_row rows[] = { test_row("deferred") };
	struct told told;

	test_sql(plain,
		 "SELECT reconcile.request('sync_customer', 'deferred', already_sent => true)");
	test_sql(plain, "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
			"$$BEGIN RAISE SQLSTATE '40001'; END$$;"
			"CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON reconcile.operations "
			"DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()");
	told = test_record(db, rows, 1);
	tap_int(told.err.code, ERR_BUSY, "what fails at its commit is no success");
	tap_str(test_value(plain, "SELECT status FROM reconcile.operations "
				  "WHERE operation_id = 'deferred'"),
		"awaiting_confirmation", "nothing was written");
	test_sql(plain, "DROP TRIGGER refuse ON reconcile.operations; DROP FUNCTION refuse");
	db_destroy(db);
}

static void
set_read_only(const char *to)
{
	test_sql(plain, test_format("ALTER SYSTEM SET default_transaction_read_only = %s", to));
	test_sql(plain, "SELECT pg_reload_conf()");
	test_turn(300 * MILLISECOND);
}

static void
test_d01_read_only(void)
{
	struct db *db = test_connect(conninfo), *other;
	struct record_row rows[] = { test_row("nobody") };
	struct told told;
	struct err err;

	set_read_only("on");
	told = test_record(db, rows, 1);
	tap_int(told.err.code, ERR_TRANSIENT, "D01: a primary that became read-only is transient");
	tap_ok(strstr(told.err.text, "25006") != NULL, "by its SQLSTATE: %s", told.err.text);
	tap_ok(!db_is_connected(db), "and given up, to look for the new primary");
	err = try(
		test_format("%s host=%s,%s port=5432,5432", conninfo, PQhost(plain), PQhost(plain)),
		SECOND, &other);
	tap_int(err.code, ERR_TRANSIENT, "of several hosts one that takes writes is wanted");
	set_read_only("off");
	tap_ok(db_connect_wait(db, &err), "when it takes writes again");
	tap_int(test_record(db, rows, 1).err.code, ERR_NONE, "they are sent");
	db_destroy(db);
	db_destroy(other);
}

static void
test_statement_deadline(void)
{
	struct db_options options = test_options(conninfo);
	struct db *db;
	struct told told = { .results_count = 1 };
	struct record_row rows[] = { test_row("slow") };
	const struct record_batch batch = { "reconciled:test", "i-1", rows, 1 };
	struct err err = { 0 };

	options.statement_timeout_us = 150 * MILLISECOND;
	db = db_create(test_base(), &options);
	tap_ok(db_connect_wait(db, &err), "connected");
	test_sql(plain, "SELECT reconcile.request('sync_customer', 'slow', already_sent => true)");
	test_sql(plain,
		 "BEGIN; SELECT FROM reconcile.operations WHERE operation_id = 'slow' FOR UPDATE");
	store_record(db, &batch, told_recorded, &told);
	test_wait(&told, 1);
	test_sql(plain, "ROLLBACK");
	tap_int(told.err.code, ERR_TRANSIENT, "no answer in time is transient");
	tap_ok(strstr(told.err.text, "record") != NULL, "names the statement: %s", told.err.text);
	tap_ok(!db_is_connected(db), "the connection is given up");
	db_destroy(db);
}

static void
on_rows_destroy_db(void *owner, struct due_rows *rows, const struct err *err)
{
	struct db **db = owner;

	due_rows_destroy(rows);
	db_destroy(*db);
	*db = NULL;
}

static void
test_destroyed_by_callback(void)
{
	struct db *db = test_connect(conninfo);
	struct told never = { 0 };
	static const struct due_request request = {
		.operation_type = "none",
		.share_count = 1,
		.until_us = TIME_NONE,
		.after_due_us = TIME_NONE,
		.limit = 1,
	};

	store_fetch_due(db, &request, on_rows_destroy_db, &db);
	fetch(db, &never);
	while (db)
		event_base_loop(test_base(), EVLOOP_ONCE);
	test_turn(50 * MILLISECOND);
	tap_int(never.times, 0,
		"what was not answered when it was destroyed is not answered any more");
	db_destroy(NULL);
}

static void
test_settings(void)
{
	struct db_options options = test_options(conninfo);
	struct secret *password = secret_create("sesame", 6);
	struct err err = { 0 };

	options.password = password;
	struct db *db = db_create(test_base(), &options);

	secret_destroy(password);
	tap_ok(db_connect_wait(db, &err), "the password is copied");
	tap_str(test_value(plain, "SELECT count(*) FROM pg_stat_activity WHERE application_name = "
				  "'reconciled'"),
		"1", "the server knows the name of the program");
	db_destroy(db);
}

int
main(void)
{
	conninfo = test_database("db");
	plain = test_plain(conninfo);
	test_unreachable();
	test_silent();
	test_l01_two_hosts();
	test_order();
	test_not_connected();
	test_idle_killed();
	test_lost();
	test_lost_under_way();
	test_close();
	test_q04_notified();
	test_commit_refused();
	test_d01_read_only();
	test_statement_deadline();
	test_destroyed_by_callback();
	test_settings();
	PQfinish(plain);
	return tap_done();
}
