/* SPDX-License-Identifier: Apache-2.0
 *
 * The little of the Test Anything Protocol that unit tests need. End main with: return tap_done();
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 2, 3))) static inline bool
tap_ok(bool ok, const char *fmt, ...)
{
	va_list args;

	printf("%sok %d - ", ok ? "" : "not ", ++tap_count);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	if (!ok)
		tap_failed++;
	return ok;
}

/* Equal texts; NULL equals NULL only. Shows both when they differ. */
static inline bool
tap_str(const char *got, const char *want, const char *name)
{
	bool same = got == NULL || want == NULL ? got == want : strcmp(got, want) == 0;

	tap_ok(same, "%s", name);
	if (!same)
		printf("# got:  %s\n# want: %s\n", got ? got : "(null)", want ? want : "(null)");
	return same;
}

static inline bool
tap_int(long long got, long long want, const char *name)
{
	tap_ok(got == want, "%s", name);
	if (got != want)
		printf("# got:  %lld\n# want: %lld\n", got, want);
	return got == want;
}

static inline int
tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}
