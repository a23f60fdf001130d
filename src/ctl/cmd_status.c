/* SPDX-License-Identifier: Apache-2.0
 *
 * reconcilectl status: how many operations of each type are in which state, the oldest of them, what
 * holds them up, who works, and what needs a person.
 */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "facts.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/store/views.h"
#include "running.h"
#include "table.h"
#include "view_json.h"

enum { EXCEPTIONS_MAX = 10000, KINDS_MAX = 16 };

struct kind_count {
	const char *kind;
	long long count;
};

static const struct {
	const char *kind, *words;
	bool one; /* a row is one case, whatever its count says */
} kinds[] = {
	{ "review", "in review", false },
	{ "deadline", "past the deadline", false },
	{ "not_picked_up", "not picked up by a worker", false },
	{ "no_policy", "without a policy", false },
	{ "target_away", "looks that a target left without answer", false },
	{ "guard", "guards that hold actions back", true },
	{ "event_parked", "events that could not be delivered", false },
};

static void
add_age(struct table *table, const char *interval)
{
	struct strbuf age = { 0 };

	if (interval != NULL)
		facts_age(&age, interval);
	table_add(table, strbuf_text(&age));
	strbuf_finish(&age);
}

static const char *
mode_of(const struct view *view, size_t row)
{
	const char *mode = facts_get(view, row, "mode"), *paused = facts_get(view, row, "paused");

	if (mode == NULL)
		return "no policy";
	return paused != NULL && *paused == 't' ? "paused" : mode;
}

static void
print_types(const struct screen *screen, const struct view *view)
{
	static const struct table_column columns[] = {
		TABLE_KEEP("TYPE"),	      TABLE_LEFT("MODE"),    TABLE_LEFT("STATUS"),
		TABLE_RIGHT("OPEN"),	      TABLE_RIGHT("OLDEST"), TABLE_RIGHT("DUE"),
		TABLE_RIGHT("PAST DEADLINE"),
	};
	struct table *table = table_create(columns, ARRAY_LEN(columns));

	for (size_t r = 0; r < view_rows(view); r++) {
		table_add(table, facts_get(view, r, "operation_type"));
		table_add(table, mode_of(view, r));
		table_add(table, facts_get(view, r, "status"));
		table_add(table, facts_get(view, r, "operations"));
		add_age(table, facts_get(view, r, "oldest_age"));
		table_add(table, facts_get(view, r, "due"));
		table_add(table, facts_get(view, r, "past_deadline"));
	}
	if (view_rows(view) > 0)
		table_print(table, screen, 0);
	else
		screen_line(screen, TONE_PLAIN, "No operation is open, and no policy is loaded.");
	table_destroy(table);
}

static const char *
words_of(const char *kind)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].kind, kind) == 0)
			return kinds[i].words;
	return kind;
}

/* Cases behind one row of the exceptions. */
static long long
cases_of(const struct view *exceptions, size_t row)
{
	const char *kind = facts_text(exceptions, row, "kind"),
		   *count = facts_get(exceptions, row, "count");

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].one && strcmp(kinds[i].kind, kind) == 0)
			return 1;
	return count ? strtoll(count, NULL, 10) : 1;
}

static size_t
count_kinds(const struct view *exceptions, struct kind_count *counts)
{
	size_t used = 0, k;

	for (size_t r = 0; r < view_rows(exceptions); r++) {
		const char *kind = facts_text(exceptions, r, "kind");

		for (k = 0; k < used && strcmp(counts[k].kind, kind) != 0; k++)
			continue;
		if (k == KINDS_MAX)
			continue;
		if (k == used)
			counts[used++] = (struct kind_count){ .kind = kind };
		counts[k].count += cases_of(exceptions, r);
	}
	return used;
}

static void
print_needs(struct ctl *ctl, const struct view *exceptions)
{
	struct kind_count counts[KINDS_MAX];
	size_t used = count_kinds(exceptions, counts);
	struct strbuf line = { 0 };

	screen_line(&ctl->screen, TONE_PLAIN, "");
	screen_line(&ctl->screen, TONE_STRONG,
		    used > 0 ? "Needs a person" : "Nothing needs a person.");
	for (size_t k = 0; k < used; k++) {
		strbuf_reset(&line);
		strbuf_printf(&line, "%7lld  %s", counts[k].count, words_of(counts[k].kind));
		screen_line(&ctl->screen, TONE_PLAIN, strbuf_text(&line));
	}
	if (used > 0) {
		strbuf_reset(&line);
		facts_command(&line, ctl, "list", "--exceptions");
		screen_command(&ctl->screen, "more", strbuf_text(&line));
	}
	strbuf_finish(&line);
}

static enum ctl_exit
print_all(struct ctl *ctl, const struct view *overview, const struct running *running)
{
	struct list_filter any = { .limit = EXCEPTIONS_MAX };
	struct view *exceptions = NULL;
	struct err err = { 0 };

	print_types(&ctl->screen, overview);
	running_print(&ctl->screen, running);
	if (!view_exceptions(ctl->db, &any, &exceptions, &err))
		return ctl_fail(CTL_REFUSED, "%s", err.text);
	print_needs(ctl, exceptions);
	view_destroy(exceptions);
	return CTL_DONE;
}

static enum ctl_exit
print_json(const struct view *overview, const struct running *running)
{
	struct strbuf json = { 0 };

	strbuf_puts(&json, "{\"types\":");
	view_json_rows(&json, overview, view_rows(overview));
	running_put_json(&json, running);
	strbuf_putc(&json, '}');
	ctl_print_json(&json);
	strbuf_finish(&json);
	return CTL_DONE;
}

static enum ctl_exit
run(struct ctl *ctl, int argc, char **argv)
{
	enum ctl_exit code = ctl_connect(ctl);
	struct running running = { 0 };
	struct view *overview = NULL;
	struct err err = { 0 };

	if (code != CTL_DONE)
		return code;
	if (!view_overview(ctl->db, &overview, &err) || !running_read(ctl->db, &running, &err))
		code = ctl_fail(CTL_REFUSED, "%s", err.text);
	else if (ctl->json)
		code = print_json(overview, &running);
	else
		code = print_all(ctl, overview, &running);
	running_finish(&running);
	view_destroy(overview);
	return code;
}

const struct command command_status = {
	.name = "status",
	.arguments = "",
	.help = "how many are in which state, what holds them up, who works",
	.run = run,
};
