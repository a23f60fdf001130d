/* SPDX-License-Identifier: Apache-2.0
 *
 * The slots of a target, counted.
 */
#include "limits.h"

#include <assert.h>

void
limits_init(struct limits *limits, int concurrent)
{
	*limits = (struct limits){ .concurrent = concurrent };
}

int
limits_free(const struct limits *limits)
{
	int left = limits->concurrent - limits->taken;

	return left > 0 ? left : 0; /* the part may have become smaller */
}

bool
limits_take(struct limits *limits)
{
	if (limits_free(limits) <= 0)
		return false;
	limits->taken++;
	return true;
}

void
limits_give(struct limits *limits)
{
	assert(limits->taken > 0);
	limits->taken--;
}
