/* SPDX-License-Identifier: Apache-2.0
 *
 * Days of the Gregorian calendar. Years are counted from March, so that the leap day is the last.
 */
#include "calendar.h"

enum { EPOCH = 719468 }; /* days from 0000-03-01 to 1970-01-01 */

int
calendar_month_days(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

bool
calendar_has(int year, int month, int day)
{
	return month >= 1 && month <= 12 && day >= 1 && day <= calendar_month_days(year, month);
}

int64_t
calendar_days(int year, int month, int day)
{
	int64_t from_march = month > 2 ? year : (int64_t)year - 1;
	int64_t years = from_march >= 0 ? from_march : from_march - (CALENDAR_CYCLE_YEARS - 1);
	int64_t cycle = years / CALENDAR_CYCLE_YEARS;
	int64_t rest = from_march - cycle * CALENDAR_CYCLE_YEARS;
	int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return cycle * CALENDAR_CYCLE_DAYS + rest * 365 + rest / 4 - rest / 100 + day_of_year -
	       EPOCH;
}
