/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers for the metrics, out of rows whose sums are known.
 */
#include <stdlib.h>

#include "reconciled/store/measure.h"
#include "store_test.h"

static PGconn *plain;
static struct db *db;

struct seen {
	struct told told;
	struct strbuf text;
};

/* "name{type,label} value" a line, rounded down; the order is the statement's. */
static void
on_measured(void *owner, const struct measured *values, size_t count, const struct err *err)
{
	struct seen *seen = owner;

	for (size_t i = 0; i < count; i++)
		strbuf_printf(&seen->text, "%s{%s,%s} %lld\n", values[i].name,
			      values[i].type ? values[i].type : "",
			      values[i].label_value ? values[i].label_value : "",
			      (long long)values[i].value); /* without the fraction */
	told_done(&seen->told, err);
}

static struct seen
measure(const char *const *types, size_t count)
{
	struct seen seen = { 0 };

	store_measure(db, types, count, on_measured, &seen);
	test_wait(&seen.told, 1);
	return seen;
}

/* The number of one series, -1 when there is none, -2 when there are several. */
static long
number(const struct seen *seen, const char *series)
{
	const char *text = strbuf_text(&seen->text);
	const char *key = test_format("%s ", series), *found = strstr(text, key);

	if (!found)
		return -1;
	return strstr(found + 1, key) ? -2 : strtol(found + strlen(key), NULL, 10);
}

static void
test_nothing(void)
{
	static const char *const types[] = { "pay" };
	static const char *const series[] = {
		"reconciled_operations{pay,pending}",
		"reconciled_operations{pay,processing}",
		"reconciled_operations{pay,awaiting_confirmation}",
		"reconciled_operations{pay,retry_scheduled}",
		"reconciled_operations{pay,manual_review}",
		"reconciled_operations{pay,compensating}",
		"reconciled_oldest_open_age_seconds{pay,pending}",
		"reconciled_oldest_due_age_seconds{pay,}",
		"reconciled_overdue{pay,}",
		"reconciled_not_picked_up{pay,}",
		"reconciled_worker_retries{pay,worker}",
		"reconciled_worker_retries{pay,requeue}",
		"reconciled_outbox_oldest_age_seconds{,}",
		"reconciled_outbox_parked{,}",
		"reconciled_idempotency_conflicts_total{,}",
		"reconciled_idempotency_pending{,}",
		"reconciled_idempotency_pending_oldest_seconds{,}",
		"reconciled_operations_without_policy{,}",
	};
	struct seen seen = measure(types, 1);

	tap_int(seen.told.err.code, ERR_NONE, "an empty database is measured");
	if (seen.told.err.code != ERR_NONE)
		printf("# %s\n", seen.told.err.text);
	for (size_t i = 0; i < ARRAY_LEN(series); i++)
		tap_ok(number(&seen, series[i]) == 0, "%s is zero", series[i]);
	strbuf_finish(&seen.text);
	seen = measure(NULL, 0);
	tap_int(number(&seen, "reconciled_outbox_parked{,}"), 0, "also without any type");
	strbuf_finish(&seen.text);
}

static void
arrange(void)
{
	test_sql(plain,
		 "SET session_replication_role = replica;"
		 "INSERT INTO reconcile.operation_types (operation_type, target, policy, "
		 "pickup_window) VALUES ('pay', 'bank', 'd', '10 min');"
		 "INSERT INTO reconcile.operations (operation_id, operation_type, status, "
		 "created_at, "
		 "due_at, deadline_at, closed_at, attempts, requeues, look_first) "
		 "SELECT id, type, status, now() - created * interval '1 s', "
		 "now() - due * interval '1 s', now() - deadline * interval '1 s', "
		 "CASE WHEN status = 'confirmed' THEN now() END, attempts, requeues, look FROM "
		 "(VALUES "
		 "('a', 'pay', 'pending', 700, -60, NULL, 0, 0, false),"
		 "('b', 'pay', 'pending', 500, -60, NULL, 0, 0, false),"
		 "('c', 'pay', 'pending', 900, -60, NULL, 0, 0, true),"
		 "('d', 'pay', 'awaiting_confirmation', 5000, 300, 60, 4, 1, false),"
		 "('e', 'pay', 'awaiting_confirmation', 4000, 100, -60, 3, 0, false),"
		 "('f', 'pay', 'confirmed', 9000, 400, 60, 9, 9, false),"
		 "('g', 'mail', 'pending', 20, 10, NULL, 0, 0, false),"
		 "('h', 'zzz', 'pending', 20, -10, NULL, 0, 0, false)"
		 ") k (id, type, status, created, due, deadline, attempts, requeues, look);"
		 "INSERT INTO reconcile.outbox (aggregateid, revision, type, payload, deliver_to, "
		 "created_at, delivered_at, parked_at) VALUES "
		 "('a', 0, 't', '{}', NULL, now() - interval '1 day', NULL, NULL),"
		 "('b', 0, 't', '{}', 'x', now() - interval '1 day', now(), NULL),"
		 "('c', 0, 't', '{}', 'x', now() - interval '2 days', NULL, now()),"
		 "('d', 0, 't', '{}', 'x', now() - interval '90 s', NULL, NULL);"
		 "INSERT INTO reconcile.idempotency_records (scope, operation, key, status, "
		 "conflicts, created_at) VALUES ('', 'o', '1', 'pending', 2, now() - interval '50 "
		 "s'),"
		 "('', 'o', '2', 'pending', 0, now()), ('', 'o', '3', 'processing', 0, now()), "
		 "('', 'o', '4', 'completed', 3, now() - interval '1 day');"
		 "RESET session_replication_role");
}

static void
test_sums(void)
{
	static const char *const types[] = { "pay", "idle" };
	static const struct {
		const char *series;
		long least, most;
	} expected[] = {
		{ "reconciled_operations{pay,pending}", 3, 3 },
		{ "reconciled_operations{pay,awaiting_confirmation}", 2, 2 },
		{ "reconciled_operations{pay,manual_review}", 0, 0 },
		{ "reconciled_operations{pay,confirmed}", -1, -1 },
		{ "reconciled_operations{idle,pending}", 0, 0 },
		{ "reconciled_operations{mail,pending}", -1, -1 },
		{ "reconciled_oldest_open_age_seconds{pay,pending}", 900, 960 },
		{ "reconciled_oldest_open_age_seconds{pay,awaiting_confirmation}", 5000, 5060 },
		{ "reconciled_oldest_due_age_seconds{pay,}", 400, 460 },
		{ "reconciled_oldest_due_age_seconds{idle,}", 0, 0 },
		{ "reconciled_overdue{pay,}", 1, 1 },
		{ "reconciled_not_picked_up{pay,}", 1, 1 },
		{ "reconciled_worker_retries{pay,worker}", 4, 4 },
		{ "reconciled_worker_retries{pay,requeue}", 1, 1 },
		{ "reconciled_outbox_oldest_age_seconds{,}", 90, 150 },
		{ "reconciled_outbox_parked{,}", 1, 1 },
		{ "reconciled_idempotency_conflicts_total{,}", 5, 5 },
		{ "reconciled_idempotency_pending{,}", 2, 2 },
		{ "reconciled_idempotency_pending_oldest_seconds{,}", 50, 110 },
		{ "reconciled_operations_without_policy{,}", 1, 1 },
	};
	struct seen seen = measure(types, 2);

	for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
		long got = number(&seen, expected[i].series);

		tap_ok(got >= expected[i].least && got <= expected[i].most, "%s is %ld",
		       expected[i].series, got);
	}
	strbuf_finish(&seen.text);
}

int
main(void)
{
	const char *conninfo = test_database("measure");

	plain = test_plain(conninfo);
	db = test_connect(conninfo);
	test_nothing();
	arrange();
	test_sums();
	db_destroy(db);
	PQfinish(plain);
	return tap_done();
}
