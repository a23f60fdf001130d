/* SPDX-License-Identifier: Apache-2.0
 *
 * Promises 6, 7 and 10: a verdict is written over the revision it was judged at, with journal,
 * event and tally, or not at all.
 */
#include <stdlib.h>

#include "statement.h"
#include "store_test.h"

static PGconn *plain;
static struct db *db;

/* An operation that was sent, at revision 2. */
static void
request(const char *id)
{
	struct strbuf sql = { 0 };

	strbuf_printf(&sql,
		      "SELECT reconcile.request('sync_customer', '%s', entity_type => 'customer', "
		      "entity_id => '%s', correlation_id => 'k-1')",
		      id, id);
	test_sql(plain, strbuf_text(&sql));
	strbuf_reset(&sql);
	strbuf_printf(&sql, "SELECT reconcile.start('%s', 'w1')", id);
	test_sql(plain, strbuf_text(&sql));
	strbuf_reset(&sql);
	strbuf_printf(&sql, "SELECT reconcile.sent('%s')", id);
	test_sql(plain, strbuf_text(&sql));
	strbuf_finish(&sql);
}

/* What the statement must have put into every table, as one line. */
static const char *
value(const char *sql)
{
	return test_value(plain, sql);
}

/* 0: unknown. */
static int64_t
due_us(const char *id)
{
	struct strbuf sql = { 0 };
	int64_t us;

	strbuf_printf(&sql,
		      "SELECT (extract(epoch FROM due_at) * 1000000)::bigint "
		      "FROM reconcile.operations WHERE operation_id = '%s'",
		      id);
	us = strtoll(value(strbuf_text(&sql)), NULL, 10);
	strbuf_finish(&sql);
	return us;
}

static struct record_row
row(const char *id)
{
	struct record_row row = test_row(id);

	row.revision = 2;
	row.due_was_us = due_us(id);
	return row;
}

static void
test_every_statement_prepares(void)
{
	for (size_t i = 0; i < sql_statements_count; i++) {
		PGresult *result = PQprepare(plain, "", sql_statements[i]->text, 0, NULL);

		if (!tap_ok(PQresultStatus(result) == PGRES_COMMAND_OK, "sql/%s.sql prepares",
			    sql_statements[i]->name))
			printf("# %s\n", PQerrorMessage(plain));
		PQclear(result);
	}
}

static void
test_one_verdict(void)
{
	request("one");
	struct record_row rows[] = { row("one") };
	struct told told = test_record(db, rows, 1);

	tap_int(told.err.code, ERR_NONE, "a verdict is written");
	tap_int(told.results[0].outcome, RECORD_DONE, "and said to be");
	tap_int(told.results[0].revision, 3, "at the next revision");
	tap_str(value("SELECT concat_ws(' ', status, class, reason, closed_reason, remote_id, "
		      "checks, "
		      "revision, closed_at = updated_at, due_at IS NULL, left(encode("
		      "evidence_digest, 'hex'), 8)) FROM reconcile.operations WHERE operation_id = "
		      "'one'"),
		"confirmed correct fields_equal confirmed: fields_equal c9 1 3 t t 00010203",
		"the operation is confirmed");
	tap_str(value("SELECT concat_ws(' ', actor, event, from_status, to_status, class, reason, "
		      "action, rule, evidence, policy, elapsed_ms >= 0) FROM reconcile.journal "
		      "WHERE operation_id = 'one' AND revision = 3"),
		"reconciled:test confirmed awaiting_confirmation confirmed correct fields_equal "
		"confirm compare {\"reading\":\"found\"} aa t",
		"the journal says why");
	tap_str(value("SELECT concat_ws(' ', type, payload ->> 'status', payload ->> 'remote_id', "
		      "payload ->> 'revision', deliver_to IS NULL) FROM reconcile.outbox "
		      "WHERE aggregateid = 'one' AND revision = 3"),
		"operation.confirmed confirmed c9 3 t", "an event is there");
	tap_str(value("SELECT string_agg(concat_ws(' ', instance_id, operation_type, class, "
		      "action, n, "
		      "minute = date_trunc('minute', minute)), ',') FROM reconcile.tallies"),
		"i-1 sync_customer correct confirm 1 t", "it is tallied");
}

static void
test_results_belong_to_rows(void)
{
	request("b");
	request("a");
	request("c");
	struct record_row rows[] = { row("b"), row("unknown"), row("a"), row("c") };

	rows[3].revision = 1;
	struct told told = test_record(db, rows, 4);

	tap_int(told.results[0].outcome, RECORD_DONE, "results are in the order of the rows: b");
	tap_int(told.results[1].outcome, RECORD_STALE, "an unknown operation is stale");
	tap_int(told.results[2].outcome, RECORD_DONE, "a");
	tap_int(told.results[3].outcome, RECORD_STALE, "another revision is stale");
	tap_str(value("SELECT concat_ws(' ', status, revision, checks) FROM reconcile.operations "
		      "WHERE operation_id = 'c'"),
		"awaiting_confirmation 2 0", "a stale verdict leaves no trace");
}

/* The worker confirms while the statement waits for the row: the verdict came too late. */
static void
test_promise_6_late_verdict(void)
{
	struct told told = { .results_count = 1 };

	request("late");
	struct record_row rows[] = { row("late") };
	const struct record_batch batch = { "reconciled:test", "i-1", rows, 1 };

	test_sql(plain, "BEGIN; SELECT reconcile.confirm('late', 'c1')");
	store_record(db, &batch, told_recorded, &told);
	test_turn(100 * MILLISECOND);
	tap_int(told.times, 0, "the statement waits for the worker");
	test_sql(plain, "COMMIT");
	test_wait(&told, 1);
	tap_int(told.err.code, ERR_NONE, "waiting is no error");
	tap_int(told.results[0].outcome, RECORD_STALE, "the verdict is stale");
	tap_str(value("SELECT string_agg(actor, ' ' ORDER BY revision) FROM reconcile.journal "
		      "WHERE operation_id = 'late' AND revision > 2"),
		"app:postgres", "only the worker is in the journal");
}

static void
test_counters_only(void)
{
	request("same");
	struct record_row rows[] = { row("same") };

	rows[0].changed = false;
	rows[0].to = STATUS_AWAITING_CONFIRMATION;
	rows[0].outbox_type = NULL;
	rows[0].closed_reason = NULL;
	rows[0].remote_id = NULL;
	rows[0].due = true;
	rows[0].due_in_us = HOUR;
	rows[0].earned = (struct earned){ CLASS_MISSING, 2, 1700000000123456, 0 };
	struct told told = test_record(db, rows, 1);

	tap_int(told.results[0].outcome, RECORD_DONE, "counters are written");
	tap_int(told.results[0].revision, 2, "without a new revision");
	tap_str(value("SELECT concat_ws(' ', status, coalesce(class, '-'), absences, earning, "
		      "checks, revision, "
		      "extract(epoch FROM absent_since), evidence_digest IS NULL, updated_at < "
		      "clock_timestamp(), round(extract(epoch FROM due_at - clock_timestamp()) / "
		      "60)) "
		      "FROM reconcile.operations WHERE operation_id = 'same'"),
		"awaiting_confirmation - 2 missing 1 2 1700000000.123456 t t 60",
		"only counters and due_at moved");
	tap_str(value("SELECT max(revision) FROM reconcile.journal WHERE operation_id = 'same'"),
		"2", "without a journal row");
	told = test_record(db, rows, 1);
	tap_int(told.results[0].outcome, RECORD_STALE, "not when somebody else counted meanwhile");
}

/* Somebody wants another look while one is under way: its verdict counts, its due time does not. */
static void
test_due_again(void)
{
	request("woken");
	struct record_row rows[] = { row("woken") };

	test_sql(plain, "UPDATE reconcile.operations SET due_at = '2020-01-01 00:00:00Z' "
			"WHERE operation_id = 'woken'");
	struct told told = test_record(db, rows, 1);

	tap_int(told.results[0].outcome, RECORD_DONE, "the verdict is written");
	tap_str(value("SELECT concat_ws(' ', status, due_at AT TIME ZONE 'UTC') "
		      "FROM reconcile.operations WHERE operation_id = 'woken'"),
		"confirmed 2020-01-01 00:00:00", "and the operation stays due");
}

static void
test_refused(void)
{
	request("good");
	request("bad");
	struct record_row rows[] = { row("good"), row("bad") };

	rows[1].to = STATUS_PENDING;
	struct told told = test_record(db, rows, 2);

	tap_int(told.err.code, ERR_INVALID, "a transition that does not exist is refused");
	tap_str(told.err.text,
		"operation \"bad\" cannot change from awaiting_confirmation to pending",
		"by the life cycle, in its own words");
	rows[1] = row("bad");
	rows[1].remote_id = "secret\xff value";
	told = test_record(db, rows, 2);
	tap_int(told.err.code, ERR_INVALID, "invalid UTF-8 is refused");
	tap_ok(strstr(told.err.text, "secret") == NULL, "without quoting it: %s", told.err.text);
	test_sql(plain, "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS "
			"$$BEGIN RAISE EXCEPTION 'value % is bad', NEW.remote_id; END$$;"
			"CREATE TRIGGER no BEFORE UPDATE ON reconcile.operations FOR EACH ROW "
			"WHEN (NEW.operation_id = 'bad') EXECUTE FUNCTION no()");
	rows[1].remote_id = "secret";
	told = test_record(db, rows, 2);
	tap_int(told.err.code, ERR_INVALID, "a row that somebody's trigger refuses");
	tap_ok(strstr(told.err.text, "secret") == NULL, "promise 11: no values in %s",
	       told.err.text);
	test_sql(plain, "DROP TRIGGER no ON reconcile.operations; DROP FUNCTION no");
	tap_str(value("SELECT string_agg(concat_ws(' ', operation_id, status, revision, checks), "
		      "', ' "
		      "ORDER BY operation_id) FROM reconcile.operations WHERE operation_id IN "
		      "('good', 'bad')"),
		"bad awaiting_confirmation 2 0, good awaiting_confirmation 2 0",
		"promise 7: with a refused row nothing of the batch is written");
	told = test_record(db, rows, 1);
	tap_int(told.results[0].outcome, RECORD_DONE,
		"the connection works on, the good one is written");
}

static void
test_locked(void)
{
	request("locked");
	struct record_row rows[] = { row("locked") };

	test_sql(
		plain,
		"BEGIN; SELECT FROM reconcile.operations WHERE operation_id = 'locked' FOR UPDATE");
	struct told told = test_record(db, rows, 1);

	tap_int(told.err.code, ERR_BUSY, "a locked row is busy");
	tap_ok(strstr(told.err.text, "55P03") != NULL, "after the lock timeout: %s", told.err.text);
	test_sql(plain, "ROLLBACK");
	tap_str(value("SELECT count(*) FROM reconcile.journal WHERE operation_id = 'locked' AND "
		      "revision > 2"),
		"0", "and nothing was written");
	told = test_record(db, rows, 1);
	tap_int(told.results[0].outcome, RECORD_DONE, "later it is");
}

static const char kill_recording[] =
	"SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
	"WHERE application_name = 'reconciled' AND datname = current_database()";

static void
test_killed(void)
{
	struct told first = { .results_count = 1 }, second = { .results_count = 1 };

	request("killed");
	struct record_row rows[] = { row("killed") };
	const struct record_batch batch = { "reconciled:test", "i-1", rows, 1 };

	test_sql(
		plain,
		"BEGIN; SELECT FROM reconcile.operations WHERE operation_id = 'killed' FOR UPDATE");
	store_record(db, &batch, told_recorded, &first);
	store_record(db, &batch, told_recorded, &second);
	test_turn(100 * MILLISECOND);
	test_sql(plain, kill_recording);
	test_wait(&second, 1);
	test_sql(plain, "ROLLBACK");
	tap_int(first.err.code, ERR_TRANSIENT, "a connection that dies is transient");
	tap_int(second.err.code, ERR_TRANSIENT, "for those behind it too");
	test_turn(100 * MILLISECOND);
	tap_int(first.times + second.times, 2, "each is told once");
	tap_ok(!db_is_connected(db), "and the connection is known to be gone");
	tap_str(value("SELECT status FROM reconcile.operations WHERE operation_id = 'killed'"),
		"awaiting_confirmation", "nothing was written");
	struct err err = { 0 };

	tap_ok(db_connect_wait(db, &err), "it connects again");
	first = test_record(db, rows, 1);
	tap_int(first.results[0].outcome, RECORD_DONE, "and records");
}

/* What two ways of confirming leave behind, ids and moments aside. */
#define P07_OPERATION                                                                              \
	"SELECT to_jsonb(o) - "                                                                    \
	"'{operation_id,entity_id,created_at,updated_at,closed_at,first_sent_at,"                  \
	"sent_at,checks,evidence_digest}'::text[] || jsonb_build_object('closed', "                \
	"closed_at = updated_at) FROM reconcile.operations o WHERE operation_id = "
#define P07_JOURNAL                                                                                \
	"SELECT jsonb_agg(to_jsonb(j) - "                                                          \
	"'{operation_id,at,actor,rule,evidence,policy,elapsed_ms}'::text[] "                       \
	"|| jsonb_build_object('elapsed', elapsed_ms >= 0) ORDER BY revision) "                    \
	"FROM reconcile.journal j WHERE operation_id = "
#define P07_OUTBOX                                                                                 \
	"SELECT jsonb_agg(to_jsonb(e) - '{id,aggregateid,created_at,payload}'::text[] || "         \
	"jsonb_build_object('payload', payload - '{operation_id,entity_id,at}'::text[]) ORDER BY " \
	"revision) "                                                                               \
	"FROM reconcile.outbox e WHERE aggregateid = "

static void
compare(const char *by_worker, const char *by_reconciler, const char *name)
{
	char *worker = strdup(test_value(plain, by_worker));

	tap_str(test_value(plain, by_reconciler), worker, name);
	tap_ok(strlen(worker) > 20, "and there is something to compare");
	free(worker);
}

static void
test_p07_same_as_worker(void)
{
	request("p07-worker");
	request("p07-daemon");
	struct record_row rows[] = { row("p07-daemon") };

	rows[0].reason = rows[0].journal_reason = rows[0].closed_reason = "validated_answer";
	test_sql(plain, "SELECT reconcile.confirm('p07-worker', 'c9')");
	test_record(db, rows, 1);
	compare(P07_OPERATION "'p07-worker'", P07_OPERATION "'p07-daemon'",
		"P07: same row whether the worker or we confirm");
	compare(P07_JOURNAL "'p07-worker'", P07_JOURNAL "'p07-daemon'", "P07: same history");
	compare(P07_OUTBOX "'p07-worker'", P07_OUTBOX "'p07-daemon'", "P07: same events");
}

static void
test_reopened(void)
{
	request("again");
	struct record_row rows[] = { row("again") };

	test_record(db, rows, 1);
	rows[0].revision = 3;
	rows[0].from = STATUS_CONFIRMED;
	rows[0].to = STATUS_MANUAL_REVIEW;
	rows[0].closed_reason = NULL;
	rows[0].due = true;
	struct told told = test_record(db, rows, 1);

	tap_int(told.results[0].revision, 4, "a refuted confirmation reopens the case");
	tap_str(value("SELECT concat_ws(' ', status, closed_at IS NULL, closed_reason IS NULL, "
		      "remote_id) "
		      "FROM reconcile.operations WHERE operation_id = 'again'"),
		"manual_review t t c9", "it is open again and keeps its remote_id");
}

static void
test_promise_10_one_event(void)
{
	tap_str(value("SELECT count(*) FROM reconcile.outbox o FULL JOIN (SELECT * FROM "
		      "reconcile.journal "
		      "WHERE actor = 'reconciled:test' AND from_status <> to_status) j "
		      "ON (aggregateid, o.revision) = (operation_id, j.revision) "
		      "WHERE aggregateid IS NULL"),
		"0", "promise 10: each change of status has its event");
	tap_str(value("SELECT count(*) FROM reconcile.operations o WHERE revision + 1 <> (SELECT "
		      "count(*) "
		      "FROM reconcile.journal j WHERE j.operation_id = o.operation_id)"),
		"0", "no history has a hole");
}

static void
test_full_batch(void)
{
	static struct record_row rows[500];
	static char ids[500][16];

	test_sql(plain, "SELECT reconcile.request('bulk', 'bulk-' || i, already_sent => true) "
			"FROM generate_series(0, 499) i");
	for (size_t i = 0; i < 500; i++) {
		snprintf(ids[i], sizeof(ids[i]), "bulk-%zu", i);
		rows[i] = test_row(ids[i]);
	}
	struct told told = test_record(db, rows, 500);
	int done = 0;

	for (size_t i = 0; i < 500; i++)
		done += told.results[i].outcome == RECORD_DONE && told.results[i].revision == 1;
	tap_int(done, 500, "a batch of 500 is written at once");
	tap_str(value("SELECT count(DISTINCT updated_at) || ' ' || count(*) FROM "
		      "reconcile.operations "
		      "WHERE operation_type = 'bulk' AND status = 'confirmed'"),
		"1 500", "at one moment");
}

static void
test_life_cycle_is_the_same(void)
{
	struct strbuf sql = { 0 };
	int differ = 0;

	for (enum status from = 0; from < STATUS_COUNT; from++)
		for (enum status to = 0; to < STATUS_COUNT; to++) {
			strbuf_reset(&sql);
			strbuf_printf(&sql, "SELECT reconcile.lifecycle_ok('%s', '%s')",
				      status_name(from), status_name(to));
			if ((*value(strbuf_text(&sql)) == 't') == lifecycle_allows(from, to))
				continue;
			differ++;
			printf("# %s to %s\n", status_name(from), status_name(to));
		}
	tap_int(differ, 0, "database and code have the same life cycle");
	strbuf_finish(&sql);
}

int
main(void)
{
	const char *conninfo = test_database("record");

	plain = test_plain(conninfo);
	db = test_connect(conninfo);
	test_every_statement_prepares();
	test_one_verdict();
	test_results_belong_to_rows();
	test_promise_6_late_verdict();
	test_counters_only();
	test_due_again();
	test_refused();
	test_locked();
	test_killed();
	test_p07_same_as_worker();
	test_reopened();
	test_promise_10_one_event();
	test_full_batch();
	test_life_cycle_is_the_same();
	db_destroy(db);
	PQfinish(plain);
	return tap_done();
}
