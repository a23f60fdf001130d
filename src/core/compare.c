/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares one field. Anything that is not plainly readable, on either side, is unreadable: never
 * equal, never different.
 */
#include "reconciled/core/compare.h"

#include <string.h>

#include "compare_pair.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/core/number.h"
#include "reconciled/core/time.h"
#include "reconciled/core/value.h"

static const char *const result_names[] = {
	[COMPARED_EQUAL] = "equal",	      [COMPARED_DIFFERENT] = "different",
	[COMPARED_OLDER] = "older",	      [COMPARED_NEWER] = "newer",
	[COMPARED_UNREADABLE] = "unreadable",
};

const char *
compare_result_name(enum compare_result result)
{
	return result_names[result];
}

static struct slice
slice_of(const char *text)
{
	return (struct slice){ text, strlen(text) };
}

/* What folding leaves nothing of is as empty as an empty text. */
static enum compare_result
compare_text(const struct pair *pair)
{
	struct arena *arena = pair->scene->arena;
	struct slice found = fold_text(arena, pair->found, pair->by->fold),
		     expected = fold_text(arena, pair->expected, pair->by->fold);

	if (found.len == 0 || expected.len == 0)
		return COMPARED_UNREADABLE;
	return equal_if(slice_equals(found, expected));
}

static bool
is_number(const struct comparison *by, struct slice text)
{
	return number_is_valid(text.text, text.len);
}

static enum compare_result
compare_number(const struct pair *pair)
{
	const char *found = pair->found.text, *expected = pair->expected.text;

	if (!is_number(pair->by, pair->found) || !is_number(pair->by, pair->expected))
		return COMPARED_UNREADABLE;
	return equal_if(
		number_is_near(found, expected, pair->by->tolerance) ||
		(is_lower_bound(pair->by->relation) && number_compare(found, expected) > 0));
}

static enum compare_result
compare_time(const struct pair *pair)
{
	struct moment found, expected;

	if (!time_read(pair->found.text, pair->found.len, pair->by->zone, &found) ||
	    !time_read(pair->expected.text, pair->expected.len, pair->by->zone, &expected))
		return COMPARED_UNREADABLE;
	return equal_if(
		moment_is_near(&found, &expected, pair->by->skew_us) ||
		(is_lower_bound(pair->by->relation) && moment_compare(&found, &expected) > 0));
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
		if (slice_equals(text, slice_of(words[i].text)))
			return words[i].value;
	return -1;
}

static bool
is_bool(const struct comparison *by, struct slice text)
{
	return read_bool(text) >= 0;
}

static enum compare_result
compare_bool(const struct pair *pair)
{
	int found = read_bool(pair->found), expected = read_bool(pair->expected);

	return found < 0 || expected < 0 ? COMPARED_UNREADABLE : equal_if(found == expected);
}

static const struct {
	const char *name;
	bool (*reads)(const struct comparison *by, struct slice expected);
	enum compare_result (*compare)(const struct pair *pair); /* NULL: by elements */
} types[] = {
	[COMPARE_TEXT] = { "text", text_is_readable, compare_text },
	[COMPARE_NUMBER] = { "number", is_number, compare_number },
	[COMPARE_MONEY] = { "money", is_number, compare_money },
	[COMPARE_TIME] = { "time", time_is_readable, compare_time },
	[COMPARE_SET] = { "set", text_is_readable, NULL },
	[COMPARE_LIST] = { "list", text_is_readable, NULL },
	[COMPARE_BOOL] = { "bool", is_bool, compare_bool },
	[COMPARE_DIGEST] = { "digest", digest_is_expected, compare_digest },
	[COMPARE_VERSION] = { "version", version_is_readable, compare_version },
};

const char *
compare_type_name(enum compare_type type)
{
	return types[type].name;
}

bool
compare_reads(const struct comparison *comparison, const char *expected)
{
	return types[comparison->type].reads(comparison, slice_of(expected));
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
		.scene = scene,
		.by = comparison,
		.found = { found->text, found->len },
	};
	bool seen[COMPARED_UNREADABLE + 1] = { false };
	enum compare_result result = COMPARED_UNREADABLE;

	for (size_t i = 0; i < comparison->count; i++) {
		pair.expected = slice_of(texts[i]);
		result = types[comparison->type].compare(&pair);
		seen[result] = true;
	}
	return comparison->count == 1 ? result : combine(seen);
}

static struct compared
compare_scalars(const struct scene *scene, const struct comparison *comparison)
{
	const char **texts = arena_array(scene->arena, const char *, comparison->count);
	const struct value *found = find_scalar(scene, &comparison->found);
	struct compared compared = {
		.by = comparison,
		.result = COMPARED_UNREADABLE,
		.expected = read_expected(scene, comparison, texts),
	};

	if (found != NULL)
		compared.found =
			shown_text(scene->arena, (struct slice){ found->text, found->len });
	if (found != NULL && found->len > 0 && compared.expected != NULL)
		compared.result = compare_all(scene, comparison, found, texts);
	return compared;
}

struct compared
compare_field(const struct scene *scene, const struct comparison *comparison)
{
	if (types[comparison->type].compare == NULL)
		return compare_elements(scene, comparison);
	return compare_scalars(scene, comparison);
}
