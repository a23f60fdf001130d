/* SPDX-License-Identifier: Apache-2.0
 *
 * reconcilectl list: operations that pass the filters; with --exceptions, what needs a person and why.
 */
#include <stddef.h>
#include <string.h>

#include "command.h"
#include "evidence_view.h"
#include "facts.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/lifecycle.h"
#include "reconciled/core/verdict.h"
#include "reconciled/store/views.h"
#include "table.h"
#include "view_json.h"

static struct {
	struct list_filter filter;
	bool exceptions;
} options = { .filter.limit = 50 };

static bool
set_status(void *field, const char *text, struct err *err)
{
	enum status status;
	struct strbuf known = { 0 };

	if (status_from_name(text, &status))
		return option_set_text(field, text, err);
	for (status = 0; status < STATUS_COUNT; status++)
		strbuf_printf(&known, " %s", status_name(status));
	err_fill(err, ERR_INVALID, "no status \"%s\"; there are:%s", text, strbuf_text(&known));
	strbuf_finish(&known);
	return false;
}

static bool
set_class(void *field, const char *text, struct err *err)
{
	enum verdict_class class;

	if (class_from_name(text, &class) && class_is_verdict(class))
		return option_set_text(field, text, err);
	return err_set(
		err, ERR_INVALID,
		"no class \"%s\"; there are: missing correct divergent ambiguous not_applicable",
		text);
}

#define FILTER(member)                                                                             \
	(offsetof(__typeof__(options), filter) + offsetof(struct list_filter, member))

static const struct option_spec specs[] = {
	{ "exceptions", NULL, option_set_flag, offsetof(__typeof__(options), exceptions),
	  "what needs a person, and why" },
	{ "type", "TYPE", option_set_text, FILTER(operation_type), "operations of this type" },
	{ "status", "STATUS", set_status, FILTER(status), "in this status" },
	{ "class", "CLASS", set_class, FILTER(class), "whose last verdict has this class" },
	{ "reason", "REASON", option_set_text, FILTER(reason), "and this reason" },
	{ "entity", "ID", option_set_text, FILTER(entity_id), "that affect this entity" },
	{ "scope", "SCOPE", option_set_text, FILTER(scope), "of this tenant" },
	{ "older-than", "DURATION", option_set_duration, FILTER(older_than_us),
	  "requested longer ago: 90s 15m 24h 30d" },
	{ "limit", "N", option_set_limit, FILTER(limit), "at most so many (50)" },
	{ "after", "ID", option_set_text, FILTER(after_id), "go on after this one" },
	{ 0 },
};

static void
add_words(struct table *table, void (*put)(struct strbuf *, const struct view *, size_t),
	  const struct view *view, size_t row)
{
	struct strbuf words = { 0 };

	put(&words, view, row);
	table_add(table, strbuf_text(&words));
	strbuf_finish(&words);
}

static void
put_requested(struct strbuf *out, const struct view *view, size_t row)
{
	facts_time(out, facts_get(view, row, "created_at"));
}

static void
print_operations(const struct screen *screen, const struct view *view, size_t count)
{
	static const struct table_column columns[] = {
		TABLE_KEEP("OPERATION"),   TABLE_LEFT("TYPE"),	    TABLE_LEFT("STATUS"),
		TABLE_LEFT("VERDICT"),	   TABLE_LEFT("ENTITY"),    TABLE_LEFT("VERSION"),
		TABLE_LEFT("RECOMMENDED"), TABLE_LEFT("REQUESTED"),
	};
	struct table *table = table_create(columns, ARRAY_LEN(columns));

	for (size_t r = 0; r < count; r++) {
		table_add(table, facts_get(view, r, "operation_id"));
		table_add(table, facts_get(view, r, "operation_type"));
		table_add(table, facts_get(view, r, "status"));
		add_words(table, facts_verdict, view, r);
		add_words(table, facts_entity, view, r);
		table_add(table, facts_get(view, r, "version"));
		table_add(table, facts_get(view, r, "recommended_action"));
		add_words(table, put_requested, view, r);
	}
	table_print(table, screen, 0);
	table_destroy(table);
}

static bool
is_guard(const struct view *view, size_t row)
{
	return strcmp(facts_text(view, row, "kind"), "guard") == 0;
}

/* What a case is called that is no single operation: its type, or the guard of the database. */
static const char *
name_of(const struct view *view, size_t row)
{
	const char *type = facts_text(view, row, "operation_type");

	return is_guard(view, row) && *type == '\0' ? "(rewind)" : type;
}

/* "customer 42, version 7, 3h 12m" */
static void
put_subject(struct strbuf *out, const struct view *view, size_t row)
{
	const char *version = facts_get(view, row, "version"), *age = facts_get(view, row, "age");

	strbuf_puts(out, name_of(view, row));
	strbuf_puts(out, ", ");
	facts_entity(out, view, row);
	if (out->len >= 2 && out->data[out->len - 2] != ',')
		strbuf_puts(out, ", ");
	if (version != NULL)
		strbuf_printf(out, "version %s, ", version);
	if (age != NULL) {
		strbuf_puts(out, "for ");
		facts_age(out, age);
	}
}

static void
put_guard_cause(struct strbuf *out, const char *reason)
{
	static const struct {
		const char *reason, *words;
	} causes[] = {
		{ "max", "too many actions in one window" },
		{ "share", "too many verdicts missing or divergent" },
		{ "beats", "the database went back in time" },
	};

	for (size_t i = 0; i < ARRAY_LEN(causes); i++)
		if (strcmp(causes[i].reason, reason) == 0)
			reason = causes[i].words;
	strbuf_printf(out, "guard tripped: %s", reason);
}

static void
put_case_verdict(struct strbuf *out, const struct view *view, size_t row)
{
	json_t *evidence;
	struct strbuf differs = { 0 };

	if (is_guard(view, row)) {
		put_guard_cause(out, facts_text(view, row, "reason"));
		return;
	}
	evidence = evidence_parse(facts_get(view, row, "evidence"));
	strbuf_printf(out, "%s: ", facts_text(view, row, "kind"));
	facts_verdict(out, view, row);
	evidence_differences(&differs, evidence);
	if (differs.len > 0)
		strbuf_printf(out, "; %s", strbuf_text(&differs));
	strbuf_finish(&differs);
	json_decref(evidence);
}

static void
print_case(struct ctl *ctl, const struct view *view, size_t row)
{
	const char *id = facts_get(view, row, "operation_id"),
		   *action = facts_get(view, row, "recommended_action");
	const char *risk = facts_get(view, row, "duplication_risk");
	struct strbuf words = { 0 };

	screen_line(&ctl->screen, TONE_STRONG, id ? id : name_of(view, row));
	put_subject(&words, view, row);
	screen_field(&ctl->screen, 2, "what", TONE_PLAIN, strbuf_text(&words));
	strbuf_reset(&words);
	put_case_verdict(&words, view, row);
	screen_field(&ctl->screen, 2, "why", TONE_BAD, strbuf_text(&words));
	if (action != NULL)
		screen_field(&ctl->screen, 2, "recommended", TONE_PLAIN, action);
	if (risk != NULL)
		screen_field(&ctl->screen, 2, "duplicate risk", TONE_PLAIN, risk);
	if (id != NULL || is_guard(view, row)) {
		strbuf_reset(&words);
		facts_command(&words, ctl, id ? "show" : "guard", id ? id : "list");
		screen_command(&ctl->screen, "more", strbuf_text(&words));
	}
	screen_line(&ctl->screen, TONE_PLAIN, "");
	strbuf_finish(&words);
}

/*
 * How many rows are shown, one more than wanted having been asked for. An operation with two reasons
 * stands in two rows, which stay on one page unless they alone fill it.
 */
static size_t
count_shown(const struct view *view, size_t limit, const char **ret_next)
{
	size_t count = limit;

	*ret_next = NULL;
	if (view_rows(view) <= limit)
		return view_rows(view);
	while (count > 1 && strcmp(facts_text(view, count - 1, "operation_id"),
				   facts_text(view, count, "operation_id")) == 0)
		count--;
	*ret_next = facts_text(view, count - 1, "operation_id");
	return count;
}

static void
print_json(const struct view *view, size_t count, const char *next)
{
	struct strbuf json = { 0 };

	strbuf_puts(&json, "{\"operations\":");
	view_json_rows(&json, view, count);
	strbuf_puts(&json, ",\"next\":");
	view_json_text(&json, next);
	strbuf_putc(&json, '}');
	ctl_print_json(&json);
	strbuf_finish(&json);
}

static void
print_list(struct ctl *ctl, const struct view *view, size_t count, const char *next)
{
	struct strbuf line = { 0 };

	if (count == 0)
		screen_line(&ctl->screen, TONE_PLAIN,
			    options.exceptions ? "Nothing needs a person." : "No operation.");
	else if (options.exceptions)
		for (size_t r = 0; r < count; r++)
			print_case(ctl, view, r);
	else
		print_operations(&ctl->screen, view, count);
	if (next != NULL) {
		if (*next != '\0')
			strbuf_printf(&line, "There are more: --after %s", next);
		else
			strbuf_puts(&line, "There are more: a larger --limit");
		screen_line(&ctl->screen, TONE_QUIET, strbuf_text(&line));
	}
	strbuf_finish(&line);
}

static enum ctl_exit
run(struct ctl *ctl, int argc, char **argv)
{
	enum ctl_exit code = ctl_connect(ctl);
	struct list_filter filter = options.filter;
	struct view *view = NULL;
	const char *next;
	struct err err = { 0 };
	size_t count;
	bool ok;

	if (code != CTL_DONE)
		return code;
	filter.limit++;
	ok = options.exceptions ? view_exceptions(ctl->db, &filter, &view, &err)
				: view_operations(ctl->db, &filter, &view, &err);
	if (!ok)
		return ctl_fail(CTL_REFUSED, "%s", err.text);
	count = count_shown(view, (size_t)options.filter.limit, &next);
	if (ctl->json)
		print_json(view, count, next);
	else
		print_list(ctl, view, count, next);
	view_destroy(view);
	return CTL_DONE;
}

const struct command command_list = {
	.name = "list",
	.arguments = "",
	.help = "open operations by type, verdict, entity, age; closed ones by --status",
	.options = specs,
	.values = &options,
	.run = run,
};
