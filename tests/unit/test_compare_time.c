/* SPDX-License-Identifier: Apache-2.0
 *
 * Times as compared values, and versions that are times.
 */
#include "compare_case.h"
#include "reconciled/base/clock.h"
#include "zone_case.h"

enum what { TIME, NOT_BEFORE, AT_LEAST, VERSION, VERSION_AT_LEAST };

static const struct {
	enum compare_type type;
	enum compare_relation relation;
} kinds[] = {
	[TIME] = { COMPARE_TIME, COMPARE_IS },
	[NOT_BEFORE] = { COMPARE_TIME, COMPARE_NOT_BEFORE },
	[AT_LEAST] = { COMPARE_TIME, COMPARE_AT_LEAST },
	[VERSION] = { COMPARE_VERSION, COMPARE_IS },
	[VERSION_AT_LEAST] = { COMPARE_VERSION, COMPARE_AT_LEAST },
};

#define Q(text) "\"" text "\""
#define NOON Q("2026-03-01T12:00:00Z")

static const struct {
	enum what what;
	const char *found, *expected;
	int64_t skew_us;
	const char *zone;
	enum compare_result want;
	const char *name;
} rows[] = {
	{ TIME, NOON, NOON, 0, NULL, EQUAL, "the same" },
	{ TIME, Q("2026-03-01T13:00:00.000+01:00"), NOON, 0, NULL, EQUAL, "another zone" },
	{ TIME, "1772366400", NOON, 0, NULL, EQUAL, "seconds" },
	{ TIME, "1772366400000", NOON, 0, NULL, EQUAL, "milliseconds" },
	{ TIME, Q("1772366400"), NOON, 0, NULL, EQUAL, "seconds as text" },
	{ TIME, Q("\\/Date(1772366400000+0100)\\/"), NOON, 0, NULL, EQUAL, "Date()" },
	{ TIME, Q("Sun, 01 Mar 2026 12:00:00 GMT"), NOON, 0, NULL, EQUAL, "an HTTP date" },
	{ TIME, Q("2026-03-01T12:00:00.000001Z"), NOON, 0, NULL, DIFFERENT, "a microsecond" },
	{ TIME, Q("2026-03-01T12:00:00.0000000001Z"), NOON, 0, NULL, DIFFERENT, "less than that" },
	{ TIME, Q("2026-03-01T12:05:00Z"), NOON, 5 * MINUTE, NULL, EQUAL, "at the skew" },
	{ TIME, Q("2026-03-01T11:55:00Z"), NOON, 5 * MINUTE, NULL, EQUAL, "at the skew, earlier" },
	{ TIME, Q("2026-03-01T12:05:00.001Z"), NOON, 5 * MINUTE, NULL, DIFFERENT, "beyond it" },
	{ TIME, Q("2026-03-01T11:54:59.999Z"), NOON, 5 * MINUTE, NULL, DIFFERENT,
	  "beyond it, earlier" },
	{ TIME, Q("2016-12-31T23:59:60Z"), Q("2017-01-01T00:00:00Z"), 0, NULL, EQUAL,
	  "a leap second is the second that follows" },
	{ TIME, Q("2016-12-31T23:59:60Z"), Q("2016-12-31T23:59:59Z"), 0, NULL, DIFFERENT,
	  "and not the one before" },
	{ TIME, Q("2039-01-01T00:00:00Z"), Q("2039-01-01T01:00:00+01:00"), 0, NULL, EQUAL,
	  "after 2038" },
	{ TIME, Q("9999-12-31T23:59:59Z"), Q("9999-12-31T23:59:58Z"), 0, NULL, DIFFERENT,
	  "the last seconds" },
	{ TIME, Q("2026-03-01T12:00:00"), NOON, 0, NULL, UNREADABLE, "no zone there" },
	{ TIME, NOON, Q("2026-03-01T12:00:00"), 0, NULL, UNREADABLE, "no zone here" },
	{ TIME, Q("2026-03-01T13:00:00"), NOON, 0, "Europe/Berlin", EQUAL,
	  "the zone of the policy" },
	{ TIME, NOON, Q("2026/03/01 13:00:00"), 0, "Europe/Berlin", EQUAL, "for ours too" },
	{ TIME, Q("2039-07-01T14:00:00"), Q("2039-07-01T12:00:00Z"), 0, "Europe/Berlin", EQUAL,
	  "summer time after 2038" },
	{ TIME, Q("2026-10-25 02:30:00"), Q("2026-10-25T00:30:00Z"), 0, "Europe/Berlin", UNREADABLE,
	  "a time that clocks showed twice" },
	{ TIME, Q("2026-03-29 02:30:00"), Q("2026-03-29T01:30:00Z"), 0, "Europe/Berlin", UNREADABLE,
	  "a time that clocks skipped" },
	{ TIME, Q("2026-02-30T12:00:00Z"), NOON, 0, NULL, UNREADABLE, "a day that there is not" },
	{ TIME, Q("2026-03-01"), NOON, 0, "UTC", UNREADABLE, "a date" },
	{ TIME, Q("2026-03-01T12:00:00Z\\u0000"), NOON, 0, NULL, UNREADABLE, "a NUL" },
	{ TIME, "1.7723664e9", NOON, 0, NULL, UNREADABLE, "seconds with an exponent" },
	{ TIME, "0", NOON, 0, NULL, UNREADABLE, "zero" },
	{ TIME, "null", NOON, 0, NULL, UNREADABLE, "null" },
	{ TIME, Q(""), NOON, 0, NULL, UNREADABLE, "empty" },
	{ TIME, NOON, NULL, 0, NULL, UNREADABLE, "ours is absent" },

	{ NOT_BEFORE, Q("2026-03-01T12:00:00Z"), NOON, 0, NULL, EQUAL, "at the same time" },
	{ NOT_BEFORE, Q("2027-03-01T12:00:00Z"), NOON, 0, NULL, EQUAL, "later" },
	{ NOT_BEFORE, Q("2026-03-01T11:59:59.999Z"), NOON, 0, NULL, DIFFERENT, "before" },
	{ NOT_BEFORE, Q("2026-03-01T11:55:00Z"), NOON, 5 * MINUTE, NULL, EQUAL,
	  "before, at the skew" },
	{ NOT_BEFORE, Q("2026-03-01T11:54:59Z"), NOON, 5 * MINUTE, NULL, DIFFERENT,
	  "before, beyond the skew" },
	{ NOT_BEFORE, Q("soon"), NOON, 0, NULL, UNREADABLE, "no time" },
	{ AT_LEAST, Q("2026-03-01T12:00:01Z"), NOON, 0, NULL, EQUAL, "at least: later" },
	{ AT_LEAST, Q("2026-03-01T11:59:59Z"), NOON, 0, NULL, DIFFERENT, "at least: earlier" },

	{ VERSION, NOON, NOON, 0, NULL, EQUAL, "the same version" },
	{ VERSION, Q("2026-03-01T12:00:01Z"), NOON, 0, NULL, NEWER, "newer" },
	{ VERSION, Q("2026-03-01T11:59:59Z"), NOON, 0, NULL, OLDER, "older" },
	{ VERSION, Q("2026-03-01T12:59:59+01:00"), NOON, 0, NULL, OLDER, "older, by its moment" },
	{ VERSION, Q("2026-03-01T12:00:01Z"), NOON, SECOND, NULL, EQUAL, "within the skew" },
	{ VERSION, Q("2026-03-01T12:00:01.1Z"), NOON, SECOND, NULL, NEWER,
	  "newer beyond the skew" },
	{ VERSION, Q("2026-03-01T13:00:01"), NOON, 0, "Europe/Berlin", NEWER, "newer there" },
	{ VERSION, Q("7"), Q("7"), 0, NULL, UNREADABLE, "numbers are no times" },
	{ VERSION_AT_LEAST, Q("2026-03-01T12:00:01Z"), NOON, 0, NULL, EQUAL, "newer is enough" },
	{ VERSION_AT_LEAST, Q("2026-03-01T11:59:59Z"), NOON, 0, NULL, OLDER, "older is older" },
};

static void
test_rows(struct arena *arena)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct comparison by = {
			.type = kinds[rows[i].what].type,
			.relation = kinds[rows[i].what].relation,
			.order = VERSION_TIME,
			.skew_us = rows[i].skew_us,
			.zone = rows[i].zone == NULL ? NULL : zone(arena, rows[i].zone),
		};
		struct compared compared = case_compare(
			arena, by, "/v", arena_printf(arena, "{\"v\":%s}", rows[i].found),
			rows[i].expected);

		case_check(&compared, rows[i].want, rows[i].name);
	}
}

/* created_at of the target against our own times, which count to the second. */
static void
test_operation(struct arena *arena)
{
	struct operation op = operation(arena, "{}");
	struct operand ours = { .from = locator(arena, "op.first_sent_at") };
	struct scene scene = { .arena = arena, .op = &op };
	struct comparison by = {
		.type = COMPARE_TIME,
		.relation = COMPARE_NOT_BEFORE,
		.found = *locator(arena, "/v"),
		.values = &ours,
		.count = 1,
	};
	struct compared compared;

	scene.item = json(arena, "{\"v\":\"2026-03-01T12:00:00Z\"}");
	op.first_sent_at_us = SENT_US + 900000;
	compared = compare_field(&scene, &by);
	case_check(&compared, EQUAL, "a target that writes seconds");
	tap_str(compared.expected, "2026-03-01T12:00:00Z", "what it was compared with");
	op.first_sent_at_us = SENT_US + SECOND;
	compared = compare_field(&scene, &by);
	case_check(&compared, DIFFERENT, "it was there before we sent it");
	op.first_sent_at_us = TIME_NONE;
	compared = compare_field(&scene, &by);
	case_check(&compared, UNREADABLE, "it was never sent");
}

int
main(void)
{
	struct arena *arena = arena_create();

	test_rows(arena);
	test_operation(arena);
	arena_destroy(arena);
	return tap_done();
}
