/* SPDX-License-Identifier: Apache-2.0
 *
 * The Gregorian calendar, before its time too. Private to core.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	CALENDAR_DAY = 24 * 3600,   /* seconds */
	CALENDAR_CYCLE_YEARS = 400, /* after so many everything repeats, week days too */
	CALENDAR_CYCLE_DAYS = 146097,
};

/* Month and day count from 1. */
bool calendar_has(int year, int month, int day);
int calendar_month_days(int year, int month);

/* Days since 1970-01-01. */
int64_t calendar_days(int year, int month, int day);
