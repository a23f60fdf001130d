/* SPDX-License-Identifier: Apache-2.0
 *
 * RFC 9110, 5.6.7: IMF-fixdate, and the two obsolete forms. Names of months do not depend on a
 * locale; the day of the week is not looked at.
 */
#include "http_date.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "reconciled/base/clock.h"

struct parts {
	char month[4];
	int day, year, hour, minute, second;
	int end; /* how much of the text was read; 0: not to the end of the form */
};

static bool
is_whole(const struct parts *parts, const char *text)
{
	return parts->end > 0 && text[parts->end] == '\0';
}

static bool
read_fixed(const char *text, struct parts *p)
{
	sscanf(text, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT%n", &p->day, p->month,
	       &p->year, &p->hour, &p->minute, &p->second, &p->end);
	return is_whole(p, text);
}

static bool
read_rfc850(const char *text, struct parts *p)
{
	sscanf(text, "%*9[A-Za-z], %2d-%3[A-Za-z]-%2d %2d:%2d:%2d GMT%n", &p->day, p->month,
	       &p->year, &p->hour, &p->minute, &p->second, &p->end);
	return is_whole(p, text);
}

static bool
read_asctime(const char *text, struct parts *p)
{
	sscanf(text, "%*3[A-Za-z] %3[A-Za-z] %2d %2d:%2d:%2d %4d%n", p->month, &p->day, &p->hour,
	       &p->minute, &p->second, &p->year, &p->end);
	return is_whole(p, text);
}

/* 0 to 11, or -1. */
static int
month_number(const char *name)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

	for (int i = 0; i < 12; i++)
		if (strncmp(names + (size_t)i * 3, name, 3) == 0)
			return i;
	return -1;
}

static bool
is_possible(const struct parts *p)
{
	return month_number(p->month) >= 0 && p->day >= 1 && p->day <= 31 && p->year >= 1900 &&
	       p->hour >= 0 && p->hour <= 23 && p->minute >= 0 && p->minute <= 59 &&
	       p->second >= 0 && p->second <= 60;
}

static int64_t
moment(const struct parts *p)
{
	struct tm tm = { .tm_year = p->year - 1900,
			 .tm_mon = month_number(p->month),
			 .tm_mday = p->day,
			 .tm_hour = p->hour,
			 .tm_min = p->minute,
			 .tm_sec = p->second };

	return (int64_t)timegm(&tm) * SECOND;
}

/* Two digits that would lie more than 50 years ahead are of the century before. */
static int
whole_year(int digits, int64_t near_us)
{
	time_t near = (time_t)(near_us / SECOND);
	struct tm tm;
	int year;

	gmtime_r(&near, &tm);
	year = (tm.tm_year + 1900) / 100 * 100 + digits;
	return year > tm.tm_year + 1900 + 50 ? year - 100 : year;
}

bool
http_date_read(const char *text, int64_t near_us, int64_t *ret_us)
{
	struct parts fixed = { 0 }, rfc850 = { 0 }, asctime = { 0 };
	const struct parts *read = NULL;

	if (read_fixed(text, &fixed)) {
		read = &fixed;
	} else if (read_rfc850(text, &rfc850)) {
		rfc850.year = whole_year(rfc850.year, near_us);
		read = &rfc850;
	} else if (read_asctime(text, &asctime)) {
		read = &asctime;
	}
	if (read == NULL || !is_possible(read))
		return false;
	*ret_us = moment(read);
	return true;
}
