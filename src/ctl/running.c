/* SPDX-License-Identifier: Apache-2.0
 *
 * Three views, as tables below that of the types.
 */
#include "running.h"

#include "facts.h"
#include "guard_view.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/store/views.h"
#include "screen.h"
#include "table.h"
#include "view_json.h"

enum { GUARDS_MAX = 100 };

bool
running_read(struct db *db, struct running *ret_running, struct err *err)
{
	struct running running = { 0 };

	if (view_guards(db, false, GUARDS_MAX, &running.guards, err) &&
	    view_paused(db, &running.paused, err) && view_instances(db, &running.instances, err)) {
		*ret_running = running;
		return true;
	}
	running_finish(&running);
	return false;
}

void
running_finish(struct running *running)
{
	view_destroy(running->guards);
	view_destroy(running->paused);
	view_destroy(running->instances);
	*running = (struct running){ 0 };
}

static void
add_age(struct table *table, const char *seconds)
{
	struct strbuf age = { 0 };

	facts_age(&age, seconds ? seconds : "0");
	table_add(table, strbuf_text(&age));
	strbuf_finish(&age);
}

static void
print_paused(const struct screen *screen, const struct view *paused)
{
	static const struct table_column columns[] = { TABLE_KEEP("PAUSED"), TABLE_RIGHT("FOR"),
						       TABLE_LEFT("BY"), TABLE_WORDS("WHY") };
	struct table *table = table_create(columns, ARRAY_LEN(columns));

	for (size_t r = 0; r < view_rows(paused); r++) {
		table_add(table, facts_get(paused, r, "operation_type"));
		add_age(table, facts_get(paused, r, "age"));
		table_add(table, facts_get(paused, r, "paused_by"));
		table_add(table, facts_get(paused, r, "pause_reason"));
	}
	table_print(table, screen, 0);
	table_destroy(table);
}

static void
print_instances(const struct screen *screen, const struct view *instances)
{
	static const struct table_column columns[] = { TABLE_KEEP("INSTANCE"),
						       TABLE_LEFT("VERSION"), TABLE_RIGHT("UP"),
						       TABLE_RIGHT("TYPES"),
						       TABLE_RIGHT("IN FLIGHT") };
	struct table *table = table_create(columns, ARRAY_LEN(columns));

	for (size_t r = 0; r < view_rows(instances); r++) {
		table_add(table, facts_get(instances, r, "name"));
		table_add(table, facts_get(instances, r, "version"));
		add_age(table, facts_get(instances, r, "age"));
		table_add(table, facts_get(instances, r, "types"));
		table_add(table, facts_get(instances, r, "in_flight"));
	}
	table_print(table, screen, 0);
	table_destroy(table);
}

void
running_print(const struct screen *screen, const struct running *running)
{
	if (view_rows(running->paused) > 0) {
		screen_line(screen, TONE_PLAIN, "");
		print_paused(screen, running->paused);
	}
	if (view_rows(running->guards) > 0) {
		screen_line(screen, TONE_PLAIN, "");
		guard_view_print(screen, running->guards);
	}
	screen_line(screen, TONE_PLAIN, "");
	if (view_rows(running->instances) > 0)
		print_instances(screen, running->instances);
	else
		screen_line(screen, TONE_PLAIN, "No instance of the daemon is running.");
}

static void
put_rows(struct strbuf *out, const char *name, const struct view *view)
{
	strbuf_printf(out, ",\"%s\":", name);
	view_json_rows(out, view, view_rows(view));
}

void
running_put_json(struct strbuf *out, const struct running *running)
{
	put_rows(out, "guards", running->guards);
	put_rows(out, "paused", running->paused);
	put_rows(out, "instances", running->instances);
}
