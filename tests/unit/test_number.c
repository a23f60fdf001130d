/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact decimals and durations.
 */
#include "reconciled/base/err.h"
#include "reconciled/core/duration.h"
#include "reconciled/core/number.h"
#include "tap.h"

static const struct {
	const char *text;
	bool valid, integer;
} texts[] = {
	{ "0", true, true },
	{ "-0", true, true },
	{ "0.000", true, true },
	{ "0e-5", true, true },
	{ "7", true, true },
	{ "+7", true, true },
	{ "007", true, true },
	{ "7.0", true, true },
	{ "70e-1", true, true },
	{ "7e-1", true, false },
	{ "7.5", true, false },
	{ "7.5e1", true, true },
	{ "-7.25E+1", true, false },
	{ "1e1000", true, true },
	{ "1e-1000", true, false },
	{ "1e0000001000", true, true },
	{ "1e1001", false, false },
	{ "1e-1001", false, false },
	{ "1e99999999999999999999", false, false },
	{ "", false, false },
	{ "-", false, false },
	{ "+-1", false, false },
	{ ".5", false, false },
	{ "5.", false, false },
	{ "1e", false, false },
	{ "1e+", false, false },
	{ "1e+-1", false, false },
	{ "1.2.3", false, false },
	{ " 1", false, false },
	{ "1 ", false, false },
	{ "1,5", false, false },
	{ "0x10", false, false },
	{ "NaN", false, false },
	{ "inf", false, false },
	{ "v2", false, false },
	{ "\xd9\xa1", false, false }, /* an Arabic digit */
};

static const struct {
	const char *a, *b;
	int order;
} orders[] = {
	{ "1e2", "100", 0 },
	{ "10", "10.00", 0 },
	{ "30.0", "30.00", 0 },
	{ "-0", "0", 0 },
	{ "0e1000", "-0.0", 0 },
	{ "007", "7", 0 },
	{ "1500e-2", "15.00", 0 },
	{ "9007199254740993", "9007199254740992", 1 },
	{ "0.30", "0.30000000000000004", -1 },
	{ "123456789012345678901234567890", "123456789012345678901234567891", -1 },
	{ "1.23456789012345678901234567890", "1.234567890123456789012345678900000", 0 },
	{ "0.100000000000000000000000000001", "0.1", 1 },
	{ "10", "9", 1 },
	{ "-10", "9", -1 },
	{ "-10", "-9", -1 },
	{ "-1", "0", -1 },
	{ "0", "1e-1000", -1 },
	{ "1e1000", "9e999", 1 },
	{ "0.05", "0.5", -1 },
	{ "1099", "1098", 1 },
	{ "12345678901234567890", "12345678901234567890.0", 0 },
};

static const struct {
	const char *a, *b, *tolerance;
	bool near;
} distances[] = {
	{ "10.00", "10", "0", true },
	{ "10.01", "10.00", "0.01", true },
	{ "10.00", "10.01", "0.01", true },
	{ "10.011", "10.00", "0.01", false },
	{ "0.30000000000000004", "0.3", "0.00000000000000004", true },
	{ "0.30000000000000004", "0.3", "0.00000000000000003", false },
	{ "-0.5", "0.5", "1", true },
	{ "-0.5", "0.5", "0.999", false },
	{ "-5", "-6", "1", true },
	{ "1e1000", "1e1000", "0", true },
	{ "1e1000", "-1e1000", "1e1000", false },
	{ "1e1000", "-1e1000", "20e999", true },
	{ "1e-1000", "0", "1e-1000", true },
	{ "1e-1000", "0", "9e-1000", true },
	{ "2e-1000", "0", "1e-1000", false },
	{ "9999999999999999999999999999.99", "10000000000000000000000000000", "0.01", true },
	{ "1000", "999", "1e0", true },
	{ "0", "-0", "0", true },
};

static void
test_numbers(void)
{
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		tap_ok(number_is_valid(texts[i].text, strlen(texts[i].text)) == texts[i].valid,
		       "\"%s\" is %s", texts[i].text, texts[i].valid ? "a number" : "no number");
		tap_ok(number_is_integer(texts[i].text) == texts[i].integer, "\"%s\" is %s integer",
		       texts[i].text, texts[i].integer ? "an" : "no");
	}
	tap_ok(!number_is_valid("1\0002", 3), "a number with a NUL is none");
	for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
		int there = number_compare(orders[i].a, orders[i].b);
		int back = number_compare(orders[i].b, orders[i].a);

		tap_int((there > 0) - (there < 0), orders[i].order, orders[i].a);
		tap_int((back > 0) - (back < 0), -orders[i].order, orders[i].b);
	}
	for (size_t i = 0; i < ARRAY_LEN(distances); i++)
		tap_ok(number_is_near(distances[i].a, distances[i].b, distances[i].tolerance) ==
			       distances[i].near,
		       "%s and %s within %s", distances[i].a, distances[i].b,
		       distances[i].tolerance);
}

/* Both sides with their scale, the first with its sign turned round where it is negated. */
static const struct {
	struct number a, b;
	const char *tolerance;
	int order;
	bool within;
} scaled[] = {
	{ { "1099", 2, false }, { "10.99", 0, false }, NULL, 0, true },
	{ { "1098", 2, false }, { "10.99", 0, false }, NULL, -1, false },
	{ { "1098", 2, false }, { "10.99", 0, false }, "0.01", -1, true },
	{ { "1098", 2, false }, { "10.99", 0, false }, "0.009", -1, false },
	{ { "1099", 2, true }, { "-10.99", 0, false }, NULL, 0, true },
	{ { "1099", 2, true }, { "10.99", 0, false }, NULL, -1, false },
	{ { "-1099", 2, true }, { "10.99", 0, false }, NULL, 0, true },
	{ { "0", 2, true }, { "0", 0, false }, NULL, 0, true },
	{ { "1", 30, false }, { "1e-30", 0, false }, NULL, 0, true },
	{ { "1e1000", 30, false }, { "1e970", 0, false }, NULL, 0, true },
	{ { "1e-1000", 30, false }, { "1e-1000", 30, false }, "0", 0, true },
	{ { "1e-1000", 30, false }, { "0", 0, false }, NULL, 1, false },
	{ { "1e-1000", 30, false }, { "0", 0, false }, "1e-1000", 1, true },
	{ { "1e1000", 0, false }, { "1e-1000", 30, true }, "1e1000", 1, false },
	{ { "1e1000", 0, true }, { "1e1000", 0, false }, "2e1000", -1, true },
	{ { "18446744073709551617", 2, false },
	  { "184467440737095516.17", 0, false },
	  NULL,
	  0,
	  true },
	{ { "123456789012345678901234567891", 2, false },
	  { "1234567890123456789012345678.90", 0, false },
	  "0.01",
	  1,
	  true },
};

static void
test_scaled(void)
{
	for (size_t i = 0; i < ARRAY_LEN(scaled); i++) {
		int order = number_order(&scaled[i].a, &scaled[i].b);

		tap_int((order > 0) - (order < 0), scaled[i].order, scaled[i].a.text);
		tap_int(number_within(&scaled[i].a, &scaled[i].b, scaled[i].tolerance),
			scaled[i].within, "within");
		tap_int(number_within(&scaled[i].b, &scaled[i].a, scaled[i].tolerance),
			scaled[i].within, "within, turned round");
	}
}

static void
test_long_numbers(void)
{
	char longest[NUMBER_TEXT_MAX + 2], other[NUMBER_TEXT_MAX + 2];

	memset(longest, '9', sizeof(longest));
	tap_ok(number_is_valid(longest, NUMBER_TEXT_MAX), "the longest number");
	tap_ok(!number_is_valid(longest, NUMBER_TEXT_MAX + 1), "one digit too many");
	longest[NUMBER_TEXT_MAX] = '\0';
	memcpy(other, longest, sizeof(longest));
	other[NUMBER_TEXT_MAX - 1] = '8';
	tap_ok(number_compare(longest, other) > 0, "they differ in the last digit");
	tap_ok(number_is_near(longest, other, "1"), "and by one");
	tap_ok(!number_is_near(longest, other, "0.9"), "not by less");
	memcpy(other + NUMBER_TEXT_MAX - 5, "e1000", 6);
	tap_ok(number_is_near(other, other, "0"), "the widest number in front of the point");
	other[1] = '.';
	memcpy(other + NUMBER_TEXT_MAX - 6, "e-1000", 7);
	tap_ok(number_is_near(other, other, "0"), "the widest number behind the point");
}

#define SECOND INT64_C(1000000)

static const struct {
	const char *text;
	bool allow_ms;
	int64_t us; /* -1: refused */
	const char *shortest;
} durations[] = {
	{ "90s", false, 90 * SECOND, "90s" },
	{ "15m", false, 900 * SECOND, "15m" },
	{ "24h", false, 86400 * SECOND, "1d" },
	{ "30d", false, 2592000 * SECOND, "30d" },
	{ "7200s", false, 7200 * SECOND, "2h" },
	{ "0s", false, 0, "0s" },
	{ "200ms", true, SECOND / 5, "200ms" },
	{ "3000ms", true, 3 * SECOND, "3s" },
	{ "36525d", false, INT64_C(36525) * 86400 * SECOND, "36525d" },
	{ "36526d", false, -1, NULL },
	{ "200ms", false, -1, NULL },
	{ "99999999999999999999s", false, -1, NULL },
	{ "9223372036854775807d", false, -1, NULL },
	{ "", false, -1, NULL },
	{ "5", false, -1, NULL },
	{ "m", false, -1, NULL },
	{ "-5m", false, -1, NULL },
	{ "+5m", false, -1, NULL },
	{ " 5m", false, -1, NULL },
	{ "5 m", false, -1, NULL },
	{ "5m ", false, -1, NULL },
	{ "1.5h", false, -1, NULL },
	{ "1h30m", false, -1, NULL },
	{ "5min", false, -1, NULL },
	{ "5M", false, -1, NULL },
	{ "2w", false, -1, NULL },
	{ "5us", true, -1, NULL },
};

static void
test_durations(void)
{
	for (size_t i = 0; i < ARRAY_LEN(durations); i++) {
		struct err err = { 0 };
		int64_t us = -1;
		char text[DURATION_TEXT_MAX];
		bool done = duration_parse(durations[i].text, durations[i].allow_ms, &us, &err);

		tap_int(us, durations[i].us, durations[i].text);
		tap_ok(done == (err.code == ERR_NONE), "an error is set when it fails");
		if (!done)
			continue;
		duration_format(us, text);
		tap_str(text, durations[i].shortest, "shortest spelling");
	}
}

int
main(void)
{
	test_numbers();
	test_scaled();
	test_long_numbers();
	test_durations();
	return tap_done();
}
