/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the policy language as words. What an explanation holds is tested where it is shown, in
 * tests/e2e/test_explain.py.
 */
#include "scene.h"

#include "reconciled/core/explain.h"

#define IS(text_) { .kind = TEST_IS, .operand = { .text = (text_) } }

static const struct test two[] = { IS("paid"), { .kind = TEST_NULL } };
static const struct test range[] = {
	{ .kind = TEST_GE, .operand = { .text = "1" } },
	{ .kind = TEST_LT, .operand = { .text = "5" } },
};
static const struct test any = { .kind = TEST_ANY, .children = two, .count = 2 };
static const struct locator version = { .root = LOCATE_OP_FIELD, .text = "op.version" };

static const struct {
	struct test test;
	const char *want;
} cases[] = {
	{ IS("open"), "is open" },
	{ IS(""), "is \"\"" },
	{ { .kind = TEST_IS, .operand = { .from = &version } }, "is op.version" },
	{ { .kind = TEST_IS, .operand = { .text = "a" }, .fold = FOLD_CASE | FOLD_SPACE },
	  "is a (fold case, space)" },
	{ { .kind = TEST_NULL }, "is null" },
	{ { .kind = TEST_ANY, .children = two, .count = 2 }, "is one of paid, null" },
	{ { .kind = TEST_ALL, .children = range, .count = 2 }, ">= 1 and < 5" },
	{ { .kind = TEST_NOT, .children = &any, .count = 1 }, "no value is one of paid, null" },
	{ { .kind = TEST_NOT, .children = two, .count = 1 }, "no value is paid" },
	{ { .kind = TEST_PREFIX, .operand = { .text = "ch_" }, .fold = FOLD_NFC },
	  "begins with ch_ (fold nfc)" },
	{ { .kind = TEST_PRESENT }, "is there" },
	{ { .kind = TEST_ABSENT }, "is not there" },
	{ { .kind = TEST_GT, .operand = { .from = &version } }, "> op.version" },
	{ { .kind = TEST_LE, .operand = { .text = "0.5" } }, "<= 0.5" },
};

int
main(void)
{
	struct arena *arena = arena_create();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		tap_str(explain_test(arena, &cases[i].test), cases[i].want, cases[i].want);
	arena_destroy(arena);
	return tap_done();
}
