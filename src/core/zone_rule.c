/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads rules of summer time, and says when they take effect.
 */
#include "zone_rule.h"

#include <string.h>

#include "calendar.h"

enum { NUMBER_MAX = 10000, HOURS_MAX = 167, OFFSET_HOURS_MAX = 24, NAME_MIN = 3 };
enum { TWO_O_CLOCK = 2 * 3600, HOUR = 3600 };

struct reader {
	const char *at, *end;
};

static bool
take(struct reader *reader, char wanted)
{
	if (reader->at == reader->end || *reader->at != wanted)
		return false;
	reader->at++;
	return true;
}

static bool
take_number(struct reader *reader, int max, int *ret)
{
	int number = 0, digits = 0;

	for (; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; digits++) {
		number = number * 10 + (*reader->at++ - '0');
		if (number > NUMBER_MAX)
			return false;
	}
	*ret = number;
	return digits > 0 && number <= max;
}

static bool
is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* "CET", "<+0330>" */
static bool
take_name(struct reader *reader)
{
	const char *from = reader->at;

	if (take(reader, '<')) {
		while (reader->at < reader->end && *reader->at != '>')
			reader->at++;
		return take(reader, '>');
	}
	while (reader->at < reader->end && is_letter(*reader->at))
		reader->at++;
	return reader->at - from >= NAME_MIN;
}

/* [+-]HH[:MM[:SS]] */
static bool
take_clock(struct reader *reader, int hours_max, int32_t *ret)
{
	bool minus = take(reader, '-');
	int hours, minutes = 0, seconds = 0;

	if (!minus)
		(void)take(reader, '+');
	if (!take_number(reader, hours_max, &hours))
		return false;
	if (take(reader, ':')) {
		if (!take_number(reader, 59, &minutes))
			return false;
		if (take(reader, ':') && !take_number(reader, 59, &seconds))
			return false;
	}
	*ret = (hours * 60 + minutes) * 60 + seconds;
	if (minus)
		*ret = -*ret;
	return true;
}

/* POSIX counts west of UTC. */
static bool
take_offset(struct reader *reader, int32_t *ret)
{
	if (!take_clock(reader, OFFSET_HOURS_MAX, ret))
		return false;
	*ret = -*ret;
	return true;
}

static bool
take_week_day(struct reader *reader, struct zone_change *ret)
{
	ret->kind = ZONE_DAY_OF_WEEK;
	return take_number(reader, 12, &ret->month) && ret->month >= 1 && take(reader, '.') &&
	       take_number(reader, 5, &ret->week) && ret->week >= 1 && take(reader, '.') &&
	       take_number(reader, 6, &ret->day);
}

/* ",M3.5.0/2", ",J60", ",59" */
static bool
take_change(struct reader *reader, struct zone_change *ret)
{
	ret->seconds = TWO_O_CLOCK;
	if (!take(reader, ','))
		return false;
	if (take(reader, 'M')) {
		if (!take_week_day(reader, ret))
			return false;
	} else {
		ret->kind = take(reader, 'J') ? ZONE_DAY_WITHOUT_LEAP : ZONE_DAY_FROM_ZERO;
		if (!take_number(reader, 365, &ret->day) ||
		    (ret->kind == ZONE_DAY_WITHOUT_LEAP && ret->day == 0))
			return false;
	}
	return !take(reader, '/') || take_clock(reader, HOURS_MAX, &ret->seconds);
}

bool
zone_rule_read(const char *text, size_t len, struct zone_rule *ret_rule)
{
	struct reader reader = { text, text + len };
	struct zone_rule rule = { 0 };

	if (!take_name(&reader) || !take_offset(&reader, &rule.offset))
		return false;
	if (reader.at < reader.end) {
		rule.has_summer = true;
		rule.summer_offset = rule.offset + HOUR;
		if (!take_name(&reader) ||
		    (reader.at < reader.end && *reader.at != ',' &&
		     !take_offset(&reader, &rule.summer_offset)) ||
		    !take_change(&reader, &rule.start) || !take_change(&reader, &rule.end))
			return false;
	}
	*ret_rule = rule;
	return reader.at == reader.end;
}

/* The n-th such day of the week, 5: the last one. */
static int64_t
day_of_week(const struct zone_change *change, int year)
{
	enum { WEEK = 7, EPOCH_DAY = 4 }; /* 1970-01-01 was a Thursday; Sunday is 0 */
	int64_t first = calendar_days(year, change->month, 1);
	int first_day = (int)(((first + EPOCH_DAY) % WEEK + WEEK) % WEEK);
	int day = (change->day - first_day + WEEK) % WEEK + (change->week - 1) * WEEK;

	if (day >= calendar_month_days(year, change->month))
		day -= WEEK;
	return first + day;
}

int64_t
zone_change_at(const struct zone_change *change, int year, int32_t offset)
{
	int64_t day = 0;

	switch (change->kind) {
	case ZONE_DAY_OF_WEEK:
		day = day_of_week(change, year);
		break;
	case ZONE_DAY_WITHOUT_LEAP: /* 60 is 1 March in every year */
		day = calendar_days(year, 1, 1) + change->day - 1;
		if (change->day >= 60 && calendar_month_days(year, 2) == 29)
			day++;
		break;
	case ZONE_DAY_FROM_ZERO:
		day = calendar_days(year, 1, 1) + change->day;
		break;
	}
	return day * CALENDAR_DAY + change->seconds - offset;
}
