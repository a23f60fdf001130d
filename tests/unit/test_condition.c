/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests and conditions: each kind against each sort of value.
 */
#include "reconciled/core/condition.h"
#include "reconciled/core/reading.h"
#include "scene.h"

static const char document[] =
	"{\"state\":\"paid\",\"name\":\"  Stra\xc3\x9f"
	"e  7 \",\"n\":10,\"big\":9007199254740993,\"nil\":null,"
	"\"yes\":true,\"list\":[\"a\",\"b\",5],\"none\":[],\"object\":{},\"blank\":\"\",\"text7\":"
	"\"7\","
	"\"odd\":\"x\\u0000y\",\"twice\":[{\"k\":\"v\",\"s\":1},{\"k\":\"v\",\"s\":2}]}";

#define IS(value)                                                                                  \
	{                                                                                          \
		.kind = TEST_IS, .operand = {.text = (value) }                                     \
	}
#define LIST(...)                                                                                  \
	(const struct test[]){ __VA_ARGS__ },                                                      \
		sizeof((const struct test[]){ __VA_ARGS__ }) / sizeof(struct test)
#define OF(a_kind, ...)                                                                            \
	{                                                                                          \
		a_kind, { NULL, NULL }, 0, LIST(__VA_ARGS__)                                       \
	}
#define NOT(...) OF(TEST_NOT, __VA_ARGS__)
#define PLAIN(a_kind)                                                                              \
	{                                                                                          \
		.kind = (a_kind)                                                                   \
	}
#define WITH(a_kind, value)                                                                        \
	{                                                                                          \
		.kind = (a_kind), .operand = {.text = (value) }                                    \
	}
#define FOLDED(a_kind, value, bits)                                                                \
	{                                                                                          \
		.kind = (a_kind), .operand = { .text = (value) }, .fold = (bits)                   \
	}

static const struct {
	const char *where;
	struct test test;
	bool holds;
	const char *name;
} tests[] = {
	{ "/state", IS("paid"), true, "the same text" },
	{ "/state", IS("Paid"), false, "case counts" },
	{ "/state", IS("pai"), false, "a part is not the whole" },
	{ "/n", IS("10"), true, "a number by its text" },
	{ "/n", IS("10.0"), false, "another spelling of a number" },
	{ "/yes", IS("true"), true, "a bool by its word" },
	{ "/nil", IS("null"), false, "null is no text" },
	{ "/missing", IS("x"), false, "missing is nothing" },
	{ "/list/*", IS("b"), true, "any of the elements" },
	{ "/list", IS("a"), false, "a list is no scalar" },
	{ "/blank", IS(""), true, "an empty literal" },
	{ "/odd", IS("x"), false, "a NUL does not end a text" },
	{ "status", IS("200"), true, "the status" },
	{ "/nil", PLAIN(TEST_NULL), true, "there and null" },
	{ "/missing", PLAIN(TEST_NULL), false, "missing is not null" },
	{ "/state", PLAIN(TEST_NULL), false, "a text is not null" },
	{ "/state", PLAIN(TEST_PRESENT), true, "there" },
	{ "/blank", PLAIN(TEST_PRESENT), true, "there, though empty" },
	{ "/none", PLAIN(TEST_PRESENT), true, "an empty list is there" },
	{ "/object", PLAIN(TEST_PRESENT), true, "an object is there" },
	{ "/nil", PLAIN(TEST_PRESENT), false, "null is not there" },
	{ "/missing", PLAIN(TEST_PRESENT), false, "missing is not there" },
	{ "/none/*", PLAIN(TEST_PRESENT), false, "no elements" },
	{ "/missing", PLAIN(TEST_ABSENT), true, "absent" },
	{ "/nil", PLAIN(TEST_ABSENT), true, "null counts as absent" },
	{ "/state", PLAIN(TEST_ABSENT), false, "not absent" },
	{ "/state", NOT(IS("open")), true, "not: another text" },
	{ "/state", NOT(IS("paid")), false, "not: the same text" },
	{ "/missing", NOT(IS("paid")), true, "not: also for an absent member" },
	{ "/nil", NOT(IS("paid")), true, "not: also for null" },
	{ "/list/*", NOT(IS("b")), false, "not: none of the elements may pass" },
	{ "/list/*", NOT(IS("c")), true, "not: none of the elements passes" },
	{ "/state", NOT(OF(TEST_ANY, IS("open"), IS("paid"))), false, "not: one of" },
	{ "/missing", NOT(PLAIN(TEST_NULL)), true, "not null: missing" },
	{ "/nil", NOT(PLAIN(TEST_NULL)), false, "not null: null" },
	{ "/state", NOT(NOT(IS("paid"))), true, "not not" },
	{ "/state", OF(TEST_ANY, IS("open"), IS("paid")), true, "one of" },
	{ "/state", OF(TEST_ANY, IS("open"), IS("void")), false, "none of" },
	{ "/nil", OF(TEST_ANY, IS("open"), PLAIN(TEST_NULL)), true, "one of, with null" },
	{ "/n", OF(TEST_ALL, WITH(TEST_GE, "1"), WITH(TEST_LT, "11")), true, "between" },
	{ "/n", OF(TEST_ALL, WITH(TEST_GE, "1"), WITH(TEST_LT, "10")), false, "beyond" },
	{ "/state", WITH(TEST_PREFIX, "pa"), true, "prefix" },
	{ "/state", WITH(TEST_PREFIX, "paid"), true, "the whole text is a prefix" },
	{ "/state", WITH(TEST_PREFIX, "paid!"), false, "longer than the text" },
	{ "/state", WITH(TEST_PREFIX, ""), false, "an empty prefix matches nothing" },
	{ "/state", FOLDED(TEST_PREFIX, "PA", FOLD_CASE), true, "prefix without case" },
	{ "/missing", WITH(TEST_PREFIX, "pa"), false, "prefix of nothing" },
	{ "/n", WITH(TEST_GT, "9"), true, "numbers, not texts: 10 > 9" },
	{ "/n", WITH(TEST_GT, "10"), false, "not greater than itself" },
	{ "/n", WITH(TEST_GE, "1e1"), true, "another spelling" },
	{ "/n", WITH(TEST_LT, "10.5"), true, "less" },
	{ "/n", WITH(TEST_LE, "9"), false, "not less" },
	{ "/n", WITH(TEST_LE, "10"), true, "at most itself" },
	{ "/big", WITH(TEST_GT, "9007199254740992"), true, "beyond 2^53, exactly" },
	{ "/big", WITH(TEST_LE, "9007199254740992"), false, "beyond 2^53, exactly (2)" },
	{ "/text7", WITH(TEST_GE, "7"), true, "a text that is a number" },
	{ "/state", WITH(TEST_GT, "0"), false, "a text that is none" },
	{ "/yes", WITH(TEST_GE, "0"), false, "a bool is no number" },
	{ "/n", WITH(TEST_GE, "x"), false, "compared with no number" },
	{ "/list/*", WITH(TEST_GE, "5"), true, "any of the elements that is a number" },
	{ "/name", FOLDED(TEST_IS, "strasse 7", FOLD_CASE | FOLD_SPACE), true, "case and space" },
	{ "/name",
	  FOLDED(TEST_IS,
		 "Stra\xc3\x9f"
		 "e 7",
		 FOLD_SPACE),
	  true, "space only" },
	{ "/name", FOLDED(TEST_IS, "strasse 7", FOLD_CASE), false, "case only" },
	{ "/twice/[k=v]/s", IS("1"), false, "two matches are unreadable" },
	{ "/twice/[k=v]/s", PLAIN(TEST_PRESENT), false, "two matches are not there either" },
};

static void
test_kinds(const struct scene *scene)
{
	for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
		struct located found = locator_find(scene, locator(scene->arena, tests[i].where));

		tap_ok(test_holds(scene, &found, &tests[i].test) == tests[i].holds, "%s: %s",
		       tests[i].where, tests[i].name);
	}
}

/* Values taken from the operation. */
static const struct {
	const char *where, *from;
	enum test_kind kind;
	bool holds;
	const char *name;
} operands[] = {
	{ "/text7", "op.version", TEST_IS, true, "the version" },
	{ "/n", "op.version", TEST_GT, true, "greater than the version" },
	{ "/state", "op./expected/state", TEST_IS, true, "an expected text" },
	{ "/n", "op./expected/n", TEST_IS, true, "an expected number" },
	{ "/yes", "op./expected/yes", TEST_IS, true, "an expected bool" },
	{ "/blank", "op.remote_id", TEST_IS, false, "an empty field passes no test" },
	{ "/blank", "op./expected/blank", TEST_IS, false, "an empty expected text passes no test" },
	{ "/state", "op.remote_id", TEST_PREFIX, false, "an empty field is no prefix" },
	{ "/n", "op.remote_id", TEST_GE, false, "an empty field is no number" },
	{ "/state", "op./expected/missing", TEST_IS, false, "a missing one passes no test" },
	{ "/nil", "op./expected/nil", TEST_IS, false, "null passes no test" },
	{ "/list/*", "op./expected/list", TEST_IS, false, "a list passes no test" },
	{ "/list/*", "op./expected/list/*", TEST_IS, false, "several pass no test" },
	{ "/odd", "op./expected/odd", TEST_IS, false, "with NUL it passes no test" },
};

static void
test_operands(const struct scene *scene)
{
	for (size_t i = 0; i < ARRAY_LEN(operands); i++) {
		struct test test = {
			.kind = operands[i].kind,
			.operand = { .from = locator(scene->arena, operands[i].from) },
		};
		struct located found =
			locator_find(scene, locator(scene->arena, operands[i].where));

		tap_ok(test_holds(scene, &found, &test) == operands[i].holds, "%s against %s: %s",
		       operands[i].where, operands[i].from, operands[i].name);
	}
}

static struct condition_row
row(const struct scene *scene, const char *where, struct test test)
{
	return (struct condition_row){ *locator(scene->arena, where), test };
}

static void
test_conditions(const struct scene *scene)
{
	struct condition_row rows[] = {
		row(scene, "status", (struct test)IS("200")),
		row(scene, "/state", (struct test)IS("paid")),
		row(scene, "/state", (struct test)IS("open")),
	};
	struct condition all[] = { { rows, 2 }, { rows, 3 }, { NULL, 0 } };
	struct conditions any = { all, 2 };
	struct condition_row empty =
		row(scene, "op./expected/blank", (struct test)PLAIN(TEST_PRESENT));
	struct condition_row field = row(scene, "op.remote_id", (struct test)PLAIN(TEST_PRESENT));

	tap_ok(condition_holds(scene, &all[0]), "all rows hold");
	tap_ok(!condition_holds(scene, &all[1]), "one row does not hold");
	tap_ok(condition_holds(scene, &all[2]), "without rows it holds");
	tap_ok(conditions_hold(scene, &any), "any condition holds");
	any.any = &all[1];
	any.count = 1;
	tap_ok(!conditions_hold(scene, &any), "no condition holds");
	any.count = 0;
	tap_ok(!conditions_hold(scene, &any), "without conditions it never holds");
	tap_ok(!condition_holds(scene, &(struct condition){ &empty, 1 }),
	       "an empty expected text is not there");
	tap_ok(!condition_holds(scene, &(struct condition){ &field, 1 }),
	       "an empty field is not there");
}

int
main(void)
{
	struct arena *arena = arena_create();
	struct operation op = operation(
		arena, "{\"state\":\"paid\",\"n\":10,\"yes\":true,\"blank\":\"\",\"nil\":null,"
		       "\"list\":[\"a\",\"b\"],\"odd\":\"x\\u0000y\"}");
	struct response response = {
		.fault = REASON_COUNT,
		.status = 200,
		.parsed = json(arena, document),
	};
	struct scene scene = { .arena = arena, .op = &op, .response = &response };

	test_kinds(&scene);
	test_operands(&scene);
	test_conditions(&scene);
	arena_destroy(arena);
	return tap_done();
}
