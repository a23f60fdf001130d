/* SPDX-License-Identifier: Apache-2.0
 *
 * Compared values by type: what is equal in spite of its spelling, what differs, what is
 * unreadable.
 */
#include "reconciled/core/compare.h"
#include "reconciled/core/condition.h"
#include "scene.h"

/* found and expected are JSON values, as members of the item and of `expected`. */
struct row {
	struct comparison by;
	const char *found, *expected;
	enum compare_result want;
	const char *name;
};

#define TEXT(folds)                                                                                \
	{                                                                                          \
		.type = COMPARE_TEXT, .fold = (folds)                                              \
	}
#define NUMBER(limit)                                                                              \
	{                                                                                          \
		.type = COMPARE_NUMBER, .tolerance = (limit)                                       \
	}
#define LEAST(a_type, an_order)                                                                    \
	{                                                                                          \
		.type = (a_type), .relation = COMPARE_AT_LEAST, .order = (an_order)                \
	}
#define BOOL                                                                                       \
	{                                                                                          \
		.type = COMPARE_BOOL                                                               \
	}
#define VERSION(an_order)                                                                          \
	{                                                                                          \
		.type = COMPARE_VERSION, .order = (an_order)                                       \
	}

#define EQUAL COMPARED_EQUAL
#define DIFFERENT COMPARED_DIFFERENT
#define OLDER COMPARED_OLDER
#define NEWER COMPARED_NEWER
#define UNREADABLE COMPARED_UNREADABLE

static const struct row rows[] = {
	{ TEXT(0), "\"a\"", "\"a\"", EQUAL, "the same text" },
	{ TEXT(0), "\"a\"", "\"A\"", DIFFERENT, "case counts" },
	{ TEXT(0), "10", "\"10\"", EQUAL, "texts of a number and a text" },
	{ TEXT(0), "10", "\"10.00\"", DIFFERENT, "as text another spelling differs" },
	{ TEXT(0), "true", "\"true\"", EQUAL, "the word of a bool" },
	{ TEXT(0), "\"x\\u0000y\"", "\"x\"", DIFFERENT, "J02: a NUL does not end the text" },
	{ TEXT(0), "\"x\"", "\"x\\u0000y\"", UNREADABLE, "ours with a NUL" },
	{ TEXT(0), "\"caf\\u00e9\"", "\"cafe\\u0301\"", DIFFERENT, "NFC and NFD without fold" },
	{ TEXT(FOLD_NFC), "\"caf\\u00e9\"", "\"cafe\\u0301\"", EQUAL, "NFC and NFD" },
	{ TEXT(FOLD_NFC), "\"Caf\\u00e9\"", "\"cafe\\u0301\"", DIFFERENT, "nfc leaves case" },
	{ TEXT(FOLD_CASE), "\"CAF\\u00c9\"", "\"cafe\\u0301\"", EQUAL, "case includes nfc" },
	{ TEXT(FOLD_CASE), "\"USD\"", "\"usd\"", EQUAL, "usd" },
	{ TEXT(FOLD_CASE), "\"Stra\\u00dfe\"", "\"STRASSE\"", EQUAL, "sharp s" },
	{ TEXT(FOLD_CASE), "\"\\u1e9e\"", "\"ss\"", EQUAL, "capital sharp s" },
	{ TEXT(FOLD_CASE), "\"\\u03a3\\u03c2\"", "\"\\u03c3\\u03c3\"", EQUAL, "final sigma" },
	{ TEXT(FOLD_CASE), "\"\\u0131\"", "\"i\"", DIFFERENT, "dotless i stays itself" },
	{ TEXT(FOLD_CASE), "\"\\u0130\"", "\"i\"", DIFFERENT, "dotted I keeps its dot" },
	{ TEXT(FOLD_CASE), "\"\\u0130\"", "\"i\\u0307\"", EQUAL, "dotted I is i with a dot" },
	{ TEXT(FOLD_CASE), "\"\\ufb01\"", "\"fi\"", EQUAL, "a ligature" },
	{ TEXT(FOLD_NFC), "\"\\u00b2\"", "\"2\"", DIFFERENT, "no compatibility forms" },
	{ TEXT(FOLD_NFC), "\"\\u212b\"", "\"\\u00c5\"", EQUAL, "Angstrom" },
	{ TEXT(FOLD_SPACE), "\"  a \\t\\n b\\u00a0\"", "\"a b\"", EQUAL, "trimmed and collapsed" },
	{ TEXT(FOLD_SPACE), "\"a\\u2003b\"", "\"a b\"", EQUAL, "an em space" },
	{ TEXT(FOLD_SPACE), "\"ab\"", "\"a b\"", DIFFERENT, "none is not one" },
	{ TEXT(FOLD_SPACE), "\"A b\"", "\"a b\"", DIFFERENT, "space leaves case" },
	{ TEXT(FOLD_CASE | FOLD_SPACE), "\" A  B \"", "\"a b\"", EQUAL, "case and space" },
	{ TEXT(FOLD_SPACE), "\" \"", "\"\\t\"", UNREADABLE, "blank on both sides is empty" },
	{ TEXT(FOLD_SPACE), "\"a\"", "\" \"", UNREADABLE, "blank here" },
	{ TEXT(0), "\" \"", "\" \"", EQUAL, "a blank is a text where it is not folded" },
	{ TEXT(0), "\"\"", "\"\"", UNREADABLE, "empty on both sides" },
	{ TEXT(0), "\"\"", "\"a\"", UNREADABLE, "empty there" },
	{ TEXT(0), "\"a\"", "\"\"", UNREADABLE, "empty here" },
	{ TEXT(0), "null", "\"a\"", UNREADABLE, "null there" },
	{ TEXT(0), "\"a\"", "null", UNREADABLE, "null here" },
	{ TEXT(0), NULL, "\"a\"", UNREADABLE, "absent there" },
	{ TEXT(0), "\"a\"", NULL, UNREADABLE, "absent here" },
	{ TEXT(0), NULL, NULL, UNREADABLE, "absent on both sides" },
	{ TEXT(0), "[\"a\"]", "\"a\"", UNREADABLE, "a list there" },
	{ TEXT(0), "{\"a\":1}", "\"a\"", UNREADABLE, "an object there" },
	{ TEXT(0), "\"a\"", "[\"a\"]", UNREADABLE, "a list here" },

	{ NUMBER(NULL), "9007199254740993", "9007199254740992", DIFFERENT, "J01: beyond 2^53" },
	{ NUMBER(NULL), "0.30000000000000004", "0.30", DIFFERENT, "J01: no double" },
	{ NUMBER(NULL), "\"10.00\"", "10", EQUAL, "J01: 10 and 10.00" },
	{ NUMBER(NULL), "1e2", "100", EQUAL, "J01: 1e2 and 100" },
	{ NUMBER(NULL), "\"15.00\"", "1500", DIFFERENT, "J01: another scale" },
	{ NUMBER(NULL), "30.0", "\"30.00\"", EQUAL, "trailing zeros" },
	{ NUMBER(NULL), "-0", "0", EQUAL, "the sign of zero" },
	{ NUMBER(NULL), "123456789012345678901234567890.1", "123456789012345678901234567890.2",
	  DIFFERENT, "thirty digits" },
	{ NUMBER(NULL), "18446744073709551617", "18446744073709551616", DIFFERENT, "beyond 2^64" },
	{ NUMBER(NULL), "123456789012345678901234567890e-20", "\"1234567890.12345678901234567890\"",
	  EQUAL, "thirty digits, moved" },
	{ NUMBER(NULL), "1e1000", "\"10e999\"", EQUAL, "the largest exponent" },
	{ NUMBER(NULL), "1e-1000", "0", DIFFERENT, "the smallest exponent is not zero" },
	{ NUMBER(NULL), "1e1001", "1e1001", UNREADABLE, "a larger exponent" },
	{ NUMBER(NULL), "1e-1001", "1e-1001", UNREADABLE, "a smaller exponent" },
	{ NUMBER("0.01"), "10.01", "10.00", EQUAL, "at the tolerance" },
	{ NUMBER("0.01"), "10.0101", "10.00", DIFFERENT, "beyond the tolerance" },
	{ NUMBER(NULL), "\"ten\"", "10", UNREADABLE, "no number there" },
	{ NUMBER(NULL), "10", "\"ten\"", UNREADABLE, "no number here" },
	{ NUMBER(NULL), "\" 10\"", "10", UNREADABLE, "white space" },
	{ NUMBER(NULL), "\"1,000\"", "1000", UNREADABLE, "a comma" },
	{ NUMBER(NULL), "1e131072", "1", UNREADABLE, "J02: giant exponent" },
	{ NUMBER(NULL), "true", "1", UNREADABLE, "a bool" },
	{ NUMBER(NULL), "\"1\\u0000\"", "1", UNREADABLE, "a NUL" },
	{ LEAST(COMPARE_NUMBER, 0), "11", "10", EQUAL, "more than asked for" },
	{ LEAST(COMPARE_NUMBER, 0), "10.0", "10", EQUAL, "as much as asked for" },
	{ LEAST(COMPARE_NUMBER, 0), "9.99", "10", DIFFERENT, "less than asked for" },

	{ BOOL, "true", "true", EQUAL, "true" },
	{ BOOL, "1", "true", EQUAL, "1 is true" },
	{ BOOL, "\"0\"", "false", EQUAL, "0 is false" },
	{ BOOL, "false", "true", DIFFERENT, "false is not true" },
	{ BOOL, "\"yes\"", "true", UNREADABLE, "yes is no bool" },
	{ BOOL, "\"True\"", "true", UNREADABLE, "words are lower case" },
	{ BOOL, "true", "2", UNREADABLE, "2 is no bool" },

	{ VERSION(VERSION_INTEGER), "\"10\"", "\"9\"", NEWER, "numbers, not texts" },
	{ VERSION(VERSION_INTEGER), "9", "10", OLDER, "older" },
	{ VERSION(VERSION_INTEGER), "7", "\"7\"", EQUAL, "the same" },
	{ VERSION(VERSION_INTEGER), "7.0", "7", EQUAL, "a whole number" },
	{ VERSION(VERSION_INTEGER), "\"v2\"", "2", UNREADABLE, "v2" },
	{ VERSION(VERSION_INTEGER), "1.5", "1", UNREADABLE, "no whole number" },
	{ VERSION(VERSION_INTEGER), "1", "\"1.2.3\"", UNREADABLE, "ours is dotted" },
	{ VERSION(VERSION_INTEGER), "123456789012345678901", "123456789012345678900", NEWER,
	  "beyond 64 bit" },
	{ VERSION(VERSION_DOTTED), "\"1.10\"", "\"1.9\"", NEWER, "by segments" },
	{ VERSION(VERSION_DOTTED), "\"1.9\"", "\"1.10\"", OLDER, "by segments, older" },
	{ VERSION(VERSION_DOTTED), "\"1.2\"", "\"1.2.0.0\"", EQUAL, "padded with zeros" },
	{ VERSION(VERSION_DOTTED), "\"1.2\"", "\"1.2.0.1\"", OLDER, "padded, and older" },
	{ VERSION(VERSION_DOTTED), "\"1.02\"", "\"1.2\"", EQUAL, "leading zeros" },
	{ VERSION(VERSION_DOTTED), "\"2\"", "\"1.99.99\"", NEWER, "the first segment decides" },
	{ VERSION(VERSION_DOTTED), "\"0.0\"", "\"0\"", EQUAL, "all zeros" },
	{ VERSION(VERSION_DOTTED), "\"99999999999999999999.1\"", "\"99999999999999999998.2\"",
	  NEWER, "long segments" },
	{ VERSION(VERSION_DOTTED), "\"1.2-rc1\"", "\"1.2\"", UNREADABLE, "a suffix" },
	{ VERSION(VERSION_DOTTED), "\"1.\"", "\"1\"", UNREADABLE, "a dot at the end" },
	{ VERSION(VERSION_DOTTED), "\".1\"", "\"1\"", UNREADABLE, "a dot in front" },
	{ VERSION(VERSION_DOTTED), "\"1..2\"", "\"1.2\"", UNREADABLE, "an empty segment" },
	{ VERSION(VERSION_DOTTED), "\"v1.2\"", "\"1.2\"", UNREADABLE, "a letter in front" },
	{ VERSION(VERSION_DOTTED), "\"1.2\"", "\"-1\"", UNREADABLE, "a sign" },
	{ VERSION(VERSION_OPAQUE), "\"\\\"abc\\\"\"", "\"\\\"abc\\\"\"", EQUAL, "the same tag" },
	{ VERSION(VERSION_OPAQUE), "\"abd\"", "\"abc\"", DIFFERENT,
	  "another tag has no direction" },
	{ LEAST(COMPARE_VERSION, VERSION_INTEGER), "8", "7", EQUAL, "at least: newer" },
	{ LEAST(COMPARE_VERSION, VERSION_INTEGER), "6", "7", OLDER, "at least: older" },
	{ LEAST(COMPARE_VERSION, VERSION_DOTTED), "\"1.10\"", "\"1.9\"", EQUAL,
	  "at least: newer by segments" },
};

static const struct value *
member(struct arena *arena, const char *text)
{
	return json(arena, text == NULL ? "{}" : arena_printf(arena, "{\"v\":%s}", text));
}

static void
test_rows(struct arena *arena)
{
	const struct operand expected = { .from = locator(arena, "op./expected/v") };
	struct operation op = operation(arena, NULL);
	struct scene scene = { .arena = arena, .op = &op };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct comparison by = rows[i].by;
		struct compared compared;

		by.found = *locator(arena, "/v");
		by.values = &expected;
		by.count = 1;
		scene.item = member(arena, rows[i].found);
		op.expected = member(arena, rows[i].expected);
		compared = compare_field(&scene, &by);
		tap_str(compare_result_name(compared.result), compare_result_name(rows[i].want),
			rows[i].name);
	}
}

/* "one of", with literals and what the operation says. */
static const struct {
	const char *found;
	const char *options[3]; /* "op." is taken from the operation */
	struct comparison by;
	enum compare_result want;
	const char *expected; /* as shown */
} choices[] = {
	{ "\"PAID\"",
	  { "PAID", "PARTIALLY_REFUNDED" },
	  TEXT(0),
	  EQUAL,
	  "PAID, PARTIALLY_REFUNDED" },
	{ "\"PARTIALLY_REFUNDED\"",
	  { "PAID", "PARTIALLY_REFUNDED" },
	  TEXT(0),
	  EQUAL,
	  "PAID, PARTIALLY_REFUNDED" },
	{ "\"VOID\"",
	  { "PAID", "PARTIALLY_REFUNDED" },
	  TEXT(0),
	  DIFFERENT,
	  "PAID, PARTIALLY_REFUNDED" },
	{ "\"paid\"", { "PAID", "x" }, TEXT(FOLD_CASE), EQUAL, "PAID, x" },
	{ "null", { "PAID" }, TEXT(0), UNREADABLE, "PAID" },
	{ "7", { "op.version", "8" }, TEXT(0), EQUAL, "7, 8" },
	{ "8", { "8", "op.remote_id" }, TEXT(0), UNREADABLE, NULL },
	{ "10.0", { "x", "10" }, NUMBER(NULL), EQUAL, "x, 10" },
	{ "11", { "x", "10" }, NUMBER(NULL), DIFFERENT, "x, 10" },
	{ "11", { "x", "y" }, NUMBER(NULL), UNREADABLE, "x, y" },
	{ "9", { "8", "10" }, VERSION(VERSION_INTEGER), DIFFERENT, "8, 10" },
	{ "9", { "10" }, VERSION(VERSION_INTEGER), OLDER, "10" },
};

static void
test_choices(struct arena *arena)
{
	struct operation op = operation(arena, "{}");
	struct scene scene = { .arena = arena, .op = &op };

	for (size_t i = 0; i < ARRAY_LEN(choices); i++) {
		struct operand values[3] = { 0 };
		struct comparison by = choices[i].by;
		struct compared compared;

		by.found = *locator(arena, "/v");
		by.relation = COMPARE_ONE_OF;
		by.values = values;
		for (; by.count < 3 && choices[i].options[by.count] != NULL; by.count++) {
			const char *text = choices[i].options[by.count];

			if (strncmp(text, "op.", 3) == 0)
				values[by.count].from = locator(arena, text);
			else
				values[by.count].text = text;
		}
		scene.item = member(arena, choices[i].found);
		compared = compare_field(&scene, &by);
		tap_str(compare_result_name(compared.result), compare_result_name(choices[i].want),
			choices[i].found);
		tap_str(compared.expected, choices[i].expected, "expected, as it is shown");
	}
}

static void
test_shown(struct arena *arena)
{
	struct operand expected = { .text = "1" };
	struct comparison by = { .found = *locator(arena, "/v"), .values = &expected, .count = 1 };
	struct scene scene = { .arena = arena, .item = json(arena, "{\"v\":9007199254740993}") };
	struct compared compared = compare_field(&scene, &by);

	tap_str(compared.found, "9007199254740993", "J01: found, exactly");
	tap_str(compared.expected, "1", "expected, exactly");
	tap_ok(compared.by == &by, "by which comparison");
	scene.item = json(arena, "{\"v\":\"x\\u0000y\"}");
	tap_str(compare_field(&scene, &by).found, "x\xef\xbf\xbdy",
		"J02: a NUL is shown as a mark");
	scene.item = json(arena, "{\"v\":[1]}");
	tap_str(compare_field(&scene, &by).found, NULL, "a list has no text");
	by.found = *locator(arena, "/v/*");
	scene.item = json(arena, "{\"v\":[1,1]}");
	tap_str(compare_result_name(compare_field(&scene, &by).result), "unreadable",
		"several values are unreadable");
	scene.item = json(arena, "{\"v\":[{\"k\":\"a\",\"n\":1},{\"k\":\"a\",\"n\":1}]}");
	by.found = *locator(arena, "/v/[k=a]/n");
	tap_str(compare_result_name(compare_field(&scene, &by).result), "unreadable",
		"two selected elements are unreadable");
}

static void
test_names(void)
{
	static const char *const types[] = { "text", "number", "money",	 "time",   "set",
					     "list", "bool",   "digest", "version" };

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		tap_str(compare_type_name((enum compare_type)i), types[i], "type");
}

int
main(void)
{
	struct arena *arena = arena_create();

	test_rows(arena);
	test_choices(arena);
	test_shown(arena);
	test_names();
	arena_destroy(arena);
	return tap_done();
}
