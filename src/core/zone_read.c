/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled zones (RFC 8536). What they list is taken as it is; what follows by their rule is written
 * out for the 400 years after which the calendar repeats, so that one search serves every year.
 * libc is not asked: it has one zone for the whole process, and gives a moment for local times that
 * occur twice or never, which must not be compared.
 */
#include <string.h>

#include "calendar.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/err.h"
#include "reconciled/core/time_zone.h"
#include "zone_rule.h"

enum {
	HEADER = 44,
	TYPE = 6, /* bytes of a local time type */
	CHANGES_MAX = 10000,
	TYPES_MAX = 256,
	RULE_YEARS = CALENDAR_CYCLE_YEARS + 2, /* a cycle, and a year on either side */
	YEAR_FIRST = 1,
	YEAR_LAST = 9999,
	FOOTER_MAX = 200,
};

/* Where the parts of a data block begin. */
struct block {
	const unsigned char *times, *kinds, *types, *end;
	uint32_t times_count, types_count;
};

struct building {
	struct zone_span *spans;
	size_t count;
};

static uint32_t
u32(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int64_t
i64(const unsigned char *at)
{
	return (int64_t)((uint64_t)u32(at) << 32 | u32(at + 4));
}

/* The block that begins here, with times of time_size bytes. */
static bool
read_block(const unsigned char *at, size_t left, size_t time_size, struct block *ret)
{
	uint32_t utc, standard, leap, chars;
	size_t changes, need;

	if (left < HEADER || memcmp(at, "TZif", 4) != 0 || at[4] < '2' || at[4] > '4')
		return false;
	utc = u32(at + 20);
	standard = u32(at + 24);
	leap = u32(at + 28);
	ret->times_count = u32(at + 32);
	ret->types_count = u32(at + 36);
	chars = u32(at + 40);
	if (utc > TYPES_MAX || standard > TYPES_MAX || leap != 0 ||
	    ret->times_count > CHANGES_MAX || ret->types_count > TYPES_MAX || chars > CHANGES_MAX)
		return false;
	changes = ret->times_count * (time_size + 1);
	need = HEADER + changes + (size_t)ret->types_count * TYPE + chars + standard + utc;
	if (need > left)
		return false;
	ret->times = at + HEADER;
	ret->kinds = ret->times + ret->times_count * time_size;
	ret->types = ret->times + changes;
	ret->end = at + need;
	return true;
}

static bool
is_offset(int32_t offset)
{
	return offset > -CALENDAR_DAY && offset < CALENDAR_DAY;
}

/* Seconds east of UTC; false for a type that there is not. */
static bool
read_offset(const struct block *block, size_t type, int32_t *ret)
{
	if (type >= block->types_count)
		return false;
	*ret = (int32_t)u32(block->types + type * TYPE);
	return is_offset(*ret);
}

/* A later one at the same moment counts; one that changes nothing is left out. False: too early. */
static bool
add_span(struct building *to, int64_t from, int32_t offset)
{
	struct zone_span *last = &to->spans[to->count - 1];

	if (from < last->from)
		return false;
	if (from == last->from)
		last->offset = offset;
	else if (offset != last->offset)
		to->spans[to->count++] = (struct zone_span){ from, offset };
	return true;
}

static bool
add_listed(struct building *to, const struct block *block)
{
	int32_t offset;

	if (!read_offset(block, 0, &offset))
		return false;
	to->spans[to->count++] = (struct zone_span){ INT64_MIN, offset };
	for (uint32_t i = 0; i < block->times_count; i++)
		if (!read_offset(block, block->kinds[i], &offset) ||
		    !add_span(to, i64(block->times + (size_t)i * 8), offset))
			return false;
	return true;
}

static bool
add_year(struct building *to, const struct zone_rule *rule, int year)
{
	struct zone_span start = { zone_change_at(&rule->start, year, rule->offset),
				   rule->summer_offset },
			 end = { zone_change_at(&rule->end, year, rule->summer_offset),
				 rule->offset };
	bool in_order = start.from <= end.from;
	struct zone_span *first = in_order ? &start : &end, *second = in_order ? &end : &start;

	return add_span(to, first->from, first->offset) &&
	       add_span(to, second->from, second->offset);
}

/* The year after the last listed change: the first one that the rule governs alone. */
static bool
year_after(int64_t seconds, int *ret)
{
	int year = YEAR_FIRST;

	if (seconds < calendar_days(YEAR_FIRST, 1, 1) * CALENDAR_DAY) {
		*ret = 1970;
		return true;
	}
	if (seconds >= calendar_days(YEAR_LAST, 1, 1) * CALENDAR_DAY)
		return false;
	year += (int)(seconds / CALENDAR_DAY - calendar_days(YEAR_FIRST, 1, 1)) / 366;
	while (calendar_days(year, 1, 1) * CALENDAR_DAY <= seconds)
		year++;
	*ret = year;
	return true;
}

/* What changes in the year of the last listed change and after it. */
static bool
add_ruled(struct building *to, const struct zone_rule *rule, int64_t listed,
	  int64_t *ret_repeats_from)
{
	int year;

	if (!rule->has_summer)
		return true;
	if (!is_offset(rule->offset) || !is_offset(rule->summer_offset) ||
	    !year_after(listed, &year))
		return false;
	*ret_repeats_from = calendar_days(year, 1, 1) * CALENDAR_DAY;
	for (int i = -1; i < RULE_YEARS; i++) {
		struct building one = { (struct zone_span[4]){ { INT64_MIN, INT32_MIN } }, 1 };

		if (!add_year(&one, rule, year + i))
			return false;
		for (size_t j = 1; j < one.count; j++)
			if (one.spans[j].from > listed &&
			    !add_span(to, one.spans[j].from, one.spans[j].offset))
				return false;
	}
	return true;
}

static bool
find_footer(const struct block *block, const unsigned char *end, const char **ret, size_t *ret_len)
{
	const unsigned char *at = block->end, *newline;

	if (at == end || *at++ != '\n')
		return false;
	newline = memchr(at, '\n', (size_t)(end - at));
	if (newline == NULL || newline - at > FOOTER_MAX)
		return false;
	*ret = (const char *)at;
	*ret_len = (size_t)(newline - at);
	return true;
}

static bool
read_zone(struct arena *arena, const unsigned char *bytes, size_t len, struct time_zone *ret)
{
	const unsigned char *end = bytes + len;
	struct block old, block;
	struct building building = { 0 };
	struct zone_rule rule;
	const char *footer;
	size_t footer_len;
	int64_t listed = INT64_MIN;

	/* The first block is there for readers of 32 bits. */
	if (!read_block(bytes, len, 4, &old) ||
	    !read_block(old.end, (size_t)(end - old.end), 8, &block) ||
	    !find_footer(&block, end, &footer, &footer_len))
		return false;
	building.spans =
		arena_array(arena, struct zone_span, block.times_count + 2 + 2 * (RULE_YEARS + 1));
	if (!add_listed(&building, &block))
		return false;
	if (block.times_count > 0)
		listed = i64(block.times + (size_t)(block.times_count - 1) * 8);
	ret->repeats_from = INT64_MAX;
	if (footer_len > 0 && (!zone_rule_read(footer, footer_len, &rule) ||
			       !add_ruled(&building, &rule, listed, &ret->repeats_from)))
		return false;
	ret->spans = building.spans;
	ret->count = building.count;
	return true;
}

bool
time_zone_read(struct arena *arena, const char *name, const void *bytes, size_t len,
	       const struct time_zone **ret_zone, struct err *err)
{
	struct time_zone *zone = arena_new(arena, struct time_zone);

	zone->name = name;
	if (!read_zone(arena, bytes, len, zone))
		return err_set(err, ERR_INVALID, "\"%s\" is no compiled time zone", name);
	*ret_zone = zone;
	return true;
}
