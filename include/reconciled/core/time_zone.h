/* SPDX-License-Identifier: Apache-2.0
 *
 * The local time of a place: when its clocks showed which difference to UTC, and will show by the
 * rules known today.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/base/attributes.h"

struct arena;
struct err;

/* Immutable. */
struct time_zone {
	const char *name;
	/* In order; the first one reaches back without end, the last one forward. */
	const struct zone_span {
		int64_t from;	/* seconds since the epoch */
		int32_t offset; /* seconds east of UTC */
	} * spans;
	size_t count;
	/* From here on everything repeats after 400 years, and the spans reach that far. INT64_MAX:
	 * the last span lasts. */
	int64_t repeats_from;
};

/*
 * Reads a compiled zone (RFC 8536: TZif, version 1 to 4) into the arena. ERR_INVALID: it is none,
 * or one that counts leap seconds.
 */
bool time_zone_read(struct arena *arena, const char *name, const void *bytes, size_t len,
		    const struct time_zone **ret_zone, struct err *err) MUST_CHECK;

/*
 * The moment at which clocks there show this local time (seconds since the epoch, as if it were
 * UTC). False where they skip it, or show it twice.
 */
bool time_zone_settle(const struct time_zone *zone, int64_t local, int64_t *ret_seconds);
