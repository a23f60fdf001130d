/* SPDX-License-Identifier: Apache-2.0
 *
 * Local times: the moment that clocks of a place show, in the past, by today's rules and by those of
 * any year to come; what they skip and what they show twice.
 */
#include "reconciled/core/time.h"
#include "zone_case.h"

#define NONE NULL

/* moment: the same in RFC 3339 with an offset; NONE: unreadable. */
static const struct {
	const char *zone, *local, *moment;
} rows[] = {
	{ "Europe/Berlin", "2026-01-15 12:00:00", "2026-01-15T12:00:00+01:00" },
	{ "Europe/Berlin", "2026-07-15 12:00:00", "2026-07-15T12:00:00+02:00" },
	{ "Europe/Berlin", "2026-03-29 01:59:59.999", "2026-03-29T01:59:59.999+01:00" },
	{ "Europe/Berlin", "2026-03-29 02:00:00", NONE },
	{ "Europe/Berlin", "2026-03-29 02:59:59", NONE },
	{ "Europe/Berlin", "2026-03-29 03:00:00", "2026-03-29T03:00:00+02:00" },
	{ "Europe/Berlin", "2026-10-25 01:59:59", "2026-10-25T01:59:59+02:00" },
	{ "Europe/Berlin", "2026-10-25 02:00:00", NONE },
	{ "Europe/Berlin", "2026-10-25 02:59:59", NONE },
	{ "Europe/Berlin", "2026-10-25 03:00:00", "2026-10-25T03:00:00+01:00" },
	{ "Europe/Berlin", "2026-10-25T02:30:00+02:00", "2026-10-25T00:30:00Z" },
	{ "Europe/Berlin", "2026-10-25T02:30:00Z", "2026-10-25T02:30:00Z" },
	/* before there was a rule at all */
	{ "Europe/Berlin", "1890-01-01 00:53:28", "1890-01-01T00:00:00Z" },
	/* beyond 2037: the last listed year */
	{ "Europe/Berlin", "2038-01-19 04:14:08", "2038-01-19T03:14:08Z" },
	{ "Europe/Berlin", "2040-07-01 12:00:00", "2040-07-01T12:00:00+02:00" },
	{ "Europe/Berlin", "2040-03-25 02:30:00", NONE },
	{ "Europe/Berlin", "2040-10-28 02:30:00", NONE },
	{ "Europe/Berlin", "2400-07-01 12:00:00", "2400-07-01T12:00:00+02:00" },
	{ "Europe/Berlin", "2437-12-31 23:59:59", "2437-12-31T23:59:59+01:00" },
	{ "Europe/Berlin", "2438-07-01 12:00:00", "2438-07-01T12:00:00+02:00" },
	/* 9999-03-28 is the last Sunday of that March, as 1999-03-28 was */
	{ "Europe/Berlin", "9999-03-28 02:30:00", NONE },
	{ "Europe/Berlin", "9999-12-31 23:59:59", "9999-12-31T23:59:59+01:00" },
	{ "America/New_York", "2026-03-08 02:30:00", NONE },
	{ "America/New_York", "2026-03-08 03:00:00", "2026-03-08T03:00:00-04:00" },
	{ "America/New_York", "2026-11-01 01:30:00", NONE },
	{ "America/New_York", "2026-11-01 02:00:00", "2026-11-01T02:00:00-05:00" },
	{ "America/New_York", "2100-07-04 09:00:00", "2100-07-04T09:00:00-04:00" },
	{ "Europe/Dublin", "2026-07-01 12:00:00", "2026-07-01T12:00:00+01:00" },
	{ "Europe/Dublin", "2050-01-01 12:00:00", "2050-01-01T12:00:00Z" },
	{ "Asia/Kolkata", "2026-03-01 12:00:00", "2026-03-01T12:00:00+05:30" },
	{ "Asia/Kolkata", "5000-03-01 12:00:00", "5000-03-01T12:00:00+05:30" },
	{ "Asia/Kathmandu", "2026-03-01 12:00:00", "2026-03-01T12:00:00+05:45" },
	{ "Australia/Lord_Howe", "2026-01-15 12:00:00", "2026-01-15T12:00:00+11:00" },
	{ "Australia/Lord_Howe", "2026-07-15 12:00:00", "2026-07-15T12:00:00+10:30" },
	{ "Australia/Lord_Howe", "2026-04-05 01:45:00", NONE }, /* half an hour twice */
	{ "Australia/Sydney", "2060-01-15 12:00:00", "2060-01-15T12:00:00+11:00" },
	{ "America/Sao_Paulo", "2018-12-01 12:00:00", "2018-12-01T12:00:00-02:00" },
	{ "America/Sao_Paulo", "2026-12-01 12:00:00", "2026-12-01T12:00:00-03:00" },
	{ "Pacific/Apia", "2011-12-30 12:00:00", NONE }, /* a day that was skipped */
	{ "Pacific/Apia", "2011-12-31 00:00:00", "2011-12-30T10:00:00Z" },
	{ "Pacific/Kiritimati", "2026-03-01 12:00:00", "2026-03-01T12:00:00+14:00" },
	{ "Etc/UTC", "2026-03-01 12:00:00", "2026-03-01T12:00:00Z" },
	{ "Etc/GMT+5", "2026-03-01 12:00:00", "2026-03-01T12:00:00-05:00" },
	/* a leap second, where it is 01:00 local time */
	{ "Europe/Berlin", "2017-01-01 00:59:60", "2017-01-01T00:00:00Z" },
	{ "Europe/Berlin", "2016-12-31 23:59:60", NONE },
};

static bool
read(const char *text, const struct time_zone *zone, struct moment *ret)
{
	return time_read(text, strlen(text), zone, ret);
}

static void
test_rows(struct arena *arena)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct moment local = { 0 }, moment = { 0 };
		bool known = read(rows[i].local, zone(arena, rows[i].zone), &local);
		bool wanted = rows[i].moment != NONE && read(rows[i].moment, NULL, &moment);

		tap_ok(known == (rows[i].moment != NONE) && known == wanted &&
			       moment_compare(&local, &moment) == 0,
		       "%s: %s", rows[i].zone, rows[i].local);
	}
}

static void
test_wrong(struct arena *arena)
{
	static char bytes[100000], copy[sizeof(bytes)];
	size_t len = zone_bytes("Europe/Berlin", bytes, sizeof(bytes)), good = 0;
	const struct time_zone *read = NULL;
	struct err err = { 0 };

	tap_ok(!time_zone_read(arena, "x", "", 0, &read, &err) && read == NULL, "no bytes");
	tap_str(err.text, "\"x\" is no compiled time zone", "and what is said");
	for (size_t i = 0; i < len; i++)
		good += time_zone_read(arena, "x", bytes, i, &read, &err);
	tap_int((long long)good, 0, "nothing that was cut off is a zone");
	memcpy(copy, bytes, len);
	copy[0] = 't';
	tap_ok(!time_zone_read(arena, "x", copy, len, &read, &err), "another kind of file");
	memcpy(copy, bytes, len);
	copy[len - 2] = '!'; /* behind the rule */
	tap_ok(!time_zone_read(arena, "x", copy, len, &read, &err), "a rule that is none");
	memcpy(copy, bytes, len);
	copy[31] = 1; /* in the header, the count of leap seconds */
	tap_ok(!time_zone_read(arena, "x", copy, len, &read, &err), "a zone with a leap second");
}

int
main(void)
{
	struct arena *arena = arena_create();

	test_rows(arena);
	test_wrong(arena);
	arena_destroy(arena);
	return tap_done();
}
