/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares one field. Anything that is not plainly readable, on either side, is unreadable: never
 * equal, never different.
 */
#include "reconciled/core/compare.h"

#include <string.h>

#include "fold.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/number.h"
#include "reconciled/core/value.h"

/* Both sides of one comparison. */
struct pair {
	struct arena *arena;
	const struct comparison *by;
	struct slice found, expected;
};

static const char *const type_names[] = {
	[COMPARE_TEXT] = "text", [COMPARE_NUMBER] = "number", [COMPARE_MONEY] = "money",
	[COMPARE_TIME] = "time", [COMPARE_SET] = "set",	      [COMPARE_LIST] = "list",
	[COMPARE_BOOL] = "bool", [COMPARE_DIGEST] = "digest", [COMPARE_VERSION] = "version",
};

static const char *const result_names[] = {
	[COMPARED_EQUAL] = "equal",	      [COMPARED_DIFFERENT] = "different",
	[COMPARED_OLDER] = "older",	      [COMPARED_NEWER] = "newer",
	[COMPARED_UNREADABLE] = "unreadable",
};

const char *
compare_type_name(enum compare_type type)
{
	return type_names[type];
}

const char *
compare_result_name(enum compare_result result)
{
	return result_names[result];
}

static enum compare_result
equal_if(bool equal)
{
	return equal ? COMPARED_EQUAL : COMPARED_DIFFERENT;
}

static enum compare_result
compare_text(const struct pair *pair)
{
	return equal_if(slice_equals(fold_text(pair->arena, pair->found, pair->by->fold),
				     fold_text(pair->arena, pair->expected, pair->by->fold)));
}

static bool
are_numbers(const struct pair *pair)
{
	return number_is_valid(pair->found.text, pair->found.len) &&
	       number_is_valid(pair->expected.text, pair->expected.len);
}

static enum compare_result
compare_number(const struct pair *pair)
{
	const char *tolerance = pair->by->tolerance != NULL ? pair->by->tolerance : "0";
	const char *found = pair->found.text, *expected = pair->expected.text;

	if (!are_numbers(pair))
		return COMPARED_UNREADABLE;
	return equal_if(
		number_is_near(found, expected, tolerance) ||
		(pair->by->relation == COMPARE_AT_LEAST && number_compare(found, expected) > 0));
}

/* 1, 0, or -1 for anything else. */
static int
read_bool(struct slice text)
{
	static const struct {
		const char *text;
		int value;
	} words[] = { { "true", 1 }, { "1", 1 }, { "false", 0 }, { "0", 0 } };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (slice_equals(text, (struct slice){ words[i].text, strlen(words[i].text) }))
			return words[i].value;
	return -1;
}

static enum compare_result
compare_bool(const struct pair *pair)
{
	int found = read_bool(pair->found), expected = read_bool(pair->expected);

	return found < 0 || expected < 0 ? COMPARED_UNREADABLE : equal_if(found == expected);
}

/* Takes the number in front of the next dot; false if there is none. An ended text gives zeros. */
static bool
take_segment(struct slice *rest, struct slice *ret)
{
	const char *dot = memchr(rest->text, '.', rest->len);
	size_t len = dot != NULL ? (size_t)(dot - rest->text) : rest->len, zeros = 0;

	for (size_t i = 0; i < len; i++)
		if (rest->text[i] < '0' || rest->text[i] > '9')
			return false;
	while (zeros < len && rest->text[zeros] == '0')
		zeros++;
	*ret = (struct slice){ rest->text + zeros, len - zeros };
	rest->text += len;
	rest->len -= len;
	if (dot == NULL)
		return len > 0;
	rest->text++;
	rest->len--;
	return len > 0 && rest->len > 0;
}

static bool
is_dotted(struct slice text)
{
	struct slice segment;

	do {
		if (!take_segment(&text, &segment))
			return false;
	} while (text.len > 0);
	return true;
}

static int
order_dotted(struct slice a, struct slice b)
{
	while (a.len > 0 || b.len > 0) {
		struct slice x = { 0 }, y = { 0 };
		int order;

		if (a.len > 0)
			(void)take_segment(&a, &x);
		if (b.len > 0)
			(void)take_segment(&b, &y);
		if (x.len != y.len)
			return x.len < y.len ? -1 : 1;
		order = x.len == 0 ? 0 : memcmp(x.text, y.text, x.len);
		if (order != 0)
			return order;
	}
	return 0;
}

static enum compare_result
result_of_order(const struct pair *pair, int order)
{
	if (order == 0 || (order > 0 && pair->by->relation == COMPARE_AT_LEAST))
		return COMPARED_EQUAL;
	return order > 0 ? COMPARED_NEWER : COMPARED_OLDER;
}

static enum compare_result
compare_integer(const struct pair *pair)
{
	if (!are_numbers(pair) || !number_is_integer(pair->found.text) ||
	    !number_is_integer(pair->expected.text))
		return COMPARED_UNREADABLE;
	return result_of_order(pair, number_compare(pair->found.text, pair->expected.text));
}

static enum compare_result
compare_dotted(const struct pair *pair)
{
	if (!is_dotted(pair->found) || !is_dotted(pair->expected))
		return COMPARED_UNREADABLE;
	return result_of_order(pair, order_dotted(pair->found, pair->expected));
}

static enum compare_result
compare_version(const struct pair *pair)
{
	switch (pair->by->order) {
	case VERSION_INTEGER:
		return compare_integer(pair);
	case VERSION_DOTTED:
		return compare_dotted(pair);
	case VERSION_OPAQUE:
		return equal_if(slice_equals(pair->found, pair->expected));
	case VERSION_TIME:
		return COMPARED_UNREADABLE;
	}
	return COMPARED_UNREADABLE;
}

static enum compare_result
compare_pair(const struct pair *pair)
{
	if (pair->by->relation == COMPARE_NOT_BEFORE)
		return COMPARED_UNREADABLE;
	switch (pair->by->type) {
	case COMPARE_TEXT:
		return compare_text(pair);
	case COMPARE_NUMBER:
		return compare_number(pair);
	case COMPARE_BOOL:
		return compare_bool(pair);
	case COMPARE_VERSION:
		return compare_version(pair);
	case COMPARE_MONEY:
	case COMPARE_TIME:
	case COMPARE_SET:
	case COMPARE_LIST:
	case COMPARE_DIGEST:
		return COMPARED_UNREADABLE;
	}
	return COMPARED_UNREADABLE;
}

/* The one scalar that was found, or NULL. */
static const struct value *
find_scalar(const struct scene *scene, const struct locator *locator)
{
	struct located found = locator_find(scene, locator);

	if (found.several || found.count != 1 || !value_is_scalar(found.values[0]))
		return NULL;
	return found.values[0];
}

/* For people: NUL cannot be part of a C string, a replacement character stands for it. */
static const char *
shown(struct arena *arena, const struct value *value)
{
	CLEANUP(strbuf_finish) struct strbuf out = { 0 };

	if (value == NULL)
		return NULL;
	if (memchr(value->text, '\0', value->len) == NULL)
		return value->text;
	for (size_t i = 0; i < value->len; i++)
		if (value->text[i] == '\0')
			strbuf_puts(&out, "\xef\xbf\xbd");
		else
			strbuf_putc(&out, value->text[i]);
	return arena_strndup(arena, out.data, out.len);
}

/* The expected texts, as they are shown together; NULL if one is missing or empty. */
static const char *
read_expected(const struct scene *scene, const struct comparison *comparison, const char **texts)
{
	const char *all = NULL;

	for (size_t i = 0; i < comparison->count; i++) {
		texts[i] = operand_text(scene, &comparison->values[i]);
		if (texts[i] == NULL || *texts[i] == '\0')
			return NULL;
		all = all == NULL ? texts[i] : arena_printf(scene->arena, "%s, %s", all, texts[i]);
	}
	return all;
}

/* What several results of "one of" amount to. */
static enum compare_result
combine(const bool seen[static COMPARED_UNREADABLE + 1])
{
	if (seen[COMPARED_EQUAL])
		return COMPARED_EQUAL;
	if (seen[COMPARED_DIFFERENT])
		return COMPARED_DIFFERENT;
	return seen[COMPARED_UNREADABLE] ? COMPARED_UNREADABLE : COMPARED_DIFFERENT;
}

static enum compare_result
compare_all(const struct scene *scene, const struct comparison *comparison,
	    const struct value *found, const char *const *texts)
{
	struct pair pair = {
		.arena = scene->arena,
		.by = comparison,
		.found = { found->text, found->len },
	};
	bool seen[COMPARED_UNREADABLE + 1] = { false };
	enum compare_result result = COMPARED_UNREADABLE;

	for (size_t i = 0; i < comparison->count; i++) {
		pair.expected = (struct slice){ texts[i], strlen(texts[i]) };
		result = compare_pair(&pair);
		seen[result] = true;
	}
	return comparison->count == 1 ? result : combine(seen);
}

struct compared
compare_field(const struct scene *scene, const struct comparison *comparison)
{
	const char **texts = arena_array(scene->arena, const char *, comparison->count);
	const struct value *found = find_scalar(scene, &comparison->found);
	struct compared compared = {
		.by = comparison,
		.result = COMPARED_UNREADABLE,
		.expected = read_expected(scene, comparison, texts),
		.found = shown(scene->arena, found),
	};

	if (found != NULL && found->len > 0 && compared.expected != NULL)
		compared.result = compare_all(scene, comparison, found, texts);
	return compared;
}
