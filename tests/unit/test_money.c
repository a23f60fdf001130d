/* SPDX-License-Identifier: Apache-2.0
 *
 * Amounts: the unit belongs to the field, the decimals to the currency, the sign sometimes to
 * another field.
 */
#include "compare_case.h"
#include "reconciled/core/money.h"

static const struct {
	const char *code;
	int decimals; /* -1: unreadable */
} currencies[] = {
	{ "EUR", 2 },
	{ "eur", 2 },
	{ "UsD", 2 },
	{ "JPY", 0 },
	{ "KRW", 0 },
	{ "CLP", 0 },
	{ "ISK", 0 },
	{ "XOF", 0 },
	{ "UYI", 0 },
	{ "KWD", 3 },
	{ "BHD", 3 },
	{ "TND", 3 },
	{ "CLF", 4 },
	{ "UYW", 4 },
	{ "CHE", 2 },
	{ "HUF", 2 },
	{ "MGA", 2 },
	{ "ZWG", 2 },
	{ "XCG", 2 },
	{ "XX"
	  "X",
	  -1 },
	{ "XAU", -1 },
	{ "XDR", -1 },
	{ "XTS", -1 },
	{ "ZZZ", -1 },
	{ "BTC", -1 },
	{ "EU", -1 },
	{ "EURO", -1 },
	{ "", -1 },
	{ "978", -1 },
	{ "E R", -1 },
	{ "UR ", -1 },
	{ " EU", -1 },
	{ "\xe2\x82\xac", -1 },
};

static void
test_currencies(void)
{
	for (size_t i = 0; i < ARRAY_LEN(currencies); i++) {
		int decimals = -1;

		(void)currency_decimals(currencies[i].code, strlen(currencies[i].code), &decimals);
		tap_int(decimals, currencies[i].decimals, currencies[i].code);
	}
}

enum { SIGNED = 1, LEAST = 2 };

/* The amount is at /a, the currency at /c, the direction at /d: CR or DR. */
static const struct {
	const char *item, *expected;
	enum money_unit unit;
	int scale;
	unsigned options;
	const char *tolerance;
	enum compare_result want;
	const char *name;
} rows[] = {
	{ "{\"a\":\"10.99\"}", "\"10.99\"", MONEY_MAJOR, 0, 0, NULL, EQUAL, "major" },
	{ "{\"a\":30.0}", "\"30.00\"", MONEY_MAJOR, 0, 0, NULL, EQUAL, "30.0 and 30.00" },
	{ "{\"a\":\"10.98\"}", "\"10.99\"", MONEY_MAJOR, 0, 0, NULL, DIFFERENT, "a cent less" },
	{ "{\"a\":0.30000000000000004}", "0.3", MONEY_MAJOR, 0, 0, NULL, DIFFERENT, "no double" },
	{ "{\"a\":1099,\"c\":\"eur\"}", "\"10.99\"", MONEY_MINOR, 0, 0, NULL, EQUAL, "cents" },
	{ "{\"a\":1098,\"c\":\"EUR\"}", "\"10.99\"", MONEY_MINOR, 0, 0, NULL, DIFFERENT,
	  "a cent less in cents" },
	{ "{\"a\":1099,\"c\":\"JPY\"}", "1099", MONEY_MINOR, 0, 0, NULL, EQUAL, "yen" },
	{ "{\"a\":1099,\"c\":\"JPY\"}", "\"10.99\"", MONEY_MINOR, 0, 0, NULL, DIFFERENT,
	  "yen have no cents" },
	{ "{\"a\":1099,\"c\":\"KWD\"}", "\"1.099\"", MONEY_MINOR, 0, 0, NULL, EQUAL,
	  "three decimals" },
	{ "{\"a\":10990,\"c\":\"CLF\"}", "\"1.099\"", MONEY_MINOR, 0, 0, NULL, EQUAL,
	  "four decimals" },
	{ "{\"a\":-1099,\"c\":\"EUR\"}", "\"-10.99\"", MONEY_MINOR, 0, 0, NULL, EQUAL,
	  "a negative amount" },
	{ "{\"a\":0,\"c\":\"EUR\"}", "\"-0.00\"", MONEY_MINOR, 0, 0, NULL, EQUAL, "nothing" },
	{ "{\"a\":1099,\"c\":\"ZZZ\"}", "\"10.99\"", MONEY_MINOR, 0, 0, NULL, UNREADABLE,
	  "a currency that is unknown" },
	{ "{\"a\":1099,\"c\":\"XAU\"}", "\"10.99\"", MONEY_MINOR, 0, 0, NULL, UNREADABLE,
	  "gold has no minor unit" },
	{ "{\"a\":1099}", "\"10.99\"", MONEY_MINOR, 0, 0, NULL, UNREADABLE, "no currency" },
	{ "{\"a\":1099,\"c\":null}", "\"10.99\"", MONEY_MINOR, 0, 0, NULL, UNREADABLE,
	  "null as currency" },
	{ "{\"a\":1099,\"c\":[\"EUR\"]}", "\"10.99\"", MONEY_MINOR, 0, 0, NULL, UNREADABLE,
	  "a list of currencies" },
	{ "{\"a\":100000,\"c\":\"JPY\"}", "1000", MONEY_HUNDREDTHS, 0, 0, NULL, EQUAL,
	  "hundredths, whatever the currency" },
	{ "{\"a\":\"100000\"}", "\"1000.00\"", MONEY_HUNDREDTHS, 0, 0, NULL, EQUAL,
	  "hundredths without a currency" },
	{ "{\"a\":109900}", "\"10.99\"", MONEY_SCALE, 4, 0, NULL, EQUAL, "scale 4" },
	{ "{\"a\":11}", "11.0", MONEY_SCALE, 0, 0, NULL, EQUAL, "scale 0" },
	{ "{\"a\":1}", "1e-30", MONEY_SCALE, 30, 0, NULL, EQUAL, "scale 30" },
	{ "{\"a\":123456789012345678901234567890}", "\"1234567890123456789012345678.90\"",
	  MONEY_HUNDREDTHS, 0, 0, NULL, EQUAL, "thirty digits" },
	{ "{\"a\":123456789012345678901234567891}", "\"1234567890123456789012345678.90\"",
	  MONEY_HUNDREDTHS, 0, 0, NULL, DIFFERENT, "thirty digits, the last one differs" },
	{ "{\"a\":18446744073709551617,\"c\":\"USD\"}", "\"184467440737095516.17\"", MONEY_MINOR, 0,
	  0, NULL, EQUAL, "beyond 2^64" },
	{ "{\"a\":1.0985e3,\"c\":\"EUR\"}", "\"10.985\"", MONEY_MINOR, 0, 0, NULL, EQUAL,
	  "half a cent" },

	{ "{\"a\":1000,\"d\":\"CR\"}", "10", MONEY_HUNDREDTHS, 0, SIGNED, NULL, EQUAL, "credit" },
	{ "{\"a\":1000,\"d\":\"DR\"}", "10", MONEY_HUNDREDTHS, 0, SIGNED, NULL, DIFFERENT,
	  "a debit where a credit is expected" },
	{ "{\"a\":1000,\"d\":\"DR\"}", "-10", MONEY_HUNDREDTHS, 0, SIGNED, NULL, EQUAL, "debit" },
	{ "{\"a\":1000,\"d\":\"CR\"}", "-10", MONEY_HUNDREDTHS, 0, SIGNED, NULL, DIFFERENT,
	  "a credit where a debit is expected" },
	{ "{\"a\":-1000,\"d\":\"CR\"}", "-10", MONEY_HUNDREDTHS, 0, SIGNED, NULL, UNREADABLE,
	  "negative and a direction" },
	{ "{\"a\":-1000,\"d\":\"DR\"}", "10", MONEY_HUNDREDTHS, 0, SIGNED, NULL, UNREADABLE,
	  "negative and the other direction" },
	{ "{\"a\":-0,\"d\":\"DR\"}", "0", MONEY_HUNDREDTHS, 0, SIGNED, NULL, EQUAL,
	  "nothing has no direction" },
	{ "{\"a\":1000,\"d\":\"cr\"}", "10", MONEY_HUNDREDTHS, 0, SIGNED, NULL, UNREADABLE,
	  "a direction in another spelling" },
	{ "{\"a\":1000,\"d\":\"\"}", "10", MONEY_HUNDREDTHS, 0, SIGNED, NULL, UNREADABLE,
	  "an empty direction" },
	{ "{\"a\":1000}", "10", MONEY_HUNDREDTHS, 0, SIGNED, NULL, UNREADABLE, "no direction" },

	{ "{\"a\":1098,\"c\":\"EUR\"}", "\"10.99\"", MONEY_MINOR, 0, 0, "0.01", EQUAL,
	  "at the tolerance, which is in the major unit" },
	{ "{\"a\":1097,\"c\":\"EUR\"}", "\"10.99\"", MONEY_MINOR, 0, 0, "0.01", DIFFERENT,
	  "beyond it" },
	{ "{\"a\":5,\"d\":\"DR\"}", "0.05", MONEY_HUNDREDTHS, 0, SIGNED, "0.1", EQUAL,
	  "from one sign to the other" },
	{ "{\"a\":5,\"d\":\"DR\"}", "0.05", MONEY_HUNDREDTHS, 0, SIGNED, "0.09", DIFFERENT,
	  "from one sign to the other, too far" },
	{ "{\"a\":1100,\"c\":\"EUR\"}", "\"10.99\"", MONEY_MINOR, 0, LEAST, NULL, EQUAL, "more" },
	{ "{\"a\":1098,\"c\":\"EUR\"}", "\"10.99\"", MONEY_MINOR, 0, LEAST, NULL, DIFFERENT,
	  "less than at least" },
	{ "{\"a\":1098,\"c\":\"EUR\"}", "\"10.99\"", MONEY_MINOR, 0, LEAST, "0.01", EQUAL,
	  "less, but within" },

	{ "{\"a\":\"EUR 10\"}", "10", MONEY_MAJOR, 0, 0, NULL, UNREADABLE, "a currency in it" },
	{ "{\"a\":\"10,99\"}", "\"10.99\"", MONEY_MAJOR, 0, 0, NULL, UNREADABLE, "a comma" },
	{ "{\"a\":\"1,000.00\"}", "1000", MONEY_MAJOR, 0, 0, NULL, UNREADABLE, "thousands" },
	{ "{\"a\":\"10.99\"}", "\"10,99\"", MONEY_MAJOR, 0, 0, NULL, UNREADABLE, "ours, a comma" },
	{ "{\"a\":null}", "10", MONEY_MAJOR, 0, 0, NULL, UNREADABLE, "null" },
	{ "{}", "10", MONEY_MAJOR, 0, 0, NULL, UNREADABLE, "absent" },
	{ "{\"a\":10}", NULL, MONEY_MAJOR, 0, 0, NULL, UNREADABLE, "ours is absent" },
	{ "{\"a\":{\"value\":10}}", "10", MONEY_MAJOR, 0, 0, NULL, UNREADABLE, "an object" },
};

static void
test_rows(struct arena *arena)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct comparison by = {
			.type = COMPARE_MONEY,
			.relation = rows[i].options & LEAST ? COMPARE_AT_LEAST : COMPARE_IS,
			.unit = rows[i].unit,
			.scale = rows[i].scale,
			.tolerance = rows[i].tolerance,
		};
		struct compared compared;

		if (rows[i].unit == MONEY_MINOR)
			by.currency = locator(arena, "/c");
		if (rows[i].options & SIGNED)
			by.sign = (struct money_sign){ locator(arena, "/d"), "CR", "DR" };
		compared = case_compare(arena, by, "/a", rows[i].item, rows[i].expected);
		case_check(&compared, rows[i].want, rows[i].name);
	}
}

/* A policy that the loader refuses is not believed either. */
static void
test_without_currency(struct arena *arena)
{
	struct comparison by = { .type = COMPARE_MONEY, .unit = MONEY_MINOR };
	struct compared compared = case_compare(arena, by, "/a", "{\"a\":1099}", "\"10.99\"");

	case_check(&compared, UNREADABLE, "minor units of no currency");
	tap_str(compared.found, "1099", "found, as it was read");
	tap_str(compared.expected, "10.99", "expected, as it was read");
}

int
main(void)
{
	struct arena *arena = arena_create();

	test_currencies();
	test_rows(arena);
	test_without_currency(arena);
	arena_destroy(arena);
	return tap_done();
}
