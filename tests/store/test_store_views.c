/* SPDX-License-Identifier: Apache-2.0
 *
 * What people are shown: columns under their own names, filters, pages, closed ones only on demand.
 */
#include "reconciled/store/views.h"
#include "store_test.h"

static PGconn *plain;
static struct db *db;

static struct view *
list(const struct list_filter *filter)
{
	struct view *view = NULL;
	struct err err = { 0 };

	if (!view_operations(db, filter, &view, &err))
		printf("Bail out! %s\n", err.text);
	return view;
}

/* Ids of a list, with blanks. */
static const char *
ids(const struct list_filter *filter)
{
	static struct strbuf text;
	struct view *view = list(filter);

	strbuf_reset(&text);
	for (size_t i = 0; i < view_rows(view); i++)
		strbuf_printf(&text, "%s%s", i ? " " : "", view_get(view, i, "operation_id"));
	view_destroy(view);
	return strbuf_text(&text);
}

static void
arrange(void)
{
	test_sql(plain,
		 "SELECT reconcile.request(t, id, entity_type => 'customer', entity_id => e, scope "
		 "=> s,"
		 " version => '7', expected => '{\"version\": 7}', already_sent => true)"
		 " FROM (VALUES ('sync', 'a-1', 'c1', ''), ('sync', 'a-2', 'c2', 't1'),"
		 " ('sync', 'a-3', 'c3', ''), ('pay', 'p-1', 'c1', ''), ('pay', 'p-2', 'c4', ''))"
		 " k (t, id, e, s)");
	test_sql(plain, "SELECT reconcile.confirm('a-3', 'r-3', evidence => '{\"n\":\"7\"}')");
	test_sql(plain,
		 "UPDATE reconcile.operations SET status = 'manual_review', class = 'divergent',"
		 " reason = 'newer', recommended_action = 'review' WHERE operation_id = 'p-1'");
	test_sql(plain, "UPDATE reconcile.operations SET created_at = created_at - interval '2 h'"
			" WHERE operation_id = 'a-2'");
	test_sql(plain, "UPDATE reconcile.operations SET due_at = '2024-02-29 12:00:00.5+02'"
			" WHERE operation_id = 'a-1'");
}

static void
test_list(void)
{
	tap_str(ids(&(struct list_filter){ .limit = 50 }), "a-1 a-2 p-1 p-2",
		"open ones, in order of id");
	tap_str(ids(&(struct list_filter){ .limit = 2 }), "a-1 a-2", "a page");
	tap_str(ids(&(struct list_filter){ .limit = 2, .after_id = "a-2" }), "p-1 p-2",
		"the next one");
	tap_str(ids(&(struct list_filter){ .limit = 2, .after_id = "p-2" }), "", "and no more");
	tap_str(ids(&(struct list_filter){ .limit = 50, .operation_type = "pay" }), "p-1 p-2",
		"by type");
	tap_str(ids(&(struct list_filter){ .limit = 50, .entity_id = "c1" }), "a-1 p-1",
		"by entity");
	tap_str(ids(&(struct list_filter){ .limit = 50, .scope = "t1" }), "a-2", "by scope");
	tap_str(ids(&(struct list_filter){ .limit = 50, .status = "manual_review" }), "p-1",
		"by status");
	tap_str(ids(&(struct list_filter){ .limit = 50, .class = "divergent", .reason = "newer" }),
		"p-1", "by verdict");
	tap_str(ids(&(struct list_filter){ .limit = 50, .older_than_us = HOUR }), "a-2", "by age");
	tap_str(ids(&(struct list_filter){ .limit = 50, .status = "confirmed" }), "a-3",
		"closed ones when they are asked for");
	tap_str(ids(&(struct list_filter){ .limit = 50, .status = "x'; DROP SCHEMA reconcile" }),
		"", "a filter is data");
}

static size_t
column(const struct view *view, const char *name)
{
	size_t i = 0;

	while (strcmp(view_column_name(view, i), name) != 0)
		i++;
	return i;
}

static void
test_operation(void)
{
	struct view *view = NULL;
	struct err err = { 0 };

	tap_ok(view_operation(db, "a-1", &view, &err), "one operation");
	tap_int((long long)view_rows(view), 1, "is one row");
	tap_str(view_get(view, 0, "due_at"), "2024-02-29T10:00:00.500000Z",
		"times are RFC 3339, UTC");
	tap_str(view_get(view, 0, "remote_id"), NULL, "null is null");
	tap_str(view_get(view, 0, "scope"), "", "and not empty");
	tap_str(view_get(view, 0, "expected"), "{\"version\": 7}", "expected");
	tap_int(view_column_type(view, column(view, "expected")), VIEW_JSON, "is JSON");
	tap_int(view_column_type(view, column(view, "revision")), VIEW_NUMBER,
		"revision is a number");
	tap_int(view_column_type(view, column(view, "disputed")), VIEW_BOOL, "disputed a boolean");
	tap_int(view_column_type(view, column(view, "version")), VIEW_TEXT, "version a text");
	tap_str(view_get(view, 0, "duplication_risk"), "high", "what sending it again might do");
	view_destroy(view);
	tap_ok(view_operation(db, "nobody", &view, &err), "an unknown one");
	tap_int((long long)view_rows(view), 0, "has no row");
	view_destroy(view);
}

static void
test_journal(void)
{
	struct view *view = NULL;
	struct err err = { 0 };

	tap_ok(view_journal(db, "a-3", &view, &err), "its history");
	tap_int((long long)view_rows(view), 2, "has each revision");
	tap_str(view_get(view, 0, "event"), "requested", "oldest first");
	tap_str(view_get(view, 1, "event"), "confirmed", "newest last");
	tap_str(view_get(view, 1, "actor"), "app:postgres", "by whom");
	tap_int((long long)strlen(view_get(view, 1, "at")), 27, "when");
	tap_int(view_column_type(view, column(view, "evidence")), VIEW_JSON, "evidence is JSON");
	tap_str(view_get(view, 1, "evidence"), "{\"attempt\":1,\"n\":\"7\"}", "as it was stored");
	view_destroy(view);
}

static void
test_exceptions(void)
{
	struct view *view = NULL;
	struct err err = { 0 };
	const struct list_filter review = { .operation_type = "pay",
					    .status = "manual_review",
					    .limit = 10 };
	const struct list_filter all = { .limit = 10 };

	tap_ok(view_exceptions(db, &review, &view, &err), "what needs a person");
	tap_int((long long)view_rows(view), 1, "one case");
	tap_str(view_get(view, 0, "kind"), "review", "in review");
	tap_str(view_get(view, 0, "operation_id"), "p-1", "is this one");
	tap_int(view_column_type(view, column(view, "age")), VIEW_NUMBER, "its age in seconds");
	view_destroy(view);
	tap_ok(view_exceptions(db, &all, &view, &err), "without a filter");
	tap_str(view_get(view, 0, "kind"), "no_policy", "what concerns whole types comes first");
	tap_str(view_get(view, view_rows(view) - 1, "operation_id"), "p-1", "then operations");
	view_destroy(view);
}

static void
test_overview(void)
{
	struct view *view = NULL;
	struct err err = { 0 };

	tap_ok(view_overview(db, &view, &err), "the overview");
	tap_int((long long)view_rows(view), 3, "has a row for each type and status");
	tap_str(view_get(view, 0, "operation_type"), "pay", "pay");
	tap_str(view_get(view, 0, "status"), "awaiting_confirmation", "awaits");
	tap_str(view_get(view, 0, "operations"), "1", "one");
	tap_str(view_get(view, 2, "operations"), "2", "sync awaits two");
	tap_str(view_get(view, 2, "due"), "1", "of which one is due");
	view_destroy(view);
}

static void
test_lost(void)
{
	struct view *view = NULL;
	struct err err = { 0 };

	test_sql(plain, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
			"WHERE application_name = 'reconciled'");
	test_turn(100 * MILLISECOND);
	tap_ok(!view_overview(db, &view, &err), "without a connection");
	tap_int(err.code, ERR_TRANSIENT, "is an error");
}

int
main(void)
{
	const char *conninfo = test_database("views");

	plain = test_plain(conninfo);
	db = test_connect(conninfo);
	arrange();
	test_list();
	test_operation();
	test_journal();
	test_exceptions();
	test_overview();
	test_lost();
	db_destroy(db);
	PQfinish(plain);
	return tap_done();
}
