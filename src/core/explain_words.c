/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the policy language as words. Literals are the policy's own and may be shown.
 */
#include "reconciled/core/explain.h"

#include "reconciled/base/arena.h"
#include "reconciled/base/strbuf.h"

static void put_test(struct strbuf *out, const struct test *test);

static const char *
operand_words(const struct operand *operand)
{
	if (operand->from)
		return operand->from->text;
	return operand->text[0] == '\0' ? "\"\"" : operand->text;
}

static void
put_fold(struct strbuf *out, unsigned fold)
{
	static const struct {
		unsigned bit;
		const char *name;
	} bits[] = { { FOLD_CASE, "case" }, { FOLD_NFC, "nfc" }, { FOLD_SPACE, "space" } };
	const char *separator = " (fold ";

	for (size_t i = 0; i < ARRAY_LEN(bits); i++) {
		if (!(fold & bits[i].bit))
			continue;
		strbuf_printf(out, "%s%s", separator, bits[i].name);
		separator = ", ";
	}
	if (fold)
		strbuf_putc(out, ')');
}

/* [one of]: only plain values stand in such a list. */
static void
put_any(struct strbuf *out, const struct test *test)
{
	strbuf_puts(out, "is one of ");
	for (size_t i = 0; i < test->count; i++)
		strbuf_printf(out, "%s%s", i > 0 ? ", " : "",
			      test->children[i].kind == TEST_NULL
				      ? "null"
				      : operand_words(&test->children[i].operand));
}

static void
put_all(struct strbuf *out, const struct test *test)
{
	for (size_t i = 0; i < test->count; i++) {
		if (i > 0)
			strbuf_puts(out, " and ");
		put_test(out, &test->children[i]);
	}
}

static void
put_with_operand(struct strbuf *out, const char *word, const struct test *test)
{
	strbuf_printf(out, "%s %s", word, operand_words(&test->operand));
	put_fold(out, test->fold);
}

static void
put_test(struct strbuf *out, const struct test *test)
{
	switch (test->kind) {
	case TEST_IS:
		put_with_operand(out, "is", test);
		return;
	case TEST_NULL:
		strbuf_puts(out, "is null");
		return;
	case TEST_ANY:
		put_any(out, test);
		return;
	case TEST_ALL:
		put_all(out, test);
		return;
	case TEST_NOT:
		strbuf_puts(out, "no value ");
		put_all(out, test);
		return;
	case TEST_PREFIX:
		put_with_operand(out, "begins with", test);
		return;
	case TEST_PRESENT:
		strbuf_puts(out, "is there");
		return;
	case TEST_ABSENT:
		strbuf_puts(out, "is not there");
		return;
	case TEST_GT:
		put_with_operand(out, ">", test);
		return;
	case TEST_GE:
		put_with_operand(out, ">=", test);
		return;
	case TEST_LT:
		put_with_operand(out, "<", test);
		return;
	case TEST_LE:
		put_with_operand(out, "<=", test);
		return;
	}
}

const char *
explain_test(struct arena *arena, const struct test *test)
{
	struct strbuf words = { 0 };
	const char *text;

	put_test(&words, test);
	text = arena_strdup(arena, strbuf_text(&words));
	strbuf_finish(&words);
	return text;
}
