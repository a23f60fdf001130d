/* SPDX-License-Identifier: Apache-2.0
 *
 * Selecting due operations: complete, in order, from the index alone; publishing policies.
 */
#include <stdlib.h>

#include "reconciled/core/policy.h"
#include "reconciled/core/value.h"
#include "statement.h"
#include "store_test.h"

extern const struct sql_statement sql_count_due, sql_fetch_due, sql_list_open;

static PGconn *plain;
static struct db *db;
static struct arena *arena;

static struct operation
decode(const struct due_rows *rows, size_t i)
{
	struct operation op;

	due_rows_decode(rows, i, arena, &op);
	return op;
}

static void
test_nothing_due(void)
{
	struct due_rows *rows = test_fetch(db, "none", 10);
	int64_t apart_us = due_rows_now_us(rows) - clock_wall_us();

	tap_int((long long)due_rows_count(rows), 0, "nothing is due");
	tap_ok(apart_us < 5 * SECOND && apart_us > -5 * SECOND,
	       "the clock is there without rows too");
	due_rows_destroy(rows);
}

static void
test_columns(void)
{
	test_sql(plain,
		 "SET session_replication_role = replica;"
		 "INSERT INTO reconcile.operations (operation_id, operation_type, scope, "
		 "entity_type,"
		 " entity_id, version, fingerprint, idempotency_key, business_key, correlation_id,"
		 " expected, compensates, created_at, entity_state, remote_id, superseded_by,"
		 " first_sent_at, disputed, attempts, requeues, sent_at, attempt_until, status, "
		 "class,"
		 " reason, earning, evidence_digest, recommended_action, absent_since, absences,"
		 " inconclusive, checks, due_at, revision) VALUES ('full', 'full', 's', "
		 "'customer', 'e',"
		 " '7', NULL, 'i', 'b', 'c', '{\"n\": 12345678901234567890, \"t\": \"\\u00e9\"}', "
		 "'p',"
		 " 'epoch'::timestamptz + interval '1 s', 'cancelled', 'r', 'x', '2000-01-01 "
		 "00:00:00Z',"
		 " true, 3, 2, '2023-11-14 22:13:20.123456Z', '1999-12-31 23:59:59Z', "
		 "'manual_review',"
		 " 'divergent', 'older', 'waiting', '\\x00ff10', 'requeue', '2000-01-01 "
		 "00:00:01Z', 4, 5,"
		 " 6, '2020-01-01 00:00:00Z', 9);"
		 "RESET session_replication_role");
	struct due_rows *rows = test_fetch(db, "full", 10);
	struct operation op = decode(rows, 0);

	tap_int((long long)due_rows_count(rows), 1, "one is due");
	due_rows_destroy(rows); /* what was decoded is a copy */
	tap_str(op.operation_id, "full", "operation_id");
	tap_str(op.scope, "s", "scope");
	tap_str(op.entity_type, "customer", "entity_type");
	tap_str(op.entity_id, "e", "entity_id");
	tap_str(op.entity_state, "cancelled", "entity_state");
	tap_str(op.version, "7", "version");
	tap_str(op.idempotency_key, "i", "idempotency_key");
	tap_str(op.business_key, "b", "business_key");
	tap_str(op.remote_id, "r", "remote_id");
	tap_str(op.correlation_id, "c", "correlation_id");
	tap_str(op.superseded_by, "x", "superseded_by");
	tap_str(op.compensates, "p", "compensates");
	tap_str(value_member(op.expected, "n", 1)->text, "12345678901234567890",
		"expected is exact");
	tap_str(value_member(op.expected, "t", 1)->text, "\xc3\xa9", "and decoded");
	tap_int(op.status, STATUS_MANUAL_REVIEW, "status");
	tap_int(op.revision, 9, "revision");
	tap_int(op.attempts, 3, "attempts");
	tap_int(op.requeues, 2, "requeues");
	tap_int(op.checks, 6, "checks");
	tap_int(op.created_at_us, 1000000, "created_at");
	tap_int(op.first_sent_at_us, 946684800000000, "first_sent_at");
	tap_int(op.sent_at_us, 1700000000123456, "sent_at");
	tap_int(op.attempt_until_us, 946684799000000, "attempt_until, before the server's epoch");
	tap_int(op.due_at_us, 1577836800000000, "due_at");
	tap_int(op.earned.class, CLASS_WAITING, "earning");
	tap_int(op.earned.looks, 4, "absences");
	tap_int(op.earned.since_us, 946684801000000, "absent_since");
	tap_int(op.earned.inconclusive, 5, "inconclusive");
	tap_int(op.disputed, true, "disputed");
	tap_int(op.class, CLASS_DIVERGENT, "class");
	tap_str(op.reason, "older", "reason");
	tap_str(op.recommended_action, "requeue", "recommended_action");
	tap_str(op.evidence_digest, "00ff10", "evidence_digest");
	tap_int(op.postponed, 0, "postponed");
	tap_int(op.suspect, 0, "suspect");
	tap_int(op.look_first, false, "look_first");
}

static void
test_empty_columns(void)
{
	test_sql(plain, "SELECT reconcile.request('empty', 'empty', already_sent => true);"
			"UPDATE reconcile.operations SET due_at = '2020-01-01', sent_at = NULL, "
			"attempts = 0"
			" WHERE operation_id = 'empty'");
	struct due_rows *rows = test_fetch(db, "empty", 10);
	struct operation op = decode(rows, 0);

	tap_str(op.version, "", "a missing text is empty");
	tap_int(op.sent_at_us == TIME_NONE, true, "a missing time is none");
	tap_int(op.class, CLASS_NONE, "no class");
	tap_int(op.earned.class, CLASS_NONE, "nothing is earned");
	tap_str(op.evidence_digest, "", "no digest");
	tap_int(op.expected->count, 0, "expected is an empty object");
	due_rows_destroy(rows);
}

/* 1,000 due in groups of seven at the same moment, as many in the future, pages of 64. */
static void
test_pages(void)
{
	struct due_request request = { .operation_type = "pages",
				       .until_us = TIME_NONE,
				       .after_due_us = TIME_NONE,
				       .limit = 64 };
	struct operation last = { 0 };
	int seen = 0, disordered = 0, pages = 0;
	size_t count;

	test_sql(
		plain,
		"SELECT reconcile.request('pages', 'p-' || i, already_sent => true)"
		" FROM generate_series(1, 2000) i;"
		"UPDATE reconcile.operations SET due_at = CASE WHEN substr(operation_id, 3)::int "
		"<= 1000"
		" THEN timestamptz '2020-01-01' + substr(operation_id, 3)::int / 7 * interval '1 s'"
		" ELSE clock_timestamp() + interval '1 h' END WHERE operation_type = 'pages'");
	do {
		struct told told = { 0 };

		store_fetch_due(db, &request, told_due, &told);
		test_wait(&told, 1);
		count = due_rows_count(told.rows);
		for (size_t i = 0; i < count; i++) {
			struct operation op = decode(told.rows, i);

			if (seen++ > 0 && (op.due_at_us < last.due_at_us ||
					   (op.due_at_us == last.due_at_us &&
					    strcmp(op.operation_id, last.operation_id) <= 0)))
				disordered++;
			last = op;
		}
		due_rows_destroy(told.rows);
		request.after_due_us = last.due_at_us;
		request.after_id = last.operation_id;
		pages++;
	} while (count == 64);
	tap_int(seen, 1000, "pages are complete and without repetition");
	tap_int(disordered, 0, "in order of due_at and id");
	tap_int(pages, 16, "each is full but the last");
	request = (struct due_request){
		.operation_type = "pages",
		.until_us = 1577836800000000 - 1,
		.after_due_us = TIME_NONE,
		.limit = 10,
	};
	struct told told = { 0 };

	store_fetch_due(db, &request, told_due, &told);
	test_wait(&told, 1);
	tap_int((long long)due_rows_count(told.rows), 0, "nothing was due before the first");
	due_rows_destroy(told.rows);
}

static void
test_ids(void)
{
	static const char *const ids[] = { "p-3", "nobody", "p-2000", "full" };
	struct told told = { 0 };

	store_fetch_ids(db, ids, 4, told_due, &told);
	test_wait(&told, 1);
	tap_int((long long)due_rows_count(told.rows), 3, "known ids, due or not");
	tap_str(decode(told.rows, 0).operation_id, "full", "in order of id");
	tap_str(decode(told.rows, 2).operation_id, "p-3", "to the last");
	tap_int(due_rows_is_paused(told.rows, 0), false, "not paused");
	due_rows_destroy(told.rows);
	told.rows = NULL;
	store_fetch_ids(db, &ids[1], 1, told_due, &told);
	test_wait(&told, 2);
	tap_int((long long)due_rows_count(told.rows), 0, "unknown ids have no row");
	due_rows_destroy(told.rows);
}

static int64_t
count_due(const char *const *types, size_t count, int64_t limit)
{
	struct told told = { 0 };

	store_count_due(db, types, count, limit, told_count, &told);
	test_wait(&told, 1);
	return told.count;
}

static void
test_counts(void)
{
	static const char *const known[] = { "pages", "empty" }, *const all[] = { "zz", "full",
										  "pages",
										  "empty" };
	struct told told = { 0 };

	tap_int(count_due(known, 2, 5000), 1001, "due of two types");
	tap_int(count_due(known, 2, 10), 10, "counted up to the limit");
	store_count_without_policy(db, known, 2, told_count, &told);
	test_wait(&told, 1);
	tap_int(told.count, 1, "due of a type without policy");
	store_count_without_policy(db, all, 4, told_count, &told);
	test_wait(&told, 2);
	tap_int(told.count, 0, "none when all are known");
	store_count_without_policy(db, NULL, 0, told_count, &told);
	test_wait(&told, 3);
	tap_int(told.count, 1002, "all when none is");
}

static struct policy
policy(const char *type)
{
	return (struct policy){
		.operation_type = type,
		.target = "crm",
		.text = "target: crm\n",
		.digest = "d1",
		.stakes = STAKES_MONEY,
		.latency_window_us = 90 * SECOND,
		.deadline_us = DAY,
		.pickup_window_us = HOUR,
		.attempts_max = 4,
		.attempts = { .first_us = 30 * SECOND, .factor = "1.5" },
		.requeue_max = 2,
		.approvals = 2,
		.version_order_known = true,
		.version_order = VERSION_DOTTED,
		.guard = { 15 * MINUTE, 30, 25, 12 },
	};
}

static void
publish(const struct policy *policies, size_t count)
{
	struct told told = { 0 };

	store_publish_policies(db, policies, count, told_done, &told);
	test_wait(&told, 1);
	if (!tap_int(told.err.code, ERR_NONE, "policies are published"))
		printf("# %s\n", told.err.text);
}

static void
test_publish(void)
{
	struct policy policies[] = { policy("sync_customer"), policy("pages") };

	publish(policies, 2);
	tap_str(test_value(
			plain,
			"SELECT concat_ws(' ', target, policy, mode, stakes, approvals, "
			"latency_window, "
			"deadline, pickup_window, attempts_max, attempts_delay, attempts_factor, "
			"requeue_max, coalesce(key_valid::text, '-'), version_order, paused, "
			"guard_window, guard_max, trim_scale(guard_share), guard_sample) "
			"FROM reconcile.operation_types WHERE operation_type = 'sync_customer'"),
		"crm d1 observe money 2 00:01:30 24:00:00 01:00:00 4 00:00:30 1.5 2 - dotted f "
		"00:15:00 30 0.25 12",
		"what SQL must know of a policy");
	tap_str(test_value(plain, "SELECT text FROM reconcile.policies WHERE digest = 'd1'"),
		"target: crm\n", "its text is kept");
	test_sql(plain, "UPDATE reconcile.operation_types SET paused = true, pause_reason = 'x'");
	policies[0].enforce = true;
	strcpy(policies[0].digest, "d2");
	publish(policies, 1);
	tap_str(test_value(plain, "SELECT string_agg(concat_ws(' ', operation_type, mode, policy, "
				  "paused), ', ' "
				  "ORDER BY 1) FROM reconcile.operation_types"),
		"pages observe d1 t, sync_customer enforce d2 t",
		"another version replaces it, a pause stays, other types stay");
	tap_str(test_value(plain, "SELECT count(*) FROM reconcile.policies"), "2",
		"old texts stay");
}

static void
test_paused(void)
{
	static const char *const ids[] = { "p-1" }, *const types[] = { "pages" };
	struct due_rows *rows = test_fetch(db, "pages", 10);
	struct told told = { 0 };

	tap_int((long long)due_rows_count(rows), 0, "a paused type is left alone");
	due_rows_destroy(rows);
	tap_int(count_due(types, 1, 10), 0, "and not counted");
	store_fetch_ids(db, ids, 1, told_due, &told);
	test_wait(&told, 1);
	tap_int(due_rows_is_paused(told.rows, 0), true, "by id it is said to be paused");
	due_rows_destroy(told.rows);
	test_sql(plain, "UPDATE reconcile.operation_types SET paused = false");
}

static void
test_woken_when_enforced(void)
{
	struct policy enforced = policy("resting");

	test_sql(plain,
		 "SELECT reconcile.request('resting', id, already_sent => true) FROM "
		 "unnest('{w1,w2}'::text[]) id;"
		 "SELECT reconcile.confirm('w2');"
		 "UPDATE reconcile.operations SET due_at = NULL WHERE operation_type = 'resting'");
	publish(&enforced, 1);
	tap_str(test_value(plain, "SELECT count(due_at) FROM reconcile.operations WHERE "
				  "operation_type = 'resting'"),
		"0", "while it is observed they rest");
	enforced.enforce = true;
	publish(&enforced, 1);
	tap_str(test_value(plain,
			   "SELECT string_agg(operation_id, ' ') FROM reconcile.operations "
			   "WHERE operation_type = 'resting' AND due_at <= clock_timestamp()"),
		"w1", "enforced, the open one is due");
	tap_str(test_value(plain,
			   "SELECT revision FROM reconcile.operations WHERE operation_id = 'w1'"),
		"0", "at the same revision");
}

static void
test_window_moves(void)
{
	struct policy moved = policy("moved");

	publish(&moved, 1);
	test_sql(plain,
		 "SELECT reconcile.request('moved', id) FROM unnest('{m1,m2,m3}'::text[]) id;"
		 "UPDATE reconcile.operations SET checks = 1 WHERE operation_id = 'm2';"
		 "UPDATE reconcile.operations SET due_at = '2020-01-01' WHERE operation_id = 'm3'");
	moved.latency_window_us = HOUR;
	publish(&moved, 1);
	tap_str(test_value(plain,
			   "SELECT string_agg(coalesce((due_at - created_at)::text, '-'), ' ' "
			   "ORDER BY operation_id) FROM reconcile.operations "
			   "WHERE operation_id IN ('m1', 'm2')"),
		"01:00:00 00:01:30", "a new window moves what nobody looked at yet");
	tap_str(test_value(plain, "SELECT due_at = '2020-01-01' FROM reconcile.operations WHERE "
				  "operation_id = 'm3'"),
		"t", "and no due time that came from elsewhere");
}

static void
test_first_window_moves(void)
{
	struct policy first = policy("first");

	test_sql(plain, "SELECT reconcile.request('first', 'f1')");
	publish(&first, 1);
	tap_str(test_value(plain, "SELECT due_at - created_at FROM reconcile.operations "
				  "WHERE operation_id = 'f1'"),
		"00:01:30", "the first policy of a type moves them as well");
}

/* Pages touched by a statement, its plan in JSON read with the server's own functions. */
static long
pages_of(const struct sql_statement *statement, const char *arguments, char *ret_plan, size_t size)
{
	struct strbuf sql = { 0 };
	long pages;

	test_sql(plain, "SET plan_cache_mode = force_custom_plan");
	strbuf_printf(&sql, "PREPARE measured AS %s", statement->text);
	test_sql(plain, strbuf_text(&sql));
	strbuf_reset(&sql);
	strbuf_printf(&sql, "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE measured(%s)",
		      arguments);
	test_value(plain, strbuf_text(&sql)); /* the catalogues are read once */
	snprintf(ret_plan, size, "%s", test_value(plain, strbuf_text(&sql)));
	strbuf_reset(&sql);
	strbuf_printf(&sql,
		      "SELECT (p->0->'Plan'->>'Shared Hit Blocks')::int + "
		      "(p->0->'Plan'->>'Shared Read Blocks')::int FROM (SELECT "
		      "$plan$%s$plan$::json) k (p)",
		      ret_plan);
	pages = atol(test_value(plain, strbuf_text(&sql)));
	test_sql(plain, "DEALLOCATE measured");
	strbuf_finish(&sql);
	return pages;
}

/*
 * 100,000 closed, 20,000 due tomorrow, 50 due. 50 rows lie on at most 50 pages; two descents of an
 * index, its leaves and the small table of types are less than 20.
 */
static void
test_q02_only_due_rows(void)
{
	static char plan[65536];
	long pages;

	test_sql(plain,
		 "SET session_replication_role = replica;"
		 "INSERT INTO reconcile.operations (operation_id, operation_type, status, "
		 "closed_at, due_at)"
		 " SELECT 'q-' || i, 'q02', CASE WHEN i <= 100000 THEN 'confirmed' ELSE 'pending' "
		 "END,"
		 " CASE WHEN i <= 100000 THEN now() END, CASE WHEN i <= 100000 THEN NULL"
		 " WHEN i <= 120000 THEN now() + interval '1 day' ELSE now() - interval '1 min' END"
		 " FROM generate_series(1, 120050) i;"
		 "RESET session_replication_role");
	test_sql(plain, "VACUUM ANALYZE reconcile.operations");
	pages = pages_of(&sql_fetch_due, "'q02', NULL, '-infinity', '', 1000, 1, 0, false, NULL, '{}'", plan, sizeof(plan));
	tap_ok(pages <= 70, "Q02: a fetch of 50 touches %ld pages", pages);
	tap_ok(strstr(plan, "operations_due") != NULL, "by the index of what is due");
	tap_ok(strstr(plan, "\"Actual Rows\": 100000") == NULL &&
		       strstr(plan, "\"Actual Rows\": 20000") == NULL,
	       "neither closed nor future rows are read");
	pages = pages_of(&sql_fetch_due, "'q02', NULL, '-infinity', '', 10, 3, 1, true, NULL, '{}'",
			 plan, sizeof(plan));
	tap_ok(pages <= 70, "a share of them touches %ld pages", pages);
	tap_ok(strstr(plan, "operations_due") != NULL && strstr(plan, "Bitmap") == NULL,
	       "in the order of the index, up to the limit");
	pages = pages_of(&sql_count_due, "'{q02}', 1000", plan, sizeof(plan));
	tap_ok(pages <= 70, "counting them touches %ld pages", pages);
	pages = pages_of(&sql_list_open, "'q02', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 50",
			 plan, sizeof(plan));
	tap_ok(strstr(plan, "operations_pkey") == NULL && strstr(plan, "\"Seq Scan\"") == NULL,
	       "a list of open ones goes by an index of open ones, %ld pages", pages);
}

int
main(void)
{
	const char *conninfo = test_database("work");

	plain = test_plain(conninfo);
	db = test_connect(conninfo);
	arena = arena_create();
	test_nothing_due();
	test_columns();
	test_empty_columns();
	test_pages();
	test_ids();
	test_counts();
	test_publish();
	test_paused();
	test_woken_when_enforced();
	test_window_moves();
	test_first_window_moves();
	test_q02_only_due_rows();
	arena_destroy(arena);
	db_destroy(db);
	PQfinish(plain);
	return tap_done();
}
