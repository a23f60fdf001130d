/* SPDX-License-Identifier: Apache-2.0
 *
 * Folding with the tables of utf8proc: full case folding (no language's own rules), NFC, white
 * space.
 */
#include "fold.h"

#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "reconciled/base/arena.h"
#include "reconciled/core/condition.h"

static bool
is_ascii(struct slice text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.text[i] >= 0x80)
			return false;
	return true;
}

const char *
lower_ascii(struct arena *arena, const char *text, size_t len)
{
	char *copy = arena_strndup(arena, text, len);

	for (size_t i = 0; i < len; i++)
		if (copy[i] >= 'A' && copy[i] <= 'Z')
			copy[i] = (char)(copy[i] + ('a' - 'A'));
	return copy;
}

static struct slice
map(struct arena *arena, struct slice text, utf8proc_option_t options)
{
	utf8proc_uint8_t *mapped = NULL;
	utf8proc_ssize_t len = utf8proc_map((const utf8proc_uint8_t *)text.text,
					    (utf8proc_ssize_t)text.len, &mapped, options);
	struct slice result = text;

	if (len >= 0)
		result = (struct slice){ arena_strndup(arena, (const char *)mapped, (size_t)len),
					 (size_t)len };
	free(mapped);
	return result;
}

static struct slice
fold_letters(struct arena *arena, struct slice text, unsigned fold)
{
	bool cases = fold & FOLD_CASE;

	if (is_ascii(text))
		return cases ? (struct slice){ lower_ascii(arena, text.text, text.len), text.len }
			     : text;
	text = map(arena, text, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
	if (cases)
		text = map(arena, text, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD);
	return text;
}

static bool
is_space(utf8proc_int32_t point)
{
	utf8proc_category_t category = utf8proc_category(point);

	return (point >= '\t' && point <= '\r') || point == 0x85 ||
	       category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
	       category == UTF8PROC_CATEGORY_ZP;
}

/* Trims, and makes every other run of white space one blank. The text is UTF-8. */
static struct slice
fold_space(struct arena *arena, struct slice text)
{
	char *copy = arena_alloc(arena, text.len + 1);
	size_t len = 0, at = 0;
	bool gap = false;

	while (at < text.len) {
		utf8proc_int32_t point;
		utf8proc_ssize_t step = utf8proc_iterate((const utf8proc_uint8_t *)text.text + at,
							 (utf8proc_ssize_t)(text.len - at), &point);

		if (step <= 0)
			return text;
		if (is_space(point)) {
			gap = len > 0;
		} else {
			if (gap)
				copy[len++] = ' ';
			gap = false;
			memcpy(copy + len, text.text + at, (size_t)step);
			len += (size_t)step;
		}
		at += (size_t)step;
	}
	return (struct slice){ copy, len };
}

struct slice
fold_text(struct arena *arena, struct slice text, unsigned fold)
{
	if (fold & (FOLD_CASE | FOLD_NFC))
		text = fold_letters(arena, text, fold);
	return fold & FOLD_SPACE ? fold_space(arena, text) : text;
}

bool
slice_begins(struct slice text, struct slice prefix)
{
	return text.len >= prefix.len &&
	       (prefix.len == 0 || memcmp(text.text, prefix.text, prefix.len) == 0);
}

bool
slice_equals(struct slice a, struct slice b)
{
	return a.len == b.len && slice_begins(a, b);
}
