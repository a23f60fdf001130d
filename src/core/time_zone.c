/* SPDX-License-Identifier: Apache-2.0
 *
 * Local times of a zone → moments.
 */
#include "reconciled/core/time_zone.h"

#include "calendar.h"

#define CYCLE ((int64_t)CALENDAR_CYCLE_DAYS * CALENDAR_DAY) /* seconds */

/* The last span that begins at or before the moment, or the first one. */
static size_t
span_at(const struct time_zone *zone, int64_t seconds)
{
	size_t low = 0, high = zone->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (zone->spans[middle].from <= seconds)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The local time belongs to the span. */
static bool
span_shows(const struct time_zone *zone, size_t i, int64_t local)
{
	int64_t seconds = local - zone->spans[i].offset;

	return (i == 0 || seconds >= zone->spans[i].from) &&
	       (i + 1 == zone->count || seconds < zone->spans[i + 1].from);
}

bool
time_zone_settle(const struct time_zone *zone, int64_t local, int64_t *ret_seconds)
{
	int64_t shift = 0, seconds = 0;
	int shown = 0;

	if (zone->repeats_from < INT64_MAX && local - CALENDAR_DAY > zone->repeats_from)
		shift = (local - CALENDAR_DAY - zone->repeats_from) / CYCLE * CYCLE;
	local -= shift;
	/* No place is a day or more from UTC. */
	for (size_t i = span_at(zone, local - CALENDAR_DAY);
	     i < zone->count && zone->spans[i].from <= local + CALENDAR_DAY; i++)
		if (span_shows(zone, i, local)) {
			seconds = local - zone->spans[i].offset;
			shown++;
		}
	if (shown != 1)
		return false;
	*ret_seconds = seconds + shift;
	return true;
}
