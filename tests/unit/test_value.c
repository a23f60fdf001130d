/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading JSON exactly: what is kept to the last digit, and what is refused.
 */
#include <stdlib.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/value.h"
#include "tap.h"

static void
dump_text(struct strbuf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\0')
			strbuf_puts(out, "<NUL>");
		else
			strbuf_putc(out, text[i]);
}

/* One letter for the kind, then the text; members as name=. */
static void
dump(struct strbuf *out, const struct value *value)
{
	strbuf_putc(out, "0bntlo"[value->kind]);
	if (value_is_scalar(value)) {
		strbuf_putc(out, ':');
		dump_text(out, value->text, value->len);
	}
	if (value->kind != VALUE_LIST && value->kind != VALUE_OBJECT)
		return;
	strbuf_printf(out, "%u(", value->count);
	for (const struct value *child = value->first; child != NULL; child = child->next) {
		if (child->name != NULL) {
			dump_text(out, child->name, child->name_len);
			strbuf_putc(out, '=');
		}
		dump(out, child);
		strbuf_putc(out, child->next != NULL ? ' ' : ')');
	}
	if (value->count == 0)
		strbuf_putc(out, ')');
}

#define BYTES(text) text, sizeof(text) - 1

static const struct {
	const char *name, *bytes;
	size_t len;
	const char *want;
} readable[] = {
	{ "object", BYTES("{\"a\":1,\"b\":[true,false,null,\"x\"]}"),
	  "o2(a=n:1 b=l4(b:true b:false 0 t:x))" },
	{ "scalar at the top", BYTES("7"), "n:7" },
	{ "white space around", BYTES(" \t\r\n[ ]\n"), "l0()" },
	{ "empty containers", BYTES("[{},[]]"), "l2(o0() l0())" },
	{ "J01: beyond 2^53, one apart", BYTES("[9007199254740992,9007199254740993]"),
	  "l2(n:9007199254740992 n:9007199254740993)" },
	{ "J01: decimals as written", BYTES("[0.30,0.30000000000000004,1e2,1.50E+3,-0]"),
	  "l5(n:0.30 n:0.30000000000000004 n:1e2 n:1.50E+3 n:-0)" },
	{ "J01: number and text stay apart", BYTES("[10,\"10.00\"]"), "l2(n:10 t:10.00)" },
	{ "J02: NUL in a text", BYTES("{\"n\":\"x\\u0000y\"}"), "o1(n=t:x<NUL>y)" },
	{ "NUL in a name", BYTES("{\"a\\u0000\":1,\"a\":2}"), "o2(a<NUL>=n:1 a=n:2)" },
	{ "J02: a surrogate pair", BYTES("{\"n\":\"\\ud83d\\ude00\"}"),
	  "o1(n=t:\xf0\x9f\x98\x80)" },
	{ "surrogate pair, capitals", BYTES("\"\\uD83D\\uDE00\""), "t:\xf0\x9f\x98\x80" },
	{ "J02: giant exponent", BYTES("{\"n\":1e131072}"), "o1(n=n:1e131072)" },
	{ "J02: byte order mark", BYTES("\xef\xbb\xbf{\"a\":1}"), "o1(a=n:1)" },
	{ "escaped backslash before u", BYTES("\"\\\\ud800\""), "t:\\ud800" },
	{ "all escapes", BYTES("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\""),
	  "t:\"\\/\b\f\n\r\t\xc3\xa9" },
	{ "UTF-8 of each length", BYTES("\"\xc3\x9f\xe2\x82\xac\xf0\x9f\x98\x80\""),
	  "t:\xc3\x9f\xe2\x82\xac\xf0\x9f\x98\x80" },
	{ "empty name and text", BYTES("{\"\":\"\"}"), "o1(=t:)" },
	{ "same name at different levels", BYTES("{\"a\":{\"a\":1}}"), "o1(a=o1(a=n:1))" },
};

static const struct {
	const char *name, *bytes;
	size_t len;
	enum value_fault want;
} refused[] = {
	{ "nothing", BYTES(""), VALUE_EMPTY },
	{ "white space only", BYTES(" \r\n\t"), VALUE_EMPTY },
	{ "byte order mark only", BYTES("\xef\xbb\xbf"), VALUE_EMPTY },
	{ "HTML", BYTES("<html>not found</html>"), VALUE_NOT_JSON },
	{ "truncated object", BYTES("{\"a\":1"), VALUE_NOT_JSON },
	{ "truncated text", BYTES("\"abc"), VALUE_NOT_JSON },
	{ "truncated escape", BYTES("\"abc\\"), VALUE_NOT_JSON },
	{ "anything after the value", BYTES("{} {}"), VALUE_NOT_JSON },
	{ "NUL after the value", BYTES("{}\0"), VALUE_NOT_JSON },
	{ "NUL only", BYTES("\0"), VALUE_NOT_JSON },
	{ "duplicate member", BYTES("{\"a\":1,\"a\":1}"), VALUE_NOT_JSON },
	{ "duplicate member by escape", BYTES("{\"a\":1,\"\\u0061\":2}"), VALUE_NOT_JSON },
	{ "duplicate member inside", BYTES("[{\"b\":{\"a\":1,\"c\":2,\"a\":3}}]"), VALUE_NOT_JSON },
	{ "J02: lone high surrogate", BYTES("{\"n\":\"\\ud800\"}"), VALUE_NOT_JSON },
	{ "lone low surrogate", BYTES("\"\\udc00\""), VALUE_NOT_JSON },
	{ "high surrogate before another escape", BYTES("\"\\ud800\\u0041\""), VALUE_NOT_JSON },
	{ "high surrogate before a letter", BYTES("\"\\ud800A\""), VALUE_NOT_JSON },
	{ "high surrogate twice", BYTES("\"\\ud800\\ud800\\udc00\""), VALUE_NOT_JSON },
	{ "lone surrogate in a name", BYTES("{\"\\udfff\":1}"), VALUE_NOT_JSON },
	{ "J02: invalid UTF-8", BYTES("\"\xff\""), VALUE_NOT_JSON },
	{ "overlong UTF-8", BYTES("\"\xc0\x80\""), VALUE_NOT_JSON },
	{ "surrogate in UTF-8", BYTES("\"\xed\xa0\x80\""), VALUE_NOT_JSON },
	{ "beyond Unicode", BYTES("\"\xf4\x90\x80\x80\""), VALUE_NOT_JSON },
	{ "UTF-8 cut off", BYTES("\"\xe2\x82"), VALUE_NOT_JSON },
	{ "UTF-16", BYTES("\xff\xfe{\0}\0"), VALUE_NOT_JSON },
	{ "NaN", BYTES("NaN"), VALUE_NOT_JSON },
	{ "Infinity", BYTES("[-Infinity]"), VALUE_NOT_JSON },
	{ "leading zero", BYTES("01"), VALUE_NOT_JSON },
	{ "leading plus", BYTES("+1"), VALUE_NOT_JSON },
	{ "no digits after the point", BYTES("[1.]"), VALUE_NOT_JSON },
	{ "no digits before the point", BYTES("[.5]"), VALUE_NOT_JSON },
	{ "no digits in the exponent", BYTES("[1e]"), VALUE_NOT_JSON },
	{ "comment", BYTES("[1] // one"), VALUE_NOT_JSON },
	{ "comma at the end", BYTES("[1,]"), VALUE_NOT_JSON },
	{ "single quotes", BYTES("{'a':1}"), VALUE_NOT_JSON },
	{ "control character in a text", BYTES("\"a\nb\""), VALUE_NOT_JSON },
	{ "unknown escape", BYTES("\"\\x41\""), VALUE_NOT_JSON },
	{ "second byte order mark", BYTES("\xef\xbb\xbf\xef\xbb\xbf{}"), VALUE_NOT_JSON },
};

static void
test_readable(struct arena *arena)
{
	for (size_t i = 0; i < ARRAY_LEN(readable); i++) {
		struct strbuf out = { 0 };
		const struct value *value = NULL;

		arena_reset(arena);
		if (value_read_json(arena, readable[i].bytes, readable[i].len, &value) == VALUE_OK)
			dump(&out, value);
		tap_str(strbuf_text(&out), readable[i].want, readable[i].name);
		strbuf_finish(&out);
	}
}

static void
test_refused(struct arena *arena)
{
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		const struct value *untouched = NULL;

		arena_reset(arena);
		tap_int(value_read_json(arena, refused[i].bytes, refused[i].len, &untouched),
			refused[i].want, refused[i].name);
		tap_ok(untouched == NULL, "%s: nothing is returned", refused[i].name);
	}
}

/* n opening brackets, and as many closing ones. */
static enum value_fault
read_nested(struct arena *arena, size_t n)
{
	struct strbuf out = { 0 };
	const struct value *value;
	enum value_fault fault;

	for (size_t i = 0; i < n; i++)
		strbuf_putc(&out, '[');
	for (size_t i = 0; i < n; i++)
		strbuf_putc(&out, ']');
	fault = value_read_json(arena, out.data, out.len, &value);
	strbuf_finish(&out);
	return fault;
}

static void
test_depth(struct arena *arena)
{
	const struct value *value;
	char *open = malloc(100000);

	memset(open, '[', 100000);
	tap_int(value_read_json(arena, open, 100000, &value), VALUE_TOO_DEEP,
		"H02: 100,000 opening brackets");
	free(open);
	tap_int(read_nested(arena, VALUE_DEPTH_MAX), VALUE_OK, "the deepest that is allowed");
	tap_int(read_nested(arena, VALUE_DEPTH_MAX + 1), VALUE_TOO_DEEP, "one level more");
}

/* An object of n members; the last one is named like the member at index twin. */
static enum value_fault
read_wide(struct arena *arena, int n, int twin)
{
	struct strbuf out = { 0 };
	const struct value *value;
	enum value_fault fault;

	for (int i = 0; i < n; i++)
		strbuf_printf(&out, "%c\"m%d\":%d", i == 0 ? '{' : ',',
			      i == n - 1 && twin >= 0 ? twin : i, i);
	strbuf_putc(&out, '}');
	fault = value_read_json(arena, out.data, out.len, &value);
	strbuf_finish(&out);
	return fault;
}

/* The list itself and so many elements. */
static enum value_fault
read_long(struct arena *arena, size_t elements)
{
	struct strbuf out = { 0 };
	const struct value *value;
	enum value_fault fault;

	for (size_t i = 0; i < elements; i++)
		strbuf_puts(&out, i == 0 ? "[1" : ",1");
	strbuf_putc(&out, ']');
	fault = value_read_json(arena, out.data, out.len, &value);
	strbuf_finish(&out);
	return fault;
}

static void
test_wide(struct arena *arena)
{
	char *text = malloc(10 << 20);
	const struct value *value = NULL;

	tap_int(read_wide(arena, 100000, -1), VALUE_OK, "100,000 members");
	tap_int(read_wide(arena, 100000, 4711), VALUE_NOT_JSON, "one of 100,000 members twice");
	tap_int(read_wide(arena, 16, 0), VALUE_NOT_JSON, "one of 16 members twice");
	tap_int(read_wide(arena, 17, 0), VALUE_NOT_JSON, "one of 17 members twice");
	tap_int(read_long(arena, VALUE_NODES_MAX - 1), VALUE_OK, "as many values as are allowed");
	tap_int(read_long(arena, VALUE_NODES_MAX), VALUE_TOO_LARGE, "one value more");
	arena_reset(arena);
	memset(text, 'a', 10 << 20);
	text[0] = text[(10 << 20) - 1] = '"';
	tap_int(value_read_json(arena, text, 10 << 20, &value), VALUE_OK, "H02: one text of 10 MB");
	tap_ok(value->len == (10 << 20) - 2, "H02: all of it");
	free(text);
}

static const struct {
	const char *name, *a, *b;
	bool equal;
} pairs[] = {
	{ "members in another order", "{\"a\":1,\"b\":[2]}", "{\"b\":[2],\"a\":1}", true },
	{ "elements in another order", "[1,2]", "[2,1]", false },
	{ "another spelling of a number", "1", "1.0", false },
	{ "number and text", "1", "\"1\"", false },
	{ "null and absent", "{\"a\":1,\"b\":null}", "{\"a\":1}", false },
	{ "another name", "{\"a\":1}", "{\"b\":1}", false },
	{ "null", "null", "null", true },
	{ "empty texts", "\"\"", "\"\"", true },
	{ "deep", "[[{\"x\":[true]}]]", "[[{\"x\":[true]}]]", true },
	{ "deep difference", "[[{\"x\":[true]}]]", "[[{\"x\":[false]}]]", false },
};

static void
test_equal(struct arena *arena)
{
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		const struct value *a, *b;

		if (value_read_json(arena, pairs[i].a, strlen(pairs[i].a), &a) == VALUE_OK &&
		    value_read_json(arena, pairs[i].b, strlen(pairs[i].b), &b) == VALUE_OK)
			tap_ok(value_equal(a, b) == pairs[i].equal, "equal: %s", pairs[i].name);
	}
}

static void
test_build(struct arena *arena)
{
	struct value *row = value_create(arena, VALUE_OBJECT, NULL, 0);
	char name[] = "Name", text[] = "caf\xc3\xa9";
	const struct value *found;

	value_append(arena, row, name, 4, value_create(arena, VALUE_TEXT, text, 5));
	value_append(arena, row, "n", 1, value_create(arena, VALUE_NUMBER, "12345", 2));
	memset(name, '-', 4);
	memset(text, '-', 5);
	found = value_member(row, "Name", 4);
	tap_str(found == NULL ? NULL : found->text, "caf\xc3\xa9", "texts are copied");
	found = value_member(row, "n", 1);
	tap_str(found == NULL ? NULL : found->text, "12", "only len bytes are taken");
	tap_ok(value_member(row, "name", 4) == NULL, "names are compared as bytes");
	tap_ok(value_member(found, "n", 1) == NULL, "a scalar has no members");
	tap_int(row->count, 2, "members are counted");
	tap_str(value_kind_name(VALUE_OBJECT), "object", "kinds have names");
}

int
main(void)
{
	struct arena *arena = arena_create();

	test_readable(arena);
	test_refused(arena);
	test_depth(arena);
	test_wide(arena);
	test_equal(arena);
	test_build(arena);
	arena_destroy(arena);
	return tap_done();
}
