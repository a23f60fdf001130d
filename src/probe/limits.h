/* SPDX-License-Identifier: Apache-2.0
 *
 * How much may be asked of a target at the moment: here the slots. Rates and the breaker belong
 * here as well; who asks takes and gives and need not know why there is nothing to take.
 */
#pragma once

#include <stdbool.h>

struct limits {
	int concurrent, taken;
};

void limits_init(struct limits *limits, int concurrent);
int limits_free(const struct limits *limits);
bool limits_take(struct limits *limits); /* false: none free */
void limits_give(struct limits *limits);
