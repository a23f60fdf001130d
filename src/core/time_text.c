/* SPDX-License-Identifier: Apache-2.0
 *
 * Times as text.
 */
#include "time_text.h"

#include <inttypes.h>
#include <time.h>

#include "reconciled/base/arena.h"

static int64_t
floor_divide(int64_t n, int64_t by)
{
	return n / by - (n % by < 0);
}

static const char *
calendar_text(struct arena *arena, int64_t seconds, bool with_time)
{
	time_t clock = (time_t)seconds;
	struct tm tm;
	char text[64];

	gmtime_r(&clock, &tm);
	strftime(text, sizeof(text), with_time ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d", &tm);
	return arena_strdup(arena, text);
}

const char *
time_text(struct arena *arena, int64_t us, enum template_time format)
{
	int64_t seconds = floor_divide(us, 1000000);

	switch (format) {
	case TEMPLATE_RFC3339:
		return calendar_text(arena, seconds, true);
	case TEMPLATE_DATE:
		return calendar_text(arena, seconds, false);
	case TEMPLATE_EPOCH:
		return arena_printf(arena, "%" PRId64, seconds);
	case TEMPLATE_EPOCH_MS:
		return arena_printf(arena, "%" PRId64, floor_divide(us, 1000));
	}
	return "";
}
