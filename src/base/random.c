/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the kernel has no random numbers yet, the time of day serves as well for spreading.
 */
#include "reconciled/base/random.h"

#include <sys/random.h>

#include "reconciled/base/clock.h"

uint64_t
random_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (uint64_t)clock_wall_us();
	return seed;
}

uint64_t
random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}
