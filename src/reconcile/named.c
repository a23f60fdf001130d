/* SPDX-License-Identifier: Apache-2.0
 *
 * A sorted list with a mark for each id.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/xalloc.h"

#include "named.h"

struct entry {
	const char *id;
	bool marked;
};

struct named {
	struct entry *entries;
	size_t count;
};

static int
by_id(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;

	return strcmp(left->id, right->id);
}

static void
drop_repeats(struct named *named)
{
	size_t kept = 0;

	for (size_t i = 0; i < named->count; i++)
		if (kept == 0 || by_id(&named->entries[kept - 1], &named->entries[i]) != 0)
			named->entries[kept++] = named->entries[i];
	named->count = kept;
}

struct named *
named_create(const char *const *ids, size_t count)
{
	struct named *named = xcalloc(1, sizeof(*named));

	named->entries = xcalloc(count, sizeof(*named->entries));
	for (size_t i = 0; i < count; i++)
		named->entries[named->count++].id = ids[i];
	qsort(named->entries, named->count, sizeof(*named->entries), by_id);
	drop_repeats(named);
	return named;
}

void
named_destroy(struct named *named)
{
	if (!named)
		return;
	free(named->entries);
	free(named);
}

void
named_mark(struct named *named, const char *id)
{
	struct entry key = { .id = id };
	struct entry *found =
		bsearch(&key, named->entries, named->count, sizeof(*named->entries), by_id);

	if (found)
		found->marked = true;
}

void
named_each_unmarked(const struct named *named, void (*call)(void *owner, const char *id),
		    void *owner)
{
	for (size_t i = 0; i < named->count; i++)
		if (!named->entries[i].marked)
			call(owner, named->entries[i].id);
}
