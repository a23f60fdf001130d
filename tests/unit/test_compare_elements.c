/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets and lists: where their elements come from, what is the same, what cannot be read.
 */
#include "compare_case.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/exchange.h"

#define SET COMPARE_SET
#define LIST COMPARE_LIST

static const struct {
	enum compare_type type;
	const char *found, *item, *expected;
	enum compare_result want;
	const char *name;
} rows[] = {
	{ SET, "/v", "{\"v\":[\"a\",\"b\"]}", "[\"b\",\"a\"]", EQUAL, "order is ignored" },
	{ LIST, "/v", "{\"v\":[\"a\",\"b\"]}", "[\"b\",\"a\"]", DIFFERENT, "order counts" },
	{ LIST, "/v", "{\"v\":[\"a\",\"b\"]}", "[\"a\",\"b\"]", EQUAL, "the same list" },
	{ SET, "/v", "{\"v\":[\"a\",\"a\"]}", "[\"a\"]", DIFFERENT, "repetition counts" },
	{ SET, "/v", "{\"v\":[\"a\",\"a\",\"b\"]}", "[\"a\",\"b\",\"b\"]", DIFFERENT,
	  "another one is repeated" },
	{ SET, "/v", "{\"v\":[\"b\",\"a\",\"b\"]}", "[\"b\",\"b\",\"a\"]", EQUAL,
	  "the same one is repeated" },
	{ SET, "/v", "{\"v\":[]}", "[]", EQUAL, "empty on both sides" },
	{ LIST, "/v", "{\"v\":[]}", "[]", EQUAL, "empty lists" },
	{ SET, "/v", "{\"v\":[]}", "[\"a\"]", DIFFERENT, "empty there" },
	{ SET, "/v", "{\"v\":[\"a\"]}", "[]", DIFFERENT, "empty here" },
	{ SET, "/v", "{\"v\":[1,true,\"x\"]}", "[\"true\",\"1\",\"x\"]", EQUAL,
	  "texts of scalars" },
	{ SET, "/v", "{\"v\":[1]}", "[1.0]", DIFFERENT, "elements are texts" },
	{ SET, "/v", "{\"v\":[\"a\"]}", "[\"A\"]", DIFFERENT, "case counts" },
	{ SET, "/v", "{\"v\":[\"ab\",\"c\"]}", "[\"a\",\"bc\"]", DIFFERENT, "where they are cut" },
	{ SET, "/v", "{\"v\":[\"a, b\"]}", "[\"a\",\"b\"]", DIFFERENT, "a comma cuts nothing" },
	{ SET, "/v", "{\"v\":[\"a\\u0000\"]}", "[\"a\"]", DIFFERENT, "a NUL does not end a text" },
	{ SET, "/v", "{\"v\":[\"\",\"a\"]}", "[\"a\",\"\"]", EQUAL, "an empty element" },

	{ SET, "/l/*/s", "{\"l\":[{\"s\":\"a\"},{\"s\":\"b\"}]}", "[\"b\",\"a\"]", EQUAL,
	  "members of elements" },
	{ SET, "/l/*/s", "{\"l\":[{\"s\":\"a\"}]}", "[\"a\"]", EQUAL, "of one element" },
	{ SET, "/l/*/s", "{\"l\":{\"s\":\"a\"}}", "[\"a\"]", EQUAL, "of one that is no list" },
	{ SET, "/l/*/s", "{\"l\":[]}", "[]", EQUAL, "of no element" },
	{ SET, "/l/*/s/*", "{\"l\":[{\"s\":[\"a\",\"b\"]},{\"s\":[\"c\"]}]}", "[\"a\",\"b\",\"c\"]",
	  EQUAL, "lists of elements" },
	{ SET, "/v/*", "{\"v\":\"a\"}", "[\"a\"]", EQUAL, "one text is a list of one" },
	{ SET, "/v/*", "{\"v\":[\"b\",\"a\"]}", "[\"a\",\"b\"]", EQUAL, "every element" },
	{ SET, "/v", "{\"v\":\"a\"}", "[\"a\"]", UNREADABLE, "one text is no list" },
	{ SET, "/l/*/s", "{\"l\":[{\"s\":\"a\"},{}]}", "[\"a\"]", UNREADABLE,
	  "an element without its member" },
	{ SET, "/l/*/s", "{\"l\":[{\"s\":\"a\"},{\"s\":null}]}", "[\"a\"]", UNREADABLE,
	  "null in an element" },
	{ SET, "/l/*/s", "{\"l\":[{},{}]}", "[]", UNREADABLE, "no element has the member" },
	{ SET, "/l/*/s", "{\"l\":[{\"s\":[\"a\"]},{\"s\":[\"b\"]}]}", "[\"a\",\"b\"]", UNREADABLE,
	  "lists are no elements" },
	{ SET, "/l/*/s", "{}", "[]", UNREADABLE, "no list at all" },
	{ SET, "/l/[k=1]/s/*", "{\"l\":[{\"k\":1,\"s\":[\"a\"]},{\"k\":1,\"s\":[\"a\"]}]}",
	  "[\"a\"]", UNREADABLE, "two that were to be one" },

	{ SET, "/v", "{\"v\":null}", "[]", UNREADABLE, "null is no empty list" },
	{ SET, "/v/*", "{\"v\":null}", "[]", UNREADABLE, "nor has it elements" },
	{ SET, "/v", "{}", "[]", UNREADABLE, "absent is no empty list" },
	{ SET, "/v", "{\"v\":{}}", "[]", UNREADABLE, "an object" },
	{ SET, "/v", "{\"v\":\"\"}", "[]", UNREADABLE, "an empty text" },
	{ SET, "/v", "{\"v\":[null]}", "[\"null\"]", UNREADABLE, "null is no element" },
	{ SET, "/v", "{\"v\":[[\"a\"]]}", "[\"a\"]", UNREADABLE, "a list in it" },
	{ SET, "/v", "{\"v\":[{\"a\":1}]}", "[1]", UNREADABLE, "an object in it" },
	{ SET, "/v", "{\"v\":[\"a\"]}", "null", UNREADABLE, "ours is null" },
	{ SET, "/v", "{\"v\":[\"a\"]}", NULL, UNREADABLE, "ours is absent" },
	{ SET, "/v", "{\"v\":[\"a\"]}", "\"a\"", UNREADABLE, "ours is a text" },
	{ SET, "/v", "{\"v\":[\"a\"]}", "{\"a\":1}", UNREADABLE, "ours is an object" },
	{ SET, "/v", "{\"v\":[\"a\"]}", "[null]", UNREADABLE, "null in ours" },
	{ SET, "/v", "{\"v\":[\"a\"]}", "[[\"a\"]]", UNREADABLE, "a list in ours" },
};

static void
test_rows(struct arena *arena)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct compared compared =
			case_compare(arena, (struct comparison){ .type = rows[i].type },
				     rows[i].found, rows[i].item, rows[i].expected);

		case_check(&compared, rows[i].want, rows[i].name);
	}
}

static void
test_shown(struct arena *arena)
{
	struct comparison by = { .type = COMPARE_SET };
	struct compared compared =
		case_compare(arena, by, "/v", "{\"v\":[\"b\",\"a\\u0000c\",1]}", "[\"a\"]");

	tap_str(compared.found,
		"[b, a\xef\xbf\xbd"
		"c, 1]",
		"found, in its order");
	tap_str(compared.expected, "[a]", "expected");
	compared = case_compare(arena, by, "/v", "{\"v\":[]}", "[[]]");
	tap_str(compared.found, "[]", "an empty one");
	tap_str(compared.expected, NULL, "what cannot be read");
}

/* What the policy itself lists. */
static void
test_listed(struct arena *arena)
{
	const struct operand values[] = { { .text = "b" },
					  { .from = locator(arena, "op.version") } };
	const struct operand lacking[] = { { .text = "b" },
					   { .from = locator(arena, "op.remote_id") } };
	struct operation op = operation(arena, "{\"l\":[{\"s\":\"7\"},{\"s\":\"b\"}],\"m\":[{}]}");
	struct scene scene = { .arena = arena,
			       .op = &op,
			       .item = json(arena, "{\"v\":[7,\"b\"]}") };
	struct operand many = { .from = locator(arena, "op./expected/l/*/s") };
	struct comparison by = {
		.type = COMPARE_SET,
		.found = *locator(arena, "/v"),
		.values = values,
		.count = 2,
		.listed = true,
	};
	struct compared compared = compare_field(&scene, &by);

	case_check(&compared, EQUAL, "texts and fields of the operation");
	tap_str(compared.expected, "[b, 7]", "as they are listed");
	by.type = COMPARE_LIST;
	compared = compare_field(&scene, &by);
	case_check(&compared, DIFFERENT, "in another order");
	by.values = lacking;
	compared = compare_field(&scene, &by);
	case_check(&compared, UNREADABLE, "a field that is empty");
	by.count = 0;
	compared = compare_field(&scene, &by);
	case_check(&compared, DIFFERENT, "an empty list is expected");
	scene.item = json(arena, "{\"v\":[]}");
	compared = compare_field(&scene, &by);
	case_check(&compared, EQUAL, "and is there");
	scene.item = json(arena, "{\"v\":[7,\"b\"]}");
	by = (struct comparison){
		.type = COMPARE_SET, .found = by.found, .values = &many, .count = 1
	};
	compared = compare_field(&scene, &by);
	case_check(&compared, EQUAL, "many values of the operation");
	many.from = locator(arena, "op./expected/m/*/s");
	compared = compare_field(&scene, &by);
	case_check(&compared, UNREADABLE, "values that the operation lacks");
}

/* A target may repeat a header. */
static void
test_headers(struct arena *arena)
{
	static const struct header headers[] = { { "x-tag", "b" },
						 { "x-tag", "a" },
						 { "x-one", "a" } };
	struct response response = { .fault = REASON_COUNT,
				     .headers = headers,
				     .headers_count = 3 };
	struct operation op = operation(arena, "{\"v\":[\"a\",\"b\"],\"w\":[\"a\"]}");
	struct scene scene = { .arena = arena, .op = &op, .response = &response };
	struct operand ours = { .from = locator(arena, "op./expected/v") };
	struct comparison by = {
		.type = COMPARE_SET,
		.found = *locator(arena, "header.X-Tag"),
		.values = &ours,
		.count = 1,
	};
	struct compared compared = compare_field(&scene, &by);

	case_check(&compared, EQUAL, "headers of one name");
	by.found = *locator(arena, "header.X-One");
	ours.from = locator(arena, "op./expected/w");
	compared = compare_field(&scene, &by);
	case_check(&compared, EQUAL, "one header");
	by.found = *locator(arena, "header.X-None");
	compared = compare_field(&scene, &by);
	case_check(&compared, UNREADABLE, "no header");
}

static void
test_many(struct arena *arena)
{
	enum { COUNT = 20000 };
	struct strbuf up = { 0 }, down = { 0 };
	struct compared compared;

	for (int i = 0; i < COUNT; i++) {
		strbuf_printf(&up, "%s%d", i > 0 ? "," : "", i);
		strbuf_printf(&down, "%s%d", i > 0 ? "," : "", COUNT - 1 - i);
	}
	compared = case_compare(arena, (struct comparison){ .type = COMPARE_SET }, "/v",
				arena_printf(arena, "{\"v\":[%s]}", strbuf_text(&up)),
				arena_printf(arena, "[%s]", strbuf_text(&down)));
	case_check(&compared, EQUAL, "twenty thousand elements");
	strbuf_finish(&up);
	strbuf_finish(&down);
}

int
main(void)
{
	struct arena *arena = arena_create();

	test_rows(arena);
	test_shown(arena);
	test_listed(arena);
	test_headers(arena);
	test_many(arena);
	arena_destroy(arena);
	return tap_done();
}
