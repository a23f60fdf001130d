/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers that spread moments in time, so that many do not act in one. They keep no secret.
 */
#pragma once

#include <stdint.h>

/* Another one in each process; never fails and never waits. */
uint64_t random_seed(void);
/* SplitMix64 (Steele, Lea, Flood 2014): any state is a good one. */
uint64_t random_next(uint64_t *state);
