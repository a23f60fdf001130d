/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads times. Each form is tried on the whole text; at most one fits. Names of months and days are
 * those of HTTP, whatever the locale is.
 */
#include "reconciled/core/time.h"

#include <string.h>

#include "calendar.h"
#include "reconciled/base/attributes.h"
#include "reconciled/core/time_zone.h"

#define ATTO_PER_US UINT64_C(1000000000000)
#define ATTO_PER_MS UINT64_C(1000000000000000)
#define ATTO_PER_S UINT64_C(1000000000000000000)

enum {
	FRACTION_DIGITS = 18,
	MS_DIGITS = 15, /* the last day of the year 9999; microseconds still fit */
	/* What two digits of a year are near to: values must not change with the clock. */
	NEAR_YEAR = 2020,
};

struct cursor {
	const char *at, *end;
};

/* A date and a time of day as they were written. */
struct civil {
	int year, month, day, hour, minute, second;
	uint64_t atto;
	bool short_year; /* two digits */
};

static size_t
left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

static bool
at_digit(const struct cursor *cursor)
{
	return cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9';
}

static bool
take(struct cursor *cursor, char wanted)
{
	if (cursor->at == cursor->end || *cursor->at != wanted)
		return false;
	cursor->at++;
	return true;
}

static bool
take_either(struct cursor *cursor, char a, char b)
{
	return take(cursor, a) || take(cursor, b);
}

static bool
take_text(struct cursor *cursor, const char *wanted)
{
	size_t len = strlen(wanted);

	if (left(cursor) < len || memcmp(cursor->at, wanted, len) != 0)
		return false;
	cursor->at += len;
	return true;
}

/* Exactly so many digits. */
static bool
take_number(struct cursor *cursor, int digits, int *ret)
{
	int number = 0;

	for (int i = 0; i < digits; i++) {
		if (!at_digit(cursor))
			return false;
		number = number * 10 + (*cursor->at++ - '0');
	}
	*ret = number;
	return true;
}

/* Digits behind a point; zeros at the end are none. */
static bool
take_fraction(struct cursor *cursor, uint64_t *ret)
{
	uint64_t atto = 0, place = ATTO_PER_S;

	if (!at_digit(cursor))
		return false;
	for (; at_digit(cursor); cursor->at++) {
		uint64_t digit = (uint64_t)(*cursor->at - '0');

		place /= 10;
		if (place == 0 && digit != 0)
			return false;
		atto += digit * place;
	}
	*ret = atto;
	return true;
}

/* "HH:MM:SS" */
static bool
take_clock(struct cursor *cursor, struct civil *civil)
{
	return take_number(cursor, 2, &civil->hour) && take(cursor, ':') &&
	       take_number(cursor, 2, &civil->minute) && take(cursor, ':') &&
	       take_number(cursor, 2, &civil->second);
}

/* One of the names, which have no common beginnings; its place from 0. */
static bool
take_name(struct cursor *cursor, const char *const *names, int count, int *ret)
{
	for (int i = 0; i < count; i++)
		if (take_text(cursor, names[i])) {
			*ret = i;
			return true;
		}
	return false;
}

/* seconds are those of 23:59:59 UTC at the end of a month, which is this one or the one before. */
static bool
ends_month(const struct civil *civil, int64_t seconds)
{
	int64_t first = calendar_days(civil->year, civil->month, 1);
	int64_t next = first + calendar_month_days(civil->year, civil->month);

	return seconds + 1 == first * CALENDAR_DAY || seconds + 1 == next * CALENDAR_DAY;
}

static bool
is_possible(const struct civil *civil)
{
	return calendar_has(civil->year, civil->month, civil->day) && civil->hour <= 23 &&
	       civil->minute <= 59 && civil->second <= 60;
}

/* As if it were UTC; a 60th second is the 59th here. */
static int64_t
civil_seconds(const struct civil *civil)
{
	int second = civil->second == 60 ? 59 : civil->second;

	return calendar_days(civil->year, civil->month, civil->day) * CALENDAR_DAY +
	       (int64_t)civil->hour * 3600 + (int64_t)civil->minute * 60 + second;
}

/* seconds: of the civil time, in UTC. A leap second is the second that follows it. */
static bool
finish(const struct civil *civil, int64_t seconds, struct moment *ret)
{
	bool is_leap = civil->second == 60;

	if (is_leap && !ends_month(civil, seconds))
		return false;
	*ret = (struct moment){ .seconds = seconds + is_leap, .atto = civil->atto };
	return true;
}

/* "Z", "+HH:MM", "+HHMM", and nothing behind it. Seconds east of UTC. */
static bool
read_offset(struct cursor *cursor, bool blank, int *ret)
{
	int hours, minutes;
	bool west;

	*ret = 0;
	if (take_either(cursor, 'Z', 'z'))
		return left(cursor) == 0;
	if (blank)
		(void)take(cursor, ' ');
	west = cursor->at < cursor->end && *cursor->at == '-';
	if (!take_either(cursor, '+', '-') || !take_number(cursor, 2, &hours))
		return false;
	(void)take(cursor, ':');
	if (!take_number(cursor, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	*ret = (hours * 60 + minutes) * (west ? -60 : 60);
	return left(cursor) == 0;
}

/* 2026-03-01T12:00:00.5+01:00 and its kin. */
static bool
read_rfc3339(struct cursor cursor, const struct time_zone *zone, struct moment *ret)
{
	struct civil civil = { 0 };
	int offset;
	int64_t seconds;
	bool slashes, blank;

	if (!take_number(&cursor, 4, &civil.year))
		return false;
	slashes = take(&cursor, '/');
	if ((!slashes && !take(&cursor, '-')) || !take_number(&cursor, 2, &civil.month) ||
	    !take(&cursor, slashes ? '/' : '-') || !take_number(&cursor, 2, &civil.day))
		return false;
	blank = take(&cursor, ' ');
	if ((!blank && !take_either(&cursor, 'T', 't')) || !take_clock(&cursor, &civil))
		return false;
	if (take(&cursor, '.') && !take_fraction(&cursor, &civil.atto))
		return false;
	if (!is_possible(&civil))
		return false;
	if (left(&cursor) > 0) {
		if (!read_offset(&cursor, blank, &offset))
			return false;
		seconds = civil_seconds(&civil) - offset;
	} else if (zone == NULL || !time_zone_settle(zone, civil_seconds(&civil), &seconds)) {
		return false;
	}
	return finish(&civil, seconds, ret);
}

static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
				      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
static const char *const days[] = { "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun" };
static const char *const long_days[] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
					 "Friday", "Saturday", "Sunday" };

static bool
take_month(struct cursor *cursor, struct civil *civil)
{
	if (!take_name(cursor, months, ARRAY_LEN(months), &civil->month))
		return false;
	civil->month++;
	return true;
}

/* Sun, 06 Nov 1994 08:49:37 GMT */
static bool
take_fixed_date(struct cursor *cursor, struct civil *civil)
{
	int day;

	return take_name(cursor, days, ARRAY_LEN(days), &day) && take_text(cursor, ", ") &&
	       take_number(cursor, 2, &civil->day) && take(cursor, ' ') &&
	       take_month(cursor, civil) && take(cursor, ' ') &&
	       take_number(cursor, 4, &civil->year) && take(cursor, ' ') &&
	       take_clock(cursor, civil) && take_text(cursor, " GMT");
}

/* Sunday, 06-Nov-94 08:49:37 GMT */
static bool
take_rfc850_date(struct cursor *cursor, struct civil *civil)
{
	int day;

	if (!take_name(cursor, long_days, ARRAY_LEN(long_days), &day) || !take_text(cursor, ", ") ||
	    !take_number(cursor, 2, &civil->day) || !take(cursor, '-') ||
	    !take_month(cursor, civil) || !take(cursor, '-') ||
	    !take_number(cursor, 2, &civil->year))
		return false;
	civil->short_year = true;
	return take(cursor, ' ') && take_clock(cursor, civil) && take_text(cursor, " GMT");
}

/* Sun Nov  6 08:49:37 1994 */
static bool
take_asctime_date(struct cursor *cursor, struct civil *civil)
{
	int day, digits;

	if (!take_name(cursor, days, ARRAY_LEN(days), &day) || !take(cursor, ' ') ||
	    !take_month(cursor, civil) || !take(cursor, ' '))
		return false;
	digits = take(cursor, ' ') ? 1 : 2;
	return take_number(cursor, digits, &civil->day) && take(cursor, ' ') &&
	       take_clock(cursor, civil) && take(cursor, ' ') &&
	       take_number(cursor, 4, &civil->year);
}

/* Two digits that would lie more than 50 years ahead are of the century before. */
static int
whole_year(int digits, int near_year)
{
	int year = near_year / 100 * 100 + digits;

	return year > near_year + 50 ? year - 100 : year;
}

bool
time_read_http(const char *text, size_t len, int near_year, struct moment *ret_moment)
{
	static bool (*const forms[])(struct cursor * cursor,
				     struct civil * civil) = { take_fixed_date, take_rfc850_date,
							       take_asctime_date };

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		struct cursor rest = { text, text + len };
		struct civil civil = { 0 };

		if (!forms[i](&rest, &civil) || left(&rest) > 0)
			continue;
		if (civil.short_year)
			civil.year = whole_year(civil.year, near_year);
		return is_possible(&civil) && finish(&civil, civil_seconds(&civil), ret_moment);
	}
	return false;
}

static bool
read_http(struct cursor cursor, const struct time_zone *zone, struct moment *ret)
{
	return time_read_http(cursor.at, left(&cursor), NEAR_YEAR, ret);
}

static struct moment
moment_of_ms(int64_t ms)
{
	int64_t rest = ms % 1000;

	if (rest < 0)
		rest += 1000;
	return (struct moment){ .seconds = (ms - rest) / 1000,
				.atto = (uint64_t)rest * ATTO_PER_MS };
}

/* Digits up to the next other character, at most MS_DIGITS of them. */
static bool
take_ms(struct cursor *cursor, int64_t *ret)
{
	int64_t ms = 0;
	int digits = 0;

	for (; at_digit(cursor) && digits <= MS_DIGITS; digits++)
		ms = ms * 10 + (*cursor->at++ - '0');
	*ret = ms;
	return digits > 0 && digits <= MS_DIGITS;
}

/* Ten digits or thirteen: others could be days, minutes or microseconds as well. */
static bool
read_epoch(struct cursor cursor, const struct time_zone *zone, struct moment *ret)
{
	size_t digits = left(&cursor);
	int64_t count;

	if ((digits != 10 && digits != 13) || !take_ms(&cursor, &count) || left(&cursor) > 0)
		return false;
	*ret = digits == 13 ? moment_of_ms(count) : (struct moment){ .seconds = count };
	return true;
}

/* /Date(1772366400000)/ and /Date(1772366400000+0100)/, whose offset changes nothing. */
static bool
read_wrapped(struct cursor cursor, const struct time_zone *zone, struct moment *ret)
{
	int64_t ms;
	bool minus;
	int offset;

	if (!take_text(&cursor, "/Date("))
		return false;
	minus = take(&cursor, '-');
	if (!take_ms(&cursor, &ms))
		return false;
	if (take_either(&cursor, '+', '-') && !take_number(&cursor, 4, &offset))
		return false;
	if (!take_text(&cursor, ")/") || left(&cursor) > 0)
		return false;
	*ret = moment_of_ms(minus ? -ms : ms);
	return true;
}

bool
time_read(const char *text, size_t len, const struct time_zone *zone, struct moment *ret_moment)
{
	static bool (*const forms[])(struct cursor cursor, const struct time_zone *zone,
				     struct moment *ret) = { read_rfc3339, read_epoch, read_http,
							     read_wrapped };

	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (forms[i]((struct cursor){ text, text + len }, zone, ret_moment))
			return true;
	return false;
}

int
moment_compare(const struct moment *a, const struct moment *b)
{
	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? -1 : 1;
	return (a->atto > b->atto) - (a->atto < b->atto);
}

bool
moment_is_near(const struct moment *a, const struct moment *b, int64_t skew_us)
{
	const struct moment *late = moment_compare(a, b) > 0 ? a : b;
	struct moment limit = late == a ? *b : *a; /* the earlier one, and the skew */

	limit.seconds += skew_us / 1000000;
	limit.atto += (uint64_t)(skew_us % 1000000) * ATTO_PER_US;
	if (limit.atto >= ATTO_PER_S) {
		limit.atto -= ATTO_PER_S;
		limit.seconds++;
	}
	return moment_compare(late, &limit) <= 0;
}

int64_t
moment_us(const struct moment *moment)
{
	return moment->seconds * 1000000 + (int64_t)(moment->atto / ATTO_PER_US);
}
