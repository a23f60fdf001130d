/* SPDX-License-Identifier: Apache-2.0
 *
 * Durations: a number and one unit, exact, in microseconds.
 */
#include "reconciled/core/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "reconciled/base/err.h"

static const struct unit {
	const char *name;
	int64_t us;
} units[] = {
	{ "d", INT64_C(86400000000) }, { "h", INT64_C(3600000000) }, { "m", INT64_C(60000000) },
	{ "s", INT64_C(1000000) },     { "ms", INT64_C(1000) },
};

static const int64_t longest_us = INT64_C(36525) * 86400 * 1000000; /* 100 years */

static bool
fail(const char *text, bool allow_ms, struct err *err)
{
	return err_set(err, ERR_INVALID,
		       "\"%.64s\" is no duration; allowed: a number and one of s, m, h, d%s, "
		       "like 90s, at most 100 years",
		       text, allow_ms ? ", ms" : "");
}

static const struct unit *
find_unit(const char *name, bool allow_ms)
{
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (strcmp(units[i].name, name) == 0)
			return units[i].us >= 1000000 || allow_ms ? &units[i] : NULL;
	return NULL;
}

bool
duration_parse(const char *text, bool allow_ms, int64_t *ret_us, struct err *err)
{
	size_t digits = strspn(text, "0123456789");
	const struct unit *unit = find_unit(text + digits, allow_ms);
	int64_t n = 0;

	if (digits == 0 || unit == NULL)
		return fail(text, allow_ms, err);
	for (size_t i = 0; i < digits; i++) {
		n = n * 10 + (text[i] - '0');
		if (n > longest_us / unit->us)
			return fail(text, allow_ms, err);
	}
	*ret_us = n * unit->us;
	return true;
}

void
duration_format(int64_t us, char ret[static DURATION_TEXT_MAX])
{
	if (us == 0) {
		snprintf(ret, DURATION_TEXT_MAX, "0s");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (us % units[i].us == 0) {
			snprintf(ret, DURATION_TEXT_MAX, "%" PRId64 "%s", us / units[i].us,
				 units[i].name);
			return;
		}
	snprintf(ret, DURATION_TEXT_MAX, "%" PRId64 "us", us);
}
