/* SPDX-License-Identifier: Apache-2.0
 *
 * timestamptz in binary format: microseconds since 2000-01-01T00:00:00Z; the ends of int64 are
 * -infinity and infinity there.
 */
#pragma once

#include <stdint.h>

#define PG_EPOCH_US INT64_C(946684800000000)

static inline int64_t
pg_time_from_us(int64_t unix_us)
{
	return unix_us == INT64_MIN || unix_us == INT64_MAX ? unix_us : unix_us - PG_EPOCH_US;
}

/* -infinity becomes TIME_NONE. */
static inline int64_t
pg_time_to_us(int64_t pg_us)
{
	return pg_us == INT64_MIN || pg_us > INT64_MAX - PG_EPOCH_US ? pg_us : pg_us + PG_EPOCH_US;
}
