/* SPDX-License-Identifier: Apache-2.0
 *
 * A tree of ids (libc's tsearch) and a list of those that have not ended. An id that ends during a
 * selection stays in the tree until that selection is over.
 */
#include "underway.h"

#include <assert.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "reconciled/base/xalloc.h"

struct taken {
	const char *id; /* first: a key alone is looked up as one */
	TAILQ_ENTRY(taken) link;
	bool ended;
	char text[];
};

TAILQ_HEAD(taken_list, taken);

struct underway {
	void *tree;
	struct taken_list running, ended; /* ended ones are kept for the selection that runs */
	size_t count;			  /* running */
	bool selecting;
};

static int
by_id(const void *a, const void *b)
{
	const struct taken *left = a, *right = b;

	return strcmp(left->id, right->id);
}

struct underway *
underway_create(void)
{
	struct underway *underway = xcalloc(1, sizeof(*underway));

	TAILQ_INIT(&underway->running);
	TAILQ_INIT(&underway->ended);
	return underway;
}

void
underway_destroy(struct underway *underway)
{
	if (!underway)
		return;
	tdestroy(underway->tree, free);
	free(underway);
}

static struct taken *
find(const struct underway *underway, const char *id)
{
	const struct taken key = { .id = id };
	void *node = tfind(&key, &underway->tree, by_id);

	return node ? *(struct taken **)node : NULL;
}

static void
drop(struct underway *underway, struct taken *taken)
{
	tdelete(taken, &underway->tree, by_id);
	free(taken);
}

void
underway_begin(struct underway *underway, const char *id)
{
	size_t bytes = strlen(id) + 1;
	struct taken *taken = xcalloc(1, sizeof(*taken) + bytes);
	const void *node;

	memcpy(taken->text, id, bytes);
	taken->id = taken->text;
	node = tsearch(taken, &underway->tree, by_id);
	if (!node)
		abort(); /* out of memory */
	assert(*(struct taken *const *)node == taken);
	TAILQ_INSERT_TAIL(&underway->running, taken, link);
	underway->count++;
}

void
underway_end(struct underway *underway, const char *id)
{
	struct taken *taken = find(underway, id);

	assert(taken && !taken->ended);
	TAILQ_REMOVE(&underway->running, taken, link);
	underway->count--;
	if (!underway->selecting) {
		drop(underway, taken);
		return;
	}
	taken->ended = true;
	TAILQ_INSERT_TAIL(&underway->ended, taken, link);
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
	struct taken *taken;

	underway->selecting = false;
	while ((taken = TAILQ_FIRST(&underway->ended))) {
		TAILQ_REMOVE(&underway->ended, taken, link);
		drop(underway, taken);
	}
}

const char **
underway_list(const struct underway *underway, size_t more, size_t *ret_count)
{
	const char **ids = xcalloc(underway->count + more, sizeof(*ids));
	const struct taken *taken;
	size_t count = 0;

	TAILQ_FOREACH(taken, &underway->running, link)
		ids[count++] = taken->id;
	*ret_count = count;
	return ids;
}
