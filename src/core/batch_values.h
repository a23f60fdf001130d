/* SPDX-License-Identifier: Apache-2.0
 *
 * What the operations of a batch have in common: each one's value of the field that is asked about.
 * Private to core.
 */
#pragma once

#include "reconciled/core/exchange.h"

struct batch_values {
	const char **texts; /* of the operations */
	size_t count;
};

/* In the order of the operations; each value once, since a target may refuse a repeated one. */
struct batch_values batch_values(struct arena *arena, const struct question *question);
