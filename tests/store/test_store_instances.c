/* SPDX-License-Identifier: Apache-2.0
 *
 * Instances as the program sees them: heartbeats and what they tell, burials, shares of what is
 * due, notes of what is in flight, suspects, and verdicts that a guard holds or that come too late.
 */
#include "reconciled/core/policy.h"
#include "reconciled/store/instances.h"
#include "store_test.h"

static PGconn *plain;
static struct db *db;

static const char *
value(const char *sql)
{
	return test_value(plain, sql);
}

/* A cluster_view as one line, because it is valid only during the callback. */
struct seen {
	struct told told;
	int64_t beats;
	bool rewound;
	struct strbuf text;
};

static void
add_ids(struct strbuf *text, const char *const *ids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		strbuf_printf(text, " %s", ids[i]);
}

static void
on_beat(void *owner, const struct cluster_view *view, const struct err *err)
{
	struct seen *seen = owner;

	if (view) {
		seen->beats = view->beats;
		seen->rewound = view->rewound;
		strbuf_printf(&seen->text, "live:");
		add_ids(&seen->text, view->live, view->live_count);
		for (size_t i = 0; i < view->types_count; i++) {
			const struct type_view *type = &view->types[i];

			strbuf_printf(&seen->text, "; %s %s%s%s:", type->operation_type,
				      type->digest, type->paused ? " paused" : "",
				      type->guarded ? " guarded" : "");
			add_ids(&seen->text, type->members, type->members_count);
		}
	}
	told_done(&seen->told, err);
}

static struct seen
beat(const char *id, const struct policy *policies, size_t count, int64_t known)
{
	struct seen seen = { 0 };
	const struct beat say = {
		.instance_id = id,
		.name = "n",
		.version = "1",
		.policies = policies,
		.policies_count = count,
		.known_beats = known,
	};

	store_beat(db, &say, on_beat, &seen);
	test_wait(&seen.told, 1);
	return seen;
}

static void
test_beat(void)
{
	struct seen seen = beat("i-2", NULL, 0, 0);

	tap_int(seen.told.err.code, ERR_NONE, "a first beat");
	tap_int(seen.beats, 1, "is counted");
	tap_str(strbuf_text(&seen.text), "live: i-2", "and sees itself, without any type");
	strbuf_finish(&seen.text);
}

static void
test_members(void)
{
	const struct policy now[] = {
		{ .operation_type = "alpha", .digest = "d1" },
		{ .operation_type = "beta", .digest = "d1" },
	};
	const struct policy before[] = { { .operation_type = "alpha", .digest = "d0" } };

	test_sql(plain,
		 "INSERT INTO reconcile.operation_types (operation_type, target, policy, paused) "
		 "VALUES ('alpha', 'crm', 'd1', false), ('beta', 'crm', 'd1', true), "
		 "('gamma', 'crm', 'd1', false);"
		 "INSERT INTO reconcile.guards (kind, name, reason) VALUES ('type', 'gamma', "
		 "'max')");
	struct seen first = beat("i-1", now, 2, 0), old = beat("i-3", before, 1, 0),
		    seen = beat("i-2", now, 1, 1);

	tap_int(seen.beats, 2, "the second beat");
	tap_int(seen.rewound, false, "of a database that lost nothing");
	tap_str(strbuf_text(&seen.text),
		"live: i-1 i-2 i-3; alpha d1: i-1 i-2; beta d1 paused: i-1; gamma d1 guarded:",
		"the living, and members of each type by its policy of now");
	strbuf_finish(&seen.text);
	strbuf_finish(&first.text);
	strbuf_finish(&old.text);
	test_sql(plain, "DELETE FROM reconcile.guards; DELETE FROM reconcile.operation_types");
}

static void
test_leave(void)
{
	struct told told = { 0 };

	test_sql(plain, "UPDATE reconcile.instances SET in_flight = '{a}'");
	store_leave(db, "i-3", told_done, &told);
	test_wait(&told, 1);
	tap_int(told.err.code, ERR_NONE, "an instance leaves");
	struct seen seen = beat("i-2", NULL, 0, 2);

	tap_str(strbuf_text(&seen.text), "live: i-1 i-2", "and is not among the living");
	tap_str(value("SELECT in_flight FROM reconcile.instances WHERE instance_id = 'i-3'"), "{}",
		"with nothing in flight");
	strbuf_finish(&seen.text);
}

static void
test_rewound(void)
{
	struct seen seen = beat("i-2", NULL, 0, 1000);

	tap_int(seen.rewound, true, "a database that counts fewer beats is behind");
	tap_int(seen.beats, 4, "and tells its own number");
	strbuf_finish(&seen.text);
	test_sql(plain, "DELETE FROM reconcile.guards");
}

static void
on_buried(void *owner, int count, const struct err *err)
{
	struct told *told = owner;

	told->count = count;
	told_done(owner, err);
}

static int64_t
bury(const char *id, bool at_start)
{
	struct told told = { 0 };

	store_bury(db, "reconciled:test", id, at_start, on_buried, &told);
	test_wait(&told, 1);
	if (told.err.code != ERR_NONE)
		printf("# %s\n", told.err.text);
	return told.count;
}

static void
test_bury(void)
{
	test_sql(plain,
		 "SELECT reconcile.request('job', id, already_sent => true) "
		 "FROM unnest('{b-1,b-2}'::text[]) id;"
		 "UPDATE reconcile.operations SET due_at = clock_timestamp();"
		 "UPDATE reconcile.instances SET in_flight = '{b-1,b-2}', heartbeat_at = "
		 "clock_timestamp() - interval '11 s' WHERE instance_id = 'i-1';"
		 "UPDATE reconcile.instances SET in_flight = '{}' WHERE instance_id = 'i-2'");
	tap_int(bury("i-2", true), 0, "at the start our own row, with nothing in flight");
	tap_int(bury("i-2", true), -1, "once");
	tap_int(bury("i-2", false), 2, "then who is dead");
	tap_int(bury("i-2", false), -1, "until nobody is");
	tap_str(value("SELECT string_agg(suspect::text, ' ') FROM reconcile.operations"), "1 1",
		"what was in flight is under suspicion");
	test_sql(plain,
		 "BEGIN; UPDATE reconcile.instances SET stopped_at = NULL, in_flight = '{b-1}', "
		 "heartbeat_at = clock_timestamp() - interval '1 h' WHERE instance_id = 'i-1';"
		 "UPDATE reconcile.operations SET due_at = clock_timestamp(); COMMIT;"
		 "BEGIN; SELECT FROM reconcile.operations WHERE operation_id = 'b-1' FOR UPDATE");
	struct told told = { 0 };

	store_bury(db, "reconciled:test", "i-2", false, on_buried, &told);
	test_wait(&told, 1);
	tap_int(told.err.code, ERR_BUSY, "a locked operation is waited for half a second");
	test_sql(plain, "ROLLBACK");
	tap_int(bury("i-2", false), 1, "later it is taken");
}

static struct due_rows *
fetch(const struct due_request *request)
{
	struct told told = { 0 };

	store_fetch_due(db, request, told_due, &told);
	test_wait(&told, 1);
	if (!told.rows)
		printf("# %s\n", told.err.text);
	return told.rows;
}

/* Pages of 100 of each of three shares: together everything, once each. */
static void
test_shares(void)
{
	struct arena *arena = arena_create();
	int64_t seen = 0, least = INT64_MAX;

	test_sql(plain, "SELECT count(reconcile.request('shared', 'order-' || i, already_sent => "
			"true)) FROM generate_series(1, 1200) i;"
			"UPDATE reconcile.operations SET due_at = '2020-01-01Z', suspect = 0");
	test_sql(plain, "CREATE TEMP TABLE taken (operation_id text PRIMARY KEY)");
	for (int share = 0; share < 3; share++) {
		struct due_request request = {
			.operation_type = "shared",
			.share_index = share,
			.share_count = 3,
			.until_us = TIME_NONE,
			.after_due_us = TIME_NONE,
			.limit = 100,
		};
		struct operation last = { 0 };
		int64_t mine = 0;
		size_t count;

		do {
			struct due_rows *rows = fetch(&request);

			count = due_rows_count(rows);
			for (size_t i = 0; i < count; i++) {
				due_rows_decode(rows, i, arena, &last);
				test_sql(plain, test_format("INSERT INTO taken VALUES ('%s')",
							    last.operation_id));
			}
			due_rows_destroy(rows);
			request.after_due_us = last.due_at_us;
			request.after_id = last.operation_id;
			mine += (int64_t)count;
		} while (count == 100);
		seen += mine;
		least = mine < least ? mine : least;
	}
	tap_int(seen, 1200, "three shares are everything, and nothing twice");
	tap_ok(least > 330, "and even: the smallest is %lld", (long long)least);
	arena_destroy(arena);
}

static void
test_note(void)
{
	static const char *const held[] = { "h-1", "h-2" };
	struct due_request request = {
		.operation_type = "noted",
		.until_us = TIME_NONE,
		.after_due_us = TIME_NONE,
		.note_instance_id = "i-2",
		.in_flight = held,
		.in_flight_count = 2,
		.limit = 2,
	};

	test_sql(plain, "SELECT reconcile.request('noted', id, already_sent => true) "
			"FROM unnest('{n-1,n-2,n-3}'::text[]) id;"
			"UPDATE reconcile.operations SET due_at = '2020-01-01Z' "
			"WHERE operation_type = 'noted'");
	due_rows_destroy(fetch(&request));
	tap_str(value("SELECT in_flight FROM reconcile.instances WHERE instance_id = 'i-2'"),
		"{h-1,h-2,n-1,n-2}", "what is held and what is selected is noted");
	request.operation_type = "nothing";
	due_rows_destroy(fetch(&request));
	tap_str(value("SELECT in_flight FROM reconcile.instances WHERE instance_id = 'i-2'"),
		"{h-1,h-2}", "also when nothing is due");
	request.note_instance_id = NULL;
	request.operation_type = "noted";
	due_rows_destroy(fetch(&request));
	tap_str(value("SELECT in_flight FROM reconcile.instances WHERE instance_id = 'i-2'"),
		"{h-1,h-2}", "without an instance nothing is noted");
}

static const char *
suspect(const int *index, const int *parts)
{
	static const char *const types[] = { "noted", "shared" };
	const struct suspect_request request = {
		.types = types,
		.types_count = 2,
		.share_index = index,
		.share_count = parts,
		.note_instance_id = "i-2",
	};
	struct arena *arena = arena_create();
	struct operation op = { .operation_id = "(none)" };
	struct told told = { 0 };
	const char *id;

	store_fetch_suspect(db, &request, told_due, &told);
	test_wait(&told, 1);
	if (due_rows_count(told.rows) > 0)
		due_rows_decode(told.rows, 0, arena, &op);
	id = test_format("%zu %s %d", due_rows_count(told.rows), op.operation_id, op.suspect);
	due_rows_destroy(told.rows);
	arena_destroy(arena);
	return id;
}

static void
test_suspects(void)
{
	static const int first[] = { 0, 0 }, whole[] = { 1, 1 }, none[] = { 0, 0 };
	struct due_request request = {
		.operation_type = "noted",
		.leave_suspects = true,
		.until_us = TIME_NONE,
		.after_due_us = TIME_NONE,
		.limit = 10,
	};
	struct due_rows *rows;

	tap_str(suspect(first, whole), "0 (none) 0", "nobody is under suspicion");
	test_sql(plain, "UPDATE reconcile.operations SET suspect = 2 WHERE operation_id = 'n-2';"
			"UPDATE reconcile.operations SET suspect = 1, due_at = '2020-01-02Z' "
			"WHERE operation_id = 'order-7';"
			"UPDATE reconcile.operations SET suspect = 1, due_at = clock_timestamp() + "
			"interval '1 h' WHERE operation_id = 'order-8'");
	rows = fetch(&request);
	tap_int((long long)due_rows_count(rows), 2, "a page without suspects");
	due_rows_destroy(rows);
	tap_str(suspect(first, whole), "1 n-2 2", "one at a time, the oldest first");
	tap_str(value("SELECT in_flight FROM reconcile.instances WHERE instance_id = 'i-2'"),
		"{n-2}", "it alone is noted");
	tap_str(suspect(first, none), "0 (none) 0", "no part, no suspects");
	test_sql(plain, "UPDATE reconcile.operations SET suspect = 0 WHERE operation_id = 'n-2'");
	tap_str(suspect(first, whole), "1 order-7 1", "then the next type");
	int hits = 0;

	for (int part = 0; part < 3; part++) {
		int index[] = { 0, part }, parts[] = { 1, 3 };

		hits += strncmp(suspect(index, parts), "1 order-7", 9) == 0;
	}
	tap_int(hits, 1, "of three parts one has it");
	test_sql(plain, "INSERT INTO reconcile.operation_types (operation_type, target, policy, "
			"paused) VALUES ('shared', 'crm', 'd', true)");
	tap_str(suspect(first, whole), "0 (none) 0", "none of a paused type");
}

static void
test_outcomes(void)
{
	struct record_row rows[] = { test_row("v-4"), test_row("v-3"), test_row("v-2"),
				     test_row("v-1"), test_row("v-0") };

	test_sql(plain,
		 "SELECT reconcile.request('sync_customer', 'v-' || i, already_sent => true) "
		 "FROM generate_series(0, 4) i;"
		 "INSERT INTO reconcile.operation_types (operation_type, target, policy, "
		 "guard_max) VALUES ('sync_customer', 'crm', 'aa', 1)");
	for (int i = 0; i < 5; i++)
		rows[i].due_was_us = TIME_NONE;
	for (int i = 1; i < 5; i++) {
		rows[i].to = STATUS_MANUAL_REVIEW;
		rows[i].closed_reason = NULL;
		rows[i].due = true;
		rows[i].guarded = true;
		rows[i].class = CLASS_AMBIGUOUS;
		rows[i].tally_class = CLASS_AMBIGUOUS;
		rows[i].tally_action = ACTION_REVIEW;
	}
	rows[2].carry_out_until_us = 1577836800000000; /* the year 2020 */
	rows[4].policy_digest = "another";
	struct told told = test_record(db, rows, 5);

	tap_int(told.err.code, ERR_NONE, "a batch with everything in it");
	tap_int(told.results[0].outcome, RECORD_DONE, "a confirmation is written");
	tap_int(told.results[0].revision, 1, "at the next revision");
	tap_int(told.results[1].outcome, RECORD_HELD, "an action beyond the guard is held");
	tap_int(told.results[2].outcome, RECORD_LATE, "an answer can be too late");
	tap_int(told.results[3].outcome, RECORD_DONE, "the first action passes, by id");
	tap_int(told.results[4].outcome, RECORD_STALE, "another policy does not count");
}

int
main(void)
{
	const char *conninfo = test_database("instances");

	plain = test_plain(conninfo);
	db = test_connect(conninfo);
	test_beat();
	test_members();
	test_leave();
	test_rewound();
	test_bury();
	test_shares();
	test_note();
	test_suspects();
	test_outcomes();
	db_destroy(db);
	PQfinish(plain);
	return tap_done();
}
