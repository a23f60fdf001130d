/* SPDX-License-Identifier: Apache-2.0
 *
 * Known words are short; longer texts have no nearest one.
 */
#include "suggest.h"

#include <string.h>

#include "reconciled/base/edit_distance.h"

const char *
suggest_nearest(const char *text, const char *(*name_at)(const void *words, size_t i),
		const void *words, size_t count)
{
	size_t len = strlen(text), best = 0;
	const char *nearest = NULL;

	if (len > EDIT_DISTANCE_BYTES_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const char *word = name_at(words, i);
		size_t word_len = strlen(word);
		size_t longer = len > word_len ? len : word_len;

		if (word_len > EDIT_DISTANCE_BYTES_MAX)
			continue;
		size_t edits = edit_distance(text, len, word, word_len);

		if (edits <= longer / 2 && (!nearest || edits < best)) {
			nearest = word;
			best = edits;
		}
	}
	return nearest;
}
