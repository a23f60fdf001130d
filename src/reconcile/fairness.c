/* SPDX-License-Identifier: Apache-2.0
 *
 * A dynamic threshold (Choudhury and Hahne 1998, for buffers of switches): with several targets
 * each may hold twice as many slots as are still free. One greedy target gets two thirds, two get
 * two fifths each, and so on: there is always something left for the next one, and nothing is set
 * apart for targets that want nothing.
 */
#include "fairness.h"

#include <assert.h>
#include <stdlib.h>

#include "reconciled/base/xalloc.h"

enum { TIMES_THE_FREE = 2 };

struct fairness {
	size_t *target_of; /* type → number of its target */
	size_t *held;	   /* by each target */
	size_t targets;
	size_t free;
};

/* The number of the first type that has the same target, as long as targets are counted. */
static size_t
target_number(const struct fairness *fairness, const struct pass_type *types, size_t type)
{
	for (size_t i = 0; i < type; i++)
		if (types[i].target == types[type].target)
			return fairness->target_of[i];
	return fairness->targets;
}

struct fairness *
fairness_create(const struct pass_type *types, size_t count, size_t slots)
{
	struct fairness *fairness = xcalloc(1, sizeof(*fairness));

	fairness->target_of = xcalloc(count, sizeof(*fairness->target_of));
	fairness->held = xcalloc(count, sizeof(*fairness->held));
	fairness->free = slots;
	for (size_t i = 0; i < count; i++) {
		fairness->target_of[i] = target_number(fairness, types, i);
		if (fairness->target_of[i] == fairness->targets)
			fairness->targets++;
	}
	return fairness;
}

void
fairness_destroy(struct fairness *fairness)
{
	if (!fairness)
		return;
	free(fairness->target_of);
	free(fairness->held);
	free(fairness);
}

bool
fairness_allows(const struct fairness *fairness, size_t type)
{
	size_t held = fairness->held[fairness->target_of[type]];

	return fairness->free > 0 &&
	       (fairness->targets == 1 || held < TIMES_THE_FREE * fairness->free);
}

void
fairness_take(struct fairness *fairness, size_t type)
{
	assert(fairness->free > 0);
	fairness->free--;
	fairness->held[fairness->target_of[type]]++;
}

void
fairness_give(struct fairness *fairness, size_t type)
{
	size_t *held = &fairness->held[fairness->target_of[type]];

	assert(*held > 0);
	(*held)--;
	fairness->free++;
}
