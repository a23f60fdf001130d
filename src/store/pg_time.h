/* SPDX-License-Identifier: Apache-2.0
 *
 * timestamptz in binary format: microseconds since 2000-01-01T00:00:00Z; the ends of int64 are
 * -infinity and infinity there. Times read are kept so far from the end of int64 that durations of
 * policies can be added to them.
 */
#pragma once

#include <stdint.h>

#define PG_EPOCH_US INT64_C(946684800000000)
#define PG_TIME_MAX_US (INT64_MAX / 4) /* about the year 75,000 */

static inline int64_t
pg_time_from_us(int64_t unix_us)
{
	return unix_us == INT64_MIN || unix_us == INT64_MAX ? unix_us : unix_us - PG_EPOCH_US;
}

/* -infinity becomes TIME_NONE, infinity and what is close to it PG_TIME_MAX_US. */
static inline int64_t
pg_time_to_us(int64_t pg_us)
{
	if (pg_us == INT64_MIN)
		return pg_us;
	return pg_us > PG_TIME_MAX_US - PG_EPOCH_US ? PG_TIME_MAX_US : pg_us + PG_EPOCH_US;
}
