/* SPDX-License-Identifier: Apache-2.0
 *
 * Levenshtein distance over bytes; known words are short, longer texts have no nearest one.
 */
#include "suggest.h"

#include <string.h>

enum { WORD_MAX = 40 };

static size_t
least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static size_t
distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t row[WORD_MAX + 1];

	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t above = row[j];

			row[j] =
				least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[b_len];
}

const char *
suggest_nearest(const char *text, const char *(*name_at)(const void *words, size_t i),
		const void *words, size_t count)
{
	size_t len = strlen(text), best = 0;
	const char *nearest = NULL;

	if (len > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const char *word = name_at(words, i);
		size_t word_len = strlen(word);
		size_t longer = len > word_len ? len : word_len;

		if (word_len > WORD_MAX)
			continue;
		size_t edits = distance(text, len, word, word_len);

		if (edits <= longer / 2 && (!nearest || edits < best)) {
			nearest = word;
			best = edits;
		}
	}
	return nearest;
}
