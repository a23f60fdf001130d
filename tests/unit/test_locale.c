/* SPDX-License-Identifier: Apache-2.0
 *
 * Where people write 1,5 and DIENSTAG: no value is read otherwise. Runs in a German locale that the
 * build makes; without it the test fails.
 */
#include <locale.h>
#include <stdlib.h>

#include "compare_case.h"
#include "reconciled/core/number.h"

#define NUMBER                                                                                     \
	{                                                                                          \
		.type = COMPARE_NUMBER                                                             \
	}
#define MONEY                                                                                      \
	{                                                                                          \
		.type = COMPARE_MONEY                                                              \
	}
#define HUNDREDTHS                                                                                 \
	{                                                                                          \
		.type = COMPARE_MONEY, .unit = MONEY_HUNDREDTHS                                    \
	}
#define TIME                                                                                       \
	{                                                                                          \
		.type = COMPARE_TIME                                                               \
	}
#define TEXT(folds)                                                                                \
	{                                                                                          \
		.type = COMPARE_TEXT, .fold = (folds)                                              \
	}

static const struct {
	struct comparison by;
	const char *found, *expected;
	enum compare_result want;
	const char *name;
} rows[] = {
	{ NUMBER, "1.5", "\"1.50\"", EQUAL, "a point" },
	{ NUMBER, "\"1,5\"", "1.5", UNREADABLE, "a comma" },
	{ NUMBER, "\"1.000\"", "1000", DIFFERENT, "a point that groups in this locale" },
	{ NUMBER, "0.30000000000000004", "0.30", DIFFERENT, "no double" },
	{ NUMBER, "1e2", "100", EQUAL, "an exponent" },
	{ MONEY, "\"10.99\"", "10.99", EQUAL, "money" },
	{ MONEY, "\"10,99\"", "10.99", UNREADABLE, "money with a comma" },
	{ HUNDREDTHS, "1099", "\"10.99\"", EQUAL, "hundredths" },
	{ TIME, "\"2026-03-01T12:00:00.5Z\"", "\"2026-03-01T12:00:00.50Z\"", EQUAL, "a fraction" },
	{ TIME, "\"Sun, 01 Mar 2026 12:00:00 GMT\"", "1772366400", EQUAL, "English names" },
	{ TIME, "\"So, 01 M\\u00e4r 2026 12:00:00 GMT\"", "1772366400", UNREADABLE,
	  "names of this locale" },
	{ TEXT(FOLD_CASE), "\"\\u00c4PFEL\"", "\"\\u00e4pfel\"", EQUAL, "folding" },
	{ TEXT(FOLD_CASE), "\"I\"", "\"i\"", EQUAL, "the letter I" },
	{ TEXT(FOLD_NFC), "\"u\\u0308\"", "\"\\u00fc\"", EQUAL, "composition" },
};

int
main(void)
{
	struct arena *arena = arena_create();
	const char *name = setlocale(LC_ALL, "");

	tap_ok(name != NULL && strcmp(localeconv()->decimal_point, ",") == 0 &&
		       strtod("1.5", NULL) < 1.4,
	       "numbers have a comma here");
	tap_ok(number_is_near("1.01", "1", "0.01") && !number_is_near("1.011", "1", "0.01"),
	       "tolerances have a point");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct compared compared = case_compare(
			arena, rows[i].by, "/v", arena_printf(arena, "{\"v\":%s}", rows[i].found),
			rows[i].expected);

		case_check(&compared, rows[i].want, rows[i].name);
	}
	arena_destroy(arena);
	return tap_done();
}
