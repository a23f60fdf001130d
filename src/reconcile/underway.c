/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash table of ids. An id that ends during a selection stays until that selection is over.
 */
#include "underway.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

#include "reconciled/base/xalloc.h"

struct taken {
	UT_hash_handle hh;
	struct taken *next_ended;
	bool ended;
	char id[];
};

struct underway {
	struct taken *table;
	struct taken *ended; /* kept for the selection that runs */
	size_t count;	     /* not ended */
	bool selecting;
};

struct underway *
underway_create(void)
{
	return xcalloc(1, sizeof(struct underway));
}

static struct taken *
find(const struct underway *underway, const char *id)
{
	struct taken *found;

	HASH_FIND_STR(underway->table, id, found);
	return found;
}

static void
drop(struct underway *underway, struct taken *taken)
{
	HASH_DEL(underway->table, taken);
	free(taken);
}

void
underway_destroy(struct underway *underway)
{
	struct taken *taken, *next;

	if (!underway)
		return;
	HASH_ITER(hh, underway->table, taken, next)
	drop(underway, taken);
	free(underway);
}

void
underway_begin(struct underway *underway, const char *id)
{
	size_t len = strlen(id);
	struct taken *taken = xcalloc(1, sizeof(*taken) + len + 1);

	assert(!find(underway, id));
	memcpy(taken->id, id, len);
	HASH_ADD_KEYPTR(hh, underway->table, taken->id, len, taken);
	underway->count++;
}

void
underway_end(struct underway *underway, const char *id)
{
	struct taken *taken = find(underway, id);

	assert(taken && !taken->ended);
	underway->count--;
	if (!underway->selecting) {
		drop(underway, taken);
		return;
	}
	taken->ended = true;
	taken->next_ended = underway->ended;
	underway->ended = taken;
}

bool
underway_has(const struct underway *underway, const char *id)
{
	return find(underway, id) != NULL;
}

void
underway_selecting(struct underway *underway)
{
	assert(!underway->selecting);
	underway->selecting = true;
}

void
underway_selected(struct underway *underway)
{
	underway->selecting = false;
	while (underway->ended) {
		struct taken *taken = underway->ended;

		underway->ended = taken->next_ended;
		drop(underway, taken);
	}
}

const char **
underway_list(const struct underway *underway, size_t more, size_t *ret_count)
{
	const char **ids = xcalloc(underway->count + more, sizeof(*ids));
	size_t count = 0;

	for (const struct taken *taken = underway->table; taken; taken = taken->hh.next)
		if (!taken->ended)
			ids[count++] = taken->id;
	*ret_count = count;
	return ids;
}
