/* SPDX-License-Identifier: Apache-2.0
 *
 * Clocks in microseconds.
 */
#include <time.h>

#include "reconciled/base/clock.h"

static int64_t
read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return now.tv_sec * SECOND + now.tv_nsec / 1000;
}

int64_t
clock_monotonic_us(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t
clock_wall_us(void)
{
	return read_clock(CLOCK_REALTIME);
}
