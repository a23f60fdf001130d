/* SPDX-License-Identifier: Apache-2.0
 *
 * Clocks in int64 microseconds. Monotonic for deadlines, wall for records; what is due is judged
 * by the database's clock, never by these.
 */
#pragma once

#include <stdint.h>

#define MILLISECOND ((int64_t)1000)
#define SECOND (1000 * MILLISECOND)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

int64_t clock_monotonic_us(void);
int64_t clock_wall_us(void); /* since 1970-01-01T00:00:00Z */
