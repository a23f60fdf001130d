/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "screen.h"
#include "table.h"
#include "tap.h"
#include "text.h"

static const struct {
	const char *name, *text;
	int width;
	bool ascii;
	const char *want;
	int used;
} cleaned[] = {
	{ "plain text", "customer 42", 0, false, "customer 42", 11 },
	{ "accents stay", "Zoë Müller", 0, false, "Zoë Müller", 10 },
	{ "wide characters take two columns", "顧客", 0, false, "顧客", 4 },
	{ "colour sequence", "\033[31mred\033[0m", 0, false, "\\x1b[31mred\\x1b[0m", 18 },
	{ "title sequence", "\033]0;x\007", 0, false, "\\x1b]0;x\\x07", 12 },
	{ "C1 control (CSI in one character)", "\xC2\x9B" "2J", 0, false, "\\x9b2J", 6 },
	{ "carriage return over the line", "ok\rBAD", 0, false, "ok\\x0dBAD", 9 },
	{ "line break and tab", "a\nb\tc", 0, false, "a\\nb\\tc", 7 },
	{ "delete", "a\177", 0, false, "a\\x7f", 5 },
	{ "direction override", "a\u202Eb", 0, false, "a\\u202eb", 8 },
	{ "direction isolate", "\u2067x", 0, false, "\\u2067x", 7 },
	{ "zero width space", "a\u200Bb", 0, false, "a\\u200bb", 8 },
	{ "line separator", "a\u2028b", 0, false, "a\\u2028b", 8 },
	{ "tag character", "\U000E0041", 0, false, "\\U000e0041", 10 },
	{ "invalid byte", "a\xFFz", 0, false, "a\uFFFDz", 3 },
	{ "truncated character", "a\xC3", 0, false, "a\uFFFD", 2 },
	{ "overlong slash", "\xC0\xAF", 0, false, "\uFFFD\uFFFD", 2 },
	{ "a pile of marks is cut", "e\u0301\u0301\u0301\u0301\u0301x", 0, false, "e\u0301\u0301\u0301x", 2 },
	{ "markup is text", "<img src=x onerror=alert(1)>", 0, false, "<img src=x onerror=alert(1)>", 28 },
	{ "fits exactly", "abcde", 5, false, "abcde", 5 },
	{ "too wide", "abcdef", 5, false, "abcd…", 5 },
	{ "never cut inside a wide character", "顧客名", 4, false, "顧…", 3 },
	{ "never cut inside an escape", "ab\033cd", 5, false, "ab…", 3 },
	{ "ascii only", "Zoë", 0, true, "Zo\\xeb", 6 },
	{ "ascii only, cut", "abcdefgh", 6, true, "abc...", 6 },
};

static void
texts(void)
{
	struct strbuf out = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(cleaned); i++) {
		strbuf_reset(&out);
		tap_int(text_clean(&out, cleaned[i].text, cleaned[i].width, cleaned[i].ascii), cleaned[i].used,
			cleaned[i].name);
		tap_str(strbuf_text(&out), cleaned[i].want, cleaned[i].name);
	}
	strbuf_finish(&out);
}

static void
json(void)
{
	struct strbuf out = { 0 };

	text_clean_json(&out, "{\"a\":\"Zo\u00EB \u202E\xC2\x9B\U000E0041\",\n\"n\":12345678901234567890}");
	tap_str(strbuf_text(&out),
		"{\"a\":\"Zo\u00EB \\u202e\\u009b\\udb40\\udc41\",\n\"n\":12345678901234567890}",
		"JSON: unsafe characters are escaped, all else is kept");
	strbuf_finish(&out);
}

static struct {
	const char *type;
	bool dot;
	int limit;
	int64_t older_us;
} values;

static const struct option_spec specs[] = {
	{ "type", "TYPE", option_set_text, offsetof(__typeof__(values), type), "" },
	{ "dot", NULL, option_set_flag, offsetof(__typeof__(values), dot), "" },
	{ "limit", "N", option_set_limit, offsetof(__typeof__(values), limit), "" },
	{ "older-than", "DURATION", option_set_duration, offsetof(__typeof__(values), older_us), "" },
	{ 0 },
};

static bool
take(char **argv, int *argc, bool first_only, struct err *err)
{
	struct option_table table = { specs, &values };
	struct option_source source = { .tables = &table, .tables_count = 1, .first_only = first_only };

	memset(&values, 0, sizeof(values));
	return options_take(&source, argv, argc, err);
}

static void
options(void)
{
	char type[] = "--type", a[] = "a", x[] = "x", limit[] = "--limit=7", dot[] = "--dot";
	char older[] = "--older-than", s90[] = "90s", end[] = "--", y[] = "--y", list[] = "list";
	char *all[] = { type, a, x, limit, dot, older, s90, end, y };
	char *first[] = { dot, list, type, a };
	struct err err = { 0 };
	int argc = ARRAY_LEN(all);

	tap_ok(take(all, &argc, false, &err), "every form of an option");
	tap_str(values.type, "a", "a text");
	tap_ok(values.dot, "a flag");
	tap_int(values.limit, 7, "a number after =");
	tap_int(values.older_us, 90 * SECOND, "a duration");
	tap_int(argc, 2, "other arguments are left");
	tap_str(all[0], "x", "in order");
	tap_str(all[1], "--y", "also what follows --");
	argc = ARRAY_LEN(first);
	tap_ok(take(first, &argc, true, &err) && argc == 3, "options before the command only");
	tap_str(first[0], "list", "the command is the first that is left");
}

static const struct {
	char argument[16];
	const char *message;
} refused[] = {
	{ "--colour", "unknown option \"--colour\" (--help lists them)" },
	{ "-t", "unknown option \"-t\" (--help lists them)" },
	{ "--type", "option \"--type\" needs a value: TYPE" },
	{ "--dot=1", "option \"--dot\" takes no value" },
	{ "--limit=0", "option \"--limit\": \"0\" is no number from 1 to 10000" },
	{ "--limit=1x", "option \"--limit\": \"1x\" is no number from 1 to 10000" },
};

static void
refusals(void)
{
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		char argument[16], *argv[] = { argument };
		struct err err = { 0 };
		int argc = 1;

		strcpy(argument, refused[i].argument);
		tap_ok(!take(argv, &argc, false, &err), "refused: %s", refused[i].argument);
		tap_str(err.text, refused[i].message, "and says why");
	}
}

/* Two rows: a name, what nobody has, words. At 0 columns the screen is no terminal. */
static const struct {
	int width;
	const char *name, *want;
} tables[] = {
	{ 0, "in a file each row is one line",
	  "NAME     NONE  WHEN\n"
	  "requeue        every clause holds\n"
	  "wait           \n" },
	{ 33, "what fits is left alone",
	  "NAME     NONE  WHEN\n"
	  "requeue        every clause holds\n"
	  "wait           \n" },
	{ 32, "else a column without anything goes first",
	  "NAME     WHEN\n"
	  "requeue  every clause holds\n"
	  "wait     \n" },
	{ 22, "then words are broken into lines",
	  "NAME     WHEN\n"
	  "requeue  every clause\n"
	  "         holds\n"
	  "wait     \n" },
	{ 20, "then columns are cut",
	  "NAME    WHEN\n"
	  "reque…  every clause\n"
	  "        holds\n"
	  "wait    \n" },
	{ 12, "and broken words are kept whole as long as that goes",
	  "NAME  WHEN\n"
	  "req…  every\n"
	  "      clause\n"
	  "      holds\n"
	  "wait  \n" },
};

static char *
printed(const struct table *table, int width)
{
	char *text = NULL;
	size_t len = 0;
	struct screen screen = { .out = open_memstream(&text, &len), .width = width };

	table_print(table, &screen, 0);
	fclose(screen.out);
	return text;
}

static void
narrow_tables(void)
{
	static const struct table_column columns[] = { TABLE_LEFT("NAME"), TABLE_LEFT("NONE"),
						       TABLE_WORDS("WHEN") };
	static const char *const cells[] = { "requeue", NULL, "every clause holds", "wait", "", NULL };
	struct table *table = table_create(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < ARRAY_LEN(cells); i++)
		table_add(table, cells[i]);
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		char *text = printed(table, tables[i].width);

		tap_str(text, tables[i].want, tables[i].name);
		free(text);
	}
	table_destroy(table);
}

/* No more than eight lines for one row. */
static void
long_words(void)
{
	static const struct table_column columns[] = { TABLE_KEEP("ID"), TABLE_WORDS("WHEN") };
	struct table *table = table_create(columns, ARRAY_LEN(columns));
	char *text;

	table_add(table, "a");
	table_add(table, "b b b b b b b b b b b b b b b b b b");
	text = printed(table, 7);
	tap_str(text,
		"ID  WH…\na   b b\n    b b\n    b b\n    b b\n    b b\n    b b\n    b b\n    b …\n",
		"the eighth line of a row is cut");
	free(text);
	table_destroy(table);
}

int
main(void)
{
	texts();
	narrow_tables();
	long_words();
	json();
	options();
	refusals();
	return tap_done();
}
