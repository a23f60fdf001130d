/* SPDX-License-Identifier: Apache-2.0
 *
 * Distinct values, found by a table of their hashes: the cost does not grow with the square.
 */
#include "batch_values.h"

#include <stdbool.h>
#include <string.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/hash.h"

struct seen {
	const char **slots;
	size_t mask;
};

/* Half of the slots stay free, so that each search ends. */
static struct seen
seen_create(struct arena *arena, size_t count)
{
	size_t size = 2;

	while (size < 2 * count)
		size *= 2;
	return (struct seen){ arena_array(arena, const char *, size), size - 1 };
}

/* False when it is there already. */
static bool
seen_add(struct seen *seen, const char *text)
{
	size_t at = hash_fnv1a(text, strlen(text)) & seen->mask;

	for (; seen->slots[at] != NULL; at = (at + 1) & seen->mask)
		if (strcmp(seen->slots[at], text) == 0)
			return false;
	seen->slots[at] = text;
	return true;
}

struct batch_values
batch_values(struct arena *arena, const struct question *question)
{
	struct seen seen = seen_create(arena, question->ops_count);
	struct batch_values values = {
		.texts = arena_array(arena, const char *, question->ops_count),
	};

	for (size_t i = 0; i < question->ops_count; i++) {
		const char *text = operation_text(question->ops[i], question->probe->batch_field);

		if (text != NULL && seen_add(&seen, text))
			values.texts[values.count++] = text;
	}
	return values;
}
