/* SPDX-License-Identifier: Apache-2.0
 *
 * A dynamic threshold (Choudhury and Hahne 1998, for buffers of switches): with several targets
 * each may hold twice as many slots as are still free. One greedy target gets two thirds, two get
 * two fifths each, and so on: there is always something left for the next one, and nothing is set
 * apart for targets that want nothing.
 */
#include "quota.h"

#include <assert.h>
#include <stdlib.h>

#include "reconciled/base/xalloc.h"

enum { TIMES_THE_FREE = 2 };

struct quota {
	size_t *target_of; /* type → number of its target */
	size_t *held;	   /* by each target */
	size_t targets;
	size_t free;
};

/* The number of the first type that has the same target, as long as targets are counted. */
static size_t
target_number(const struct quota *quota, const struct pass_type *types, size_t type)
{
	for (size_t i = 0; i < type; i++)
		if (types[i].target == types[type].target)
			return quota->target_of[i];
	return quota->targets;
}

struct quota *
quota_create(const struct pass_type *types, size_t count, size_t slots)
{
	struct quota *quota = xcalloc(1, sizeof(*quota));

	quota->target_of = xcalloc(count, sizeof(*quota->target_of));
	quota->held = xcalloc(count, sizeof(*quota->held));
	quota->free = slots;
	for (size_t i = 0; i < count; i++) {
		quota->target_of[i] = target_number(quota, types, i);
		if (quota->target_of[i] == quota->targets)
			quota->targets++;
	}
	return quota;
}

void
quota_destroy(struct quota *quota)
{
	if (!quota)
		return;
	free(quota->target_of);
	free(quota->held);
	free(quota);
}

bool
quota_allows(const struct quota *quota, size_t type)
{
	size_t held = quota->held[quota->target_of[type]];

	return quota->free > 0 && (quota->targets == 1 || held < TIMES_THE_FREE * quota->free);
}

void
quota_take(struct quota *quota, size_t type)
{
	assert(quota->free > 0);
	quota->free--;
	quota->held[quota->target_of[type]]++;
}

void
quota_give(struct quota *quota, size_t type)
{
	size_t *held = &quota->held[quota->target_of[type]];

	assert(*held > 0);
	(*held)--;
	quota->free++;
}
