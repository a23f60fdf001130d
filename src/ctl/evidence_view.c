/* SPDX-License-Identifier: Apache-2.0
 *
 * Each part of the evidence has a function that appends a line of words; a table puts them in order.
 * Parts that are missing or of another shape print nothing.
 */
#include "evidence_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/attributes.h"
#include "reconciled/base/strbuf.h"
#include "screen.h"
#include "table.h"

enum { EVIDENCE_INDENT = 6 };

json_t *
evidence_parse(const char *text)
{
	json_t *evidence = text ? json_loads(text, 0, NULL) : NULL;

	if (json_is_object(evidence))
		return evidence;
	json_decref(evidence);
	return NULL;
}

void
evidence_value(struct strbuf *out, const json_t *value)
{
	char *dump;

	if (json_is_string(value)) {
		strbuf_puts(out, json_string_value(value));
		return;
	}
	dump = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	strbuf_puts(out, dump ? dump : "");
	free(dump);
}

static const char *
member_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static void
put_separator(struct strbuf *out, const char *separator)
{
	if (out->len > 0)
		strbuf_puts(out, separator);
}

/* "?" stands for a value that is not there or was no scalar. */
static void
put_side(struct strbuf *out, const json_t *compared, const char *side)
{
	const json_t *value = json_object_get(compared, side);

	if (value == NULL || json_is_null(value))
		strbuf_puts(out, "nothing");
	else
		evidence_value(out, value);
}

void
evidence_differences(struct strbuf *out, const json_t *evidence)
{
	const json_t *compared;
	size_t i;

	json_array_foreach(json_object_get(evidence, "compared"), i, compared) {
		if (strcmp(member_text(compared, "result"), "equal") == 0)
			continue;
		put_separator(out, "; ");
		strbuf_printf(out, "%s %s: expected ", member_text(compared, "field"),
			      member_text(compared, "result"));
		put_side(out, compared, "expected");
		strbuf_puts(out, ", found ");
		put_side(out, compared, "found");
	}
}

static void
put_asked(struct strbuf *out, const json_t *evidence)
{
	const json_t *request = json_object_get(evidence, "request");

	if (request == NULL)
		return;
	strbuf_printf(out, "%s %s", member_text(request, "method"), member_text(request, "url"));
	strbuf_printf(out, " at %s", member_text(evidence, "target"));
	if (*member_text(evidence, "probe") != '\0')
		strbuf_printf(out, ", probe %s", member_text(evidence, "probe"));
}

static void
put_integer(struct strbuf *out, const char *fmt, const json_t *value)
{
	char number[24];

	if (!json_is_integer(value))
		return;
	snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	put_separator(out, ", ");
	for (; *fmt != '\0'; fmt++) {
		if (*fmt == '#')
			strbuf_puts(out, number);
		else
			strbuf_putc(out, *fmt);
	}
}

/* "found: status 200, 312 bytes, 42 ms" */
static void
put_saw(struct strbuf *out, const json_t *evidence)
{
	const json_t *response = json_object_get(evidence, "response");
	struct strbuf answer = { 0 };

	strbuf_puts(&answer, member_text(evidence, "error"));
	put_integer(&answer, "status #", json_object_get(response, "status"));
	put_integer(&answer, "# bytes", json_object_get(response, "bytes"));
	put_integer(&answer, "# ms", json_object_get(response, "ms"));
	strbuf_puts(out, member_text(evidence, "reading"));
	if (answer.len > 0) {
		put_separator(out, ": ");
		strbuf_puts(out, strbuf_text(&answer));
	}
	strbuf_finish(&answer);
}

/* The rules that were tried, in order; the one that held is the last. */
static void
put_rules(struct strbuf *out, const json_t *evidence)
{
	const json_t *rule;
	size_t i;

	json_array_foreach(json_object_get(evidence, "rules"), i, rule) {
		put_separator(out, ", ");
		strbuf_printf(out, "%s %s", member_text(rule, "rule"),
			      json_is_true(json_object_get(rule, "held")) ? "held"
									  : "did not hold");
	}
	if (*member_text(evidence, "why") != '\0') {
		put_separator(out, ": ");
		strbuf_puts(out, member_text(evidence, "why"));
	}
}

static void
put_decided(struct strbuf *out, const json_t *evidence)
{
	strbuf_puts(out, member_text(evidence, "decided"));
}

static void
put_equal(struct strbuf *out, const json_t *evidence)
{
	const json_t *compared;
	size_t i;

	json_array_foreach(json_object_get(evidence, "compared"), i, compared) {
		if (strcmp(member_text(compared, "result"), "equal") != 0)
			continue;
		put_separator(out, ", ");
		strbuf_puts(out, member_text(compared, "field"));
	}
}

static void
put_members(struct strbuf *out, json_t *object)
{
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value) {
		put_separator(out, ", ");
		strbuf_printf(out, "%s = ", name);
		evidence_value(out, value);
	}
}

static void
put_kept(struct strbuf *out, const json_t *evidence)
{
	put_members(out, json_object_get(evidence, "kept"));
}

static void
put_hashed(struct strbuf *out, const json_t *evidence)
{
	put_members(out, json_object_get(evidence, "hashed"));
}

static void
put_looks(struct strbuf *out, const json_t *evidence)
{
	const json_t *looks = json_object_get(evidence, "looks");
	json_int_t absences = json_integer_value(json_object_get(looks, "absences"));

	if (absences > 0)
		strbuf_printf(out, "%" JSON_INTEGER_FORMAT " absent since %s", absences,
			      member_text(looks, "since"));
	if (*member_text(looks, "control") != '\0' &&
	    strcmp(member_text(looks, "control"), "none") != 0) {
		put_separator(out, ", ");
		strbuf_printf(out, "control object %s", member_text(looks, "control"));
	}
}

static void
put_clauses(struct strbuf *out, const json_t *evidence)
{
	const json_t *clause;
	size_t i;

	json_array_foreach(json_object_get(evidence, "clauses"), i, clause) {
		put_separator(out, ", ");
		strbuf_printf(out, "%s %s", member_text(clause, "name"),
			      json_is_true(json_object_get(clause, "ok")) ? "ok" : "not met");
	}
}

static const struct {
	const char *heading;
	void (*put)(struct strbuf *out, const json_t *evidence);
} parts[] = {
	{ "asked", put_asked },
	{ "saw", put_saw },
	{ "rules", put_rules },
	{ "decided", put_decided },
	{ "differs", evidence_differences },
	{ "equal", put_equal },
	{ "kept", put_kept },
	{ "hashed", put_hashed },
	{ "looks", put_looks },
	{ "needs", put_clauses },
};

static void
print_part(const struct screen *screen, int indent, size_t part, const json_t *evidence)
{
	struct strbuf words = { 0 };

	parts[part].put(&words, evidence);
	if (words.len > 0)
		screen_field(screen, indent, parts[part].heading, TONE_PLAIN, strbuf_text(&words));
	strbuf_finish(&words);
}

void
evidence_print(const struct screen *screen, const json_t *evidence)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		print_part(screen, EVIDENCE_INDENT, i, evidence);
}

void
evidence_print_values(const struct screen *screen, int indent, const json_t *evidence)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (parts[i].put == put_kept || parts[i].put == put_hashed)
			print_part(screen, indent, i, evidence);
}

static bool
is_compared(const json_t *evidence, const char *field)
{
	const json_t *compared;
	size_t i;

	json_array_foreach(json_object_get(evidence, "compared"), i, compared) {
		if (strcmp(member_text(compared, "field"), field) == 0)
			return true;
	}
	return false;
}

static void
add_compared(struct table *table, const json_t *evidence)
{
	static const char *const sides[] = { "expected", "found" };
	const json_t *compared;
	size_t i;

	json_array_foreach(json_object_get(evidence, "compared"), i, compared) {
		table_add(table, member_text(compared, "field"));
		for (size_t s = 0; s < ARRAY_LEN(sides); s++) {
			struct strbuf side = { 0 };

			put_side(&side, compared, sides[s]);
			table_add(table, strbuf_text(&side));
			strbuf_finish(&side);
		}
		table_add(table, member_text(compared, "result"));
	}
}

void
evidence_print_compared(const struct screen *screen, const json_t *evidence, json_t *expected)
{
	static const struct table_column columns[] = { TABLE_LEFT("FIELD"), TABLE_LEFT("EXPECTED"),
						       TABLE_LEFT("FOUND"), TABLE_LEFT("RESULT") };
	struct table *table = table_create(columns, ARRAY_LEN(columns));
	const char *name;
	json_t *value;

	add_compared(table, evidence);
	json_object_foreach(expected, name, value) {
		if (is_compared(evidence, name))
			continue;
		table_add(table, name);
		table_add(table, NULL);
		table_add(table, NULL);
		table_add(table, "not compared");
	}
	if (table_rows(table) > 0) {
		screen_line(screen, TONE_PLAIN, "");
		screen_line(screen, TONE_STRONG, "Expected against found");
		table_print(table, screen, 2);
	}
	table_destroy(table);
}
