/* SPDX-License-Identifier: Apache-2.0
 *
 * When the next question is welcome, as answers say it. All at Tue, 06 Jan 2026 12:00:00 GMT, which
 * is 1767700800 seconds after 1970.
 */
#include "../../src/probe/quota.h"

#include "../../src/probe/http_date.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "reconciled/core/reading.h"
#include "tap.h"

#define NOW (1767700800 * SECOND)
#define UNSAID QUOTA_UNSAID
enum { HEADERS_MAX = 4 };

static const struct {
	const char *name;
	int status;
	struct header headers[HEADERS_MAX];
	int64_t wait_us;
} answers[] = {
	{ "nothing said", 429, { { "content-type", "text/plain" } }, UNSAID },
	/* Retry-After in seconds */
	{ "seconds", 429, { { "retry-after", "120" } }, 120 * SECOND },
	{ "none", 503, { { "retry-after", "0" } }, 0 },
	{ "a fraction", 429, { { "retry-after", "2.5" } }, 2500 * MILLISECOND },
	{ "a whole fraction", 429, { { "retry-after", "2.0" } }, 2 * SECOND },
	{ "finer than we count", 429, { { "retry-after", "0.12345678" } }, 123456 },
	{ "a sign", 429, { { "retry-after", "+3" } }, 3 * SECOND },
	{ "negative", 429, { { "retry-after", "-5" } }, 0 },
	{ "an hour", 429, { { "retry-after", "3600" } }, HOUR },
	{ "a day", 429, { { "retry-after", "86400" } }, HOUR },
	{ "beyond numbers", 429, { { "retry-after", "99999999999999999999999" } }, HOUR },
	{ "words", 429, { { "retry-after", "soon" } }, UNSAID },
	{ "empty", 429, { { "retry-after", "" } }, UNSAID },
	{ "a number and words", 429, { { "retry-after", "5 minutes" } }, 5 * SECOND },
	{ "a number and a letter", 429, { { "retry-after", "5x" } }, UNSAID },
	{ "hexadecimal", 429, { { "retry-after", "0x10" } }, UNSAID },
	{ "infinite", 429, { { "retry-after", "inf" } }, UNSAID },
	{ "milliseconds", 429, { { "retry-after-ms", "1500" } }, 1500 * MILLISECOND },
	{ "milliseconds of another maker",
	  429,
	  { { "x-ms-retry-after-ms", "20" } },
	  20 * MILLISECOND },
	{ "of a 500", 500, { { "retry-after", "7" } }, 7 * SECOND },
	{ "of a 403", 403, { { "retry-after", "60" } }, MINUTE },
	{ "of a success it is about one object", 202, { { "retry-after", "7" } }, UNSAID },
	{ "of a redirect", 302, { { "retry-after", "7" } }, UNSAID },
	/* Retry-After as a date */
	{ "IMF-fixdate", 503, { { "retry-after", "Tue, 06 Jan 2026 12:01:30 GMT" } }, 90 * SECOND },
	{ "RFC 850", 503, { { "retry-after", "Tuesday, 06-Jan-26 12:01:30 GMT" } }, 90 * SECOND },
	{ "asctime", 503, { { "retry-after", "Tue Jan  6 12:01:30 2026" } }, 90 * SECOND },
	{ "a date that is over", 503, { { "retry-after", "Tue, 06 Jan 2026 11:59:00 GMT" } }, 0 },
	{ "a date far away", 503, { { "retry-after", "Wed, 07 Jan 2026 12:00:00 GMT" } }, HOUR },
	{ "no such month", 503, { { "retry-after", "Tue, 06 Xyz 2026 12:01:30 GMT" } }, UNSAID },
	{ "no such hour", 503, { { "retry-after", "Tue, 06 Jan 2026 25:01:30 GMT" } }, UNSAID },
	{ "another zone", 503, { { "retry-after", "Tue, 06 Jan 2026 12:01:30 CET" } }, UNSAID },
	/* Clocks that are wrong: only the distance counts. */
	{ "their clock is two days behind",
	  503,
	  { { "date", "Sun, 04 Jan 2026 12:00:00 GMT" },
	    { "retry-after", "Sun, 04 Jan 2026 12:00:10 GMT" } },
	  10 * SECOND },
	{ "our clock is years behind",
	  503,
	  { { "retry-after", "Sun, 06 Jan 2036 12:00:10 GMT" },
	    { "date", "Sun, 06 Jan 2036 12:00:00 GMT" } },
	  10 * SECOND },
	{ "a Date that cannot be read",
	  503,
	  { { "date", "today" }, { "retry-after", "Tue, 06 Jan 2026 12:00:10 GMT" } },
	  10 * SECOND },
	{ "seconds need no Date",
	  429,
	  { { "date", "Sun, 04 Jan 2026 12:00:00 GMT" }, { "retry-after", "3" } },
	  3 * SECOND },
	{ "an epoch by their clock",
	  200,
	  { { "date", "Sun, 04 Jan 2026 12:00:00 GMT" },
	    { "x-ratelimit-remaining", "0" },
	    { "x-ratelimit-reset", "1767528010" } },
	  10 * SECOND },
	/* Seconds since 1970 in Retry-After */
	{ "epoch", 429, { { "retry-after", "1767700830" } }, 30 * SECOND },
	/* Remaining and reset */
	{ "used up, seconds",
	  200,
	  { { "ratelimit-limit", "100" }, { "ratelimit-remaining", "0" }, { "ratelimit-reset", "5" } },
	  5 * SECOND },
	{ "used up, epoch (GitHub)",
	  403,
	  { { "x-ratelimit-limit", "60" },
	    { "x-ratelimit-remaining", "0" },
	    { "x-ratelimit-reset", "1767700860" } },
	  MINUTE },
	{ "used up, epoch in milliseconds",
	  200,
	  { { "x-ratelimit-remaining", "0" }, { "x-ratelimit-reset", "1767700801250" } },
	  1250 * MILLISECOND },
	{ "used up, epoch in microseconds",
	  200,
	  { { "x-ratelimit-remaining", "0" }, { "x-ratelimit-reset", "1767700800000250" } },
	  250 },
	{ "used up, epoch in nanoseconds",
	  200,
	  { { "x-ratelimit-remaining", "0" }, { "x-ratelimit-reset", "1767700802000000000" } },
	  2 * SECOND },
	{ "used up, a date",
	  200,
	  { { "x-ratelimit-remaining", "0" },
	    { "x-ratelimit-reset", "Tue, 06 Jan 2026 12:00:20 GMT" } },
	  20 * SECOND },
	{ "used up (Twitter)",
	  200,
	  { { "x-rate-limit-remaining", "0" }, { "x-rate-limit-reset", "1767700802" } },
	  2 * SECOND },
	{ "used up, seconds after (Discord)",
	  200,
	  { { "x-ratelimit-remaining", "0" }, { "x-ratelimit-reset-after", "1.5" } },
	  1500 * MILLISECOND },
	{ "used up long ago",
	  200,
	  { { "x-ratelimit-remaining", "0" }, { "x-ratelimit-reset", "1767700000" } },
	  0 },
	{ "used up with a fraction",
	  200,
	  { { "x-ratelimit-remaining", "0.0" }, { "x-ratelimit-reset", "9" } },
	  9 * SECOND },
	{ "reset before remaining",
	  200,
	  { { "x-ratelimit-reset", "9" }, { "x-ratelimit-remaining", "0" } },
	  9 * SECOND },
	{ "some left", 200, { { "ratelimit-remaining", "1" }, { "ratelimit-reset", "5" } }, UNSAID },
	{ "some left although refused",
	  429,
	  { { "x-ratelimit-remaining", "14" }, { "x-ratelimit-reset", "1767700860" } },
	  UNSAID },
	{ "without limit", 200, { { "ratelimit-remaining", "-1" }, { "ratelimit-reset", "5" } },
	  UNSAID },
	{ "used up, no moment", 200, { { "ratelimit-remaining", "0" } }, UNSAID },
	{ "a moment in a success", 200, { { "x-ratelimit-reset", "5" } }, UNSAID },
	{ "a moment in a refusal", 429, { { "x-ratelimit-reset", "5" } }, 5 * SECOND },
	{ "a moment nobody understands",
	  200,
	  { { "ratelimit-remaining", "0" }, { "ratelimit-reset", "later" } },
	  UNSAID },
	{ "two families, one used up",
	  200,
	  { { "x-ratelimit-remaining", "4" },
	    { "x-ratelimit-reset", "50" },
	    { "ratelimit-remaining", "0" },
	    { "ratelimit-reset", "5" } },
	  5 * SECOND },
	/* In one header */
	{ "members", 200, { { "ratelimit", "limit=10, remaining=0, reset=5" } }, 5 * SECOND },
	{ "members, some left", 200, { { "ratelimit", "limit=10, remaining=3, reset=5" } }, UNSAID },
	{ "members in another order", 200, { { "ratelimit", "reset=5,remaining=0" } }, 5 * SECOND },
	{ "an item", 200, { { "ratelimit", "\"default\";r=0;t=30" } }, 30 * SECOND },
	{ "an item with spaces", 200, { { "ratelimit", "\"default\"; r=0; t=30" } }, 30 * SECOND },
	{ "an item, some left", 200, { { "ratelimit", "\"default\";r=50;t=30" } }, UNSAID },
	{ "an item without a moment", 200, { { "ratelimit", "\"default\";r=0" } }, UNSAID },
	{ "of two items one is used up",
	  200,
	  { { "ratelimit", "\"a\";r=7;t=60, \"b\";r=0;t=3" } },
	  3 * SECOND },
	{ "of two that are used up the later",
	  200,
	  { { "ratelimit", "\"a\";r=0;t=60, \"b\";r=0;t=3" } },
	  MINUTE },
	{ "in two lines",
	  200,
	  { { "ratelimit", "\"a\";r=0;t=3" }, { "ratelimit", "\"b\";r=0;t=4" } },
	  4 * SECOND },
	{ "a name that looks like a list",
	  200,
	  { { "ratelimit", "\"a,b;r=5\";r=0;t=3" } },
	  3 * SECOND },
	{ "a partition key", 200, { { "ratelimit", "\"a\";r=0;pk=:cjs5==:;t=3" } }, 3 * SECOND },
	{ "the policy alone", 200, { { "ratelimit-policy", "\"a\";q=0;w=60" } }, UNSAID },
	{ "nonsense", 200, { { "ratelimit", ";;,=,\"" } }, UNSAID },
	/* Several */
	{ "the latest counts",
	  429,
	  { { "retry-after", "2" }, { "ratelimit", "\"a\";r=0;t=30" } },
	  30 * SECOND },
	{ "the latest counts, the other way round",
	  429,
	  { { "ratelimit", "\"a\";r=0;t=1" }, { "retry-after", "2" } },
	  2 * SECOND },
	{ "garbage beside a moment",
	  429,
	  { { "retry-after", "soon" }, { "x-ratelimit-reset", "5" } },
	  5 * SECOND },
};

static void
test_answers(void)
{
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		size_t count = 0;

		while (count < HEADERS_MAX && answers[i].headers[count].name != NULL)
			count++;
		tap_int(quota_wait_us(&(struct quota_answer){
				.status = answers[i].status,
				.throttled = answers[i].status == 429 || answers[i].status == 503,
				.headers = answers[i].headers,
				.headers_count = count,
				.wall_us = NOW,
			}),
			answers[i].wait_us, answers[i].name);
	}
}

/* A rule of the target says so of a 200. */
static void
test_throttled_by_rule(void)
{
	static const struct header after[] = { { "retry-after", "4" } };
	struct quota_answer answer = { .status = 200,
				       .throttled = true,
				       .headers = after,
				       .headers_count = 1,
				       .wall_us = NOW };

	tap_int(quota_wait_us(&answer), 4 * SECOND, "a refusal with the status of a success");
}

static const struct {
	const char *text;
	int64_t seconds; /* -1: cannot be read */
} dates[] = {
	{ "Sun, 06 Nov 1994 08:49:37 GMT", 784111777 }, /* the example of RFC 9110 */
	{ "Sunday, 06-Nov-94 08:49:37 GMT", 784111777 },
	{ "Sun Nov  6 08:49:37 1994", 784111777 },
	{ "Thu, 29 Feb 2024 00:00:00 GMT", 1709164800 },
	{ "Saturday, 01-Jan-00 00:00:00 GMT", 946684800 },
	{ "Friday, 01-Jan-77 00:00:00 GMT", 220924800 }, /* 2077 would be more than 50 years away */
	{ "Wednesday, 01-Jan-75 00:00:00 GMT", 3313526400 },
	{ "Sun, 06 Nov 1994 08:49:37", -1 },
	{ "Sun, 06 Nov 1994 08:49:37 GMT ", -1 },
	{ "2026-01-06T12:00:00Z", -1 },
	{ "", -1 },
};

static void
test_dates(void)
{
	for (size_t i = 0; i < ARRAY_LEN(dates); i++) {
		int64_t us = -1 * SECOND;
		bool read = http_date_read(dates[i].text, NOW, &us);

		tap_ok(read == (dates[i].seconds >= 0), "read or not: \"%s\"", dates[i].text);
		tap_int(us / SECOND, dates[i].seconds, dates[i].text);
	}
}

int
main(void)
{
	test_answers();
	test_throttled_by_rule();
	test_dates();
	return tap_done();
}
