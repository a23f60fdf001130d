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
	return limits->concurrent - limits->taken;
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
