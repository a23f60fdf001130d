/* SPDX-License-Identifier: Apache-2.0
 *
 * Times: every form that targets write, the moment that it is, and what is no time.
 */
#include <inttypes.h>

#include "reconciled/core/time.h"
#include "tap.h"

#define NOON INT64_C(1772366400) /* 2026-03-01T12:00:00Z */
#define MS UINT64_C(1000000000000000)

static const struct {
	const char *text;
	int64_t seconds;
	uint64_t atto;
} times[] = {
	{ "2026-03-01T12:00:00Z", NOON, 0 },
	{ "2026-03-01t12:00:00z", NOON, 0 },
	{ "2026-03-01T12:00:00+00:00", NOON, 0 },
	{ "2026-03-01T12:00:00-00:00", NOON, 0 },
	{ "2026-03-01T12:00:00+0000", NOON, 0 },
	{ "2026-03-01T13:30:00+0130", NOON, 0 },
	{ "2026-03-01T04:00:00-08:00", NOON, 0 },
	{ "2026-03-02T02:00:00+14:00", NOON, 0 },
	{ "2026-03-01T17:45:00+05:45", NOON, 0 },
	{ "2026-03-01 12:00:00Z", NOON, 0 },
	{ "2026-03-01 12:00:00+00:00", NOON, 0 },
	{ "2026-03-01 13:00:00 +0100", NOON, 0 },
	{ "2026/03/01 12:00:00Z", NOON, 0 },
	{ "2026/03/01T13:00:00+0100", NOON, 0 },
	{ "2026-03-01T12:00:00.5Z", NOON, 500 * MS },
	{ "2026-03-01T12:00:00.000Z", NOON, 0 },
	{ "2026-03-01T12:00:00.000001Z", NOON, MS / 1000 },
	{ "2026-03-01T12:00:00.123456789123456789Z", NOON, UINT64_C(123456789123456789) },
	{ "2026-03-01T12:00:00.5000000000000000000000000Z", NOON, 500 * MS },
	{ "1970-01-01T00:00:00Z", 0, 0 },
	{ "1969-12-31T23:59:59.25Z", -1, 250 * MS },
	{ "1900-01-01T00:00:00Z", INT64_C(-2208988800), 0 },
	{ "0001-01-01T00:00:00Z", INT64_C(-62135596800), 0 },
	{ "0000-02-29T00:00:00Z", INT64_C(-62162121600), 0 },
	{ "2038-01-19T03:14:07Z", INT64_C(2147483647), 0 },
	{ "2038-01-19T03:14:08Z", INT64_C(2147483648), 0 },
	{ "2106-02-07T06:28:16Z", INT64_C(4294967296), 0 },
	{ "9999-12-31T23:59:59Z", INT64_C(253402300799), 0 },
	{ "2024-02-29T00:00:00Z", INT64_C(1709164800), 0 },
	{ "2000-02-29T00:00:00Z", INT64_C(951782400), 0 },
	/* a leap second is the second that follows */
	{ "2016-12-31T23:59:60Z", INT64_C(1483228800), 0 },
	{ "2016-12-31T23:59:60.5Z", INT64_C(1483228800), 500 * MS },
	{ "2016-12-31T15:59:60-08:00", INT64_C(1483228800), 0 },
	{ "2017-01-01T08:59:60+09:00", INT64_C(1483228800), 0 },
	{ "2015-06-30T23:59:60Z", INT64_C(1435708800), 0 },

	{ "Sun, 06 Nov 1994 08:49:37 GMT", 784111777, 0 },
	{ "Sunday, 06-Nov-94 08:49:37 GMT", 784111777, 0 },
	{ "Sun Nov  6 08:49:37 1994", 784111777, 0 },
	{ "Wed Nov 16 08:49:37 1994", 784975777, 0 },
	{ "Sun, 01 Mar 2026 12:00:00 GMT", NOON, 0 },
	{ "Sunday, 01-Mar-26 12:00:00 GMT", NOON, 0 },
	{ "Monday, 01-Mar-71 12:00:00 GMT", 36676800, 0 },
	{ "Friday, 01-Mar-70 12:00:00 GMT", INT64_C(3160900800), 0 },
	{ "Sat, 31 Dec 2016 23:59:60 GMT", INT64_C(1483228800), 0 },

	{ "1772366400", NOON, 0 },
	{ "0000000000", 0, 0 },
	{ "9999999999", INT64_C(9999999999), 0 },
	{ "1772366400000", NOON, 0 },
	{ "1772366400123", NOON, 123 * MS },
	{ "/Date(1772366400000)/", NOON, 0 },
	{ "/Date(1772366400123)/", NOON, 123 * MS },
	{ "/Date(1772366400000+0100)/", NOON, 0 },
	{ "/Date(1772366400000-0800)/", NOON, 0 },
	{ "/Date(0)/", 0, 0 },
	{ "/Date(-1)/", -1, 999 * MS },
	{ "/Date(-62135596800000)/", INT64_C(-62135596800), 0 },
	{ "/Date(253402300799999)/", INT64_C(253402300799), 999 * MS },
};

static const char *const wrong[] = {
	"",
	"2026-03-01T12:00:00", /* no zone */
	"2026-03-01 12:00:00",
	"2026/03/01 12:00:00",
	"2026-03-01",
	"2026-03-01Z",
	"12:00:00Z",
	"2026-03-01T12:00Z",
	"2026-03-01T12:00:00,5Z",
	"2026-03-01T12:00:00.Z",
	"2026-03-01T12:00:00.0000000000000000001Z",
	"2026-03-01T12:00:00 Z",
	"2026-03-01T12:00:00 +0000",
	"2026-03-01T12:00:00+00",
	"2026-03-01T12:00:00+24:00",
	"2026-03-01T12:00:00+01:60",
	"2026-03-01T12:00:00+1:00",
	"2026-03-01T12:00:00UTC",
	"2026-03-01T12:00:00[UTC]",
	"2026-03-01T12:00:00ZZ",
	" 2026-03-01T12:00:00Z",
	"2026-03-01T12:00:00Z ",
	"2026-03-01  12:00:00Z",
	"2026/03-01T12:00:00Z",
	"2026-03/01T12:00:00Z",
	"26-03-01T12:00:00Z",
	"02026-03-01T12:00:00Z",
	"-026-03-01T12:00:00Z",
	"20260301T120000Z",
	"2026-3-1T12:00:00Z",
	"01-03-2026T12:00:00Z",
	"03/01/2026 12:00:00Z",
	"2026-02-29T00:00:00Z",
	"2026-02-30T00:00:00Z",
	"1900-02-29T00:00:00Z",
	"2100-02-29T00:00:00Z",
	"2026-04-31T00:00:00Z",
	"2026-00-10T00:00:00Z",
	"2026-13-10T00:00:00Z",
	"2026-01-00T00:00:00Z",
	"2026-01-32T00:00:00Z",
	"2026-03-01T24:00:00Z",
	"2026-03-01T23:60:00Z",
	"2026-03-01T23:59:61Z",
	"2026-03-01T12:00:60Z", /* no leap second there */
	"2026-03-01T23:59:60Z",
	"2016-12-31T23:59:60-08:00",
	"Sun, 06 Nov 1994 08:49:37 UTC",
	"Sun, 06 Nov 1994 08:49:37 +0000",
	"Sun, 06 Nov 1994 08:49:37",
	"Sun, 6 Nov 1994 08:49:37 GMT",
	"sun, 06 nov 1994 08:49:37 gmt",
	"Son, 06 Nov 1994 08:49:37 GMT",
	"Sun, 06 Okt 1994 08:49:37 GMT",
	"Sun, 30 Feb 1994 08:49:37 GMT",
	"06 Nov 1994 08:49:37 GMT",
	"Sun Nov  6 08:49:37 1994 GMT",
	"Sun Nov 06 08:49:37 94",
	"177236640",
	"17723664000",
	"177236640000",
	"17723664000000",
	"-1772366400",
	"+1772366400",
	"1772366400.5",
	"1772366400Z",
	"1.7723664e9",
	"/Date()/",
	"/Date(-)/",
	"/Date(+1)/",
	"/Date(1772366400000)",
	"/Date(1772366400000+01:00)/",
	"/Date(1772366400000+01)/",
	"/Date(1772366400000.5)/",
	"/Date(1000000000000000)/",
	"/Date(-1000000000000000)/",
	"/Date(999999999999999999)/",
	"/Date(1772366400000)/ ",
	"now",
	"null",
	"0",
};

static void
test_times(void)
{
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct moment moment = { 0 };
		bool read = time_read(times[i].text, strlen(times[i].text), NULL, &moment);

		tap_ok(read && moment.seconds == times[i].seconds && moment.atto == times[i].atto,
		       "%s", times[i].text);
		if (moment.seconds != times[i].seconds || moment.atto != times[i].atto)
			printf("# got %" PRId64 " and %" PRIu64 "\n", moment.seconds, moment.atto);
	}
}

static void
test_wrong(void)
{
	struct moment moment = { .seconds = 7, .atto = 8 };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		tap_ok(!time_read(wrong[i], strlen(wrong[i]), NULL, &moment), "no time: \"%s\"",
		       wrong[i]);
	tap_ok(!time_read("2026-03-01T12:00:00Z\0", 21, NULL, &moment), "no time: a NUL behind it");
	tap_ok(time_read("1772366400x", 10, NULL, &moment), "the length counts, not the NUL");
	moment = (struct moment){ .seconds = 7, .atto = 8 };
	tap_ok(!time_read("2026-03-01T12:00:00.5", 21, NULL, &moment) && moment.seconds == 7 &&
		       moment.atto == 8,
	       "untouched on failure");
}

static void
test_centuries(void)
{
	struct moment moment = { 0 };
	static const char text[] = "Friday, 01-Jan-77 00:00:00 GMT";

	tap_ok(time_read_http(text, strlen(text), 2026, &moment) && moment.seconds == 220924800,
	       "77 is 1977 in 2026");
	tap_ok(time_read_http(text, strlen(text), 2027, &moment) &&
		       moment.seconds == INT64_C(3376684800),
	       "77 is 2077 in 2027");
	tap_ok(!time_read_http("1772366400", 10, 2026, &moment), "nothing but HTTP dates");
}

static struct moment
read(const char *text)
{
	struct moment moment = { 0 };

	tap_ok(time_read(text, strlen(text), NULL, &moment), "%s", text);
	return moment;
}

static const struct {
	const char *a, *b;
	int order;
	int64_t skew_us;
	bool near;
} pairs[] = {
	{ "2026-03-01T12:00:00Z", "2026-03-01T13:00:00+01:00", 0, 0, true },
	{ "2026-03-01T12:00:00.1Z", "2026-03-01T12:00:00.10Z", 0, 0, true },
	{ "2026-03-01T12:00:00.000000001Z", "2026-03-01T12:00:00Z", 1, 0, false },
	{ "2026-03-01T12:00:00.000000001Z", "2026-03-01T12:00:00Z", 1, 1, true },
	{ "2026-03-01T12:00:00Z", "2026-03-01T12:05:00Z", -1, 300000000, true },
	{ "2026-03-01T12:00:00Z", "2026-03-01T12:05:00.000000000000000001Z", -1, 300000000, false },
	{ "2026-03-01T12:05:00Z", "2026-03-01T12:00:00Z", 1, 299999999, false },
	{ "2026-03-01T12:00:00.9Z", "2026-03-01T12:00:02.4Z", -1, 1500000, true },
	{ "2026-03-01T12:00:00.9Z", "2026-03-01T12:00:02.4Z", -1, 1499999, false },
	{ "1969-12-31T23:59:59.5Z", "1970-01-01T00:00:00.5Z", -1, 1000000, true },
	{ "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", -1, 0, false },
};

static void
test_pairs(void)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct moment a = read(pairs[i].a), b = read(pairs[i].b);

		tap_int(moment_compare(&a, &b), pairs[i].order, "order");
		tap_int(moment_compare(&b, &a), -pairs[i].order, "order, turned round");
		tap_int(moment_is_near(&a, &b, pairs[i].skew_us), pairs[i].near, "near");
		tap_int(moment_is_near(&b, &a, pairs[i].skew_us), pairs[i].near,
			"near, turned round");
	}
}

static void
test_us(void)
{
	struct moment a = read("2026-03-01T12:00:00.1234569Z"), b = read("/Date(-1)/"),
		      c = read("9999-12-31T23:59:59.999999Z"),
		      d = read("/Date(999999999999999)/"), e = read("/Date(-999999999999999)/");

	tap_int(moment_us(&a), INT64_C(1772366400123456), "cut to microseconds");
	tap_int(moment_us(&b), -1000, "before the epoch");
	tap_int(moment_us(&c), INT64_C(253402300799999999), "the last year");
	tap_int(moment_us(&d), INT64_C(999999999999999000), "the last one with 15 digits");
	tap_int(moment_us(&e), INT64_C(-999999999999999000), "the first one with 15 digits");
}

int
main(void)
{
	test_times();
	test_wrong();
	test_centuries();
	test_pairs();
	test_us();
	return tap_done();
}
