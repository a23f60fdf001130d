/* SPDX-License-Identifier: Apache-2.0
 *
 * The rule by which clocks will be changed from now on, as compiled zones carry it. Private to core.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum zone_day_kind { ZONE_DAY_OF_WEEK, ZONE_DAY_WITHOUT_LEAP, ZONE_DAY_FROM_ZERO };

/* When clocks are changed in a year. */
struct zone_change {
	enum zone_day_kind kind;
	int month, week, day; /* of OF_WEEK; others: the day of the year */
	int32_t seconds;      /* local time of that day, possibly outside of it */
};

struct zone_rule {
	int32_t offset; /* of standard time, seconds east of UTC */
	bool has_summer;
	int32_t summer_offset;
	struct zone_change start, end; /* of summer time */
};

/* POSIX TZ, "CET-1CEST,M3.5.0,M10.5.0/3", with hours up to 167 as RFC 8536 allows. */
bool zone_rule_read(const char *text, size_t len, struct zone_rule *ret_rule);

/* Seconds since the epoch. offset: the one in force before the change. */
int64_t zone_change_at(const struct zone_change *change, int year, int32_t offset);
