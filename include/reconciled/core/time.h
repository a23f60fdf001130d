/* SPDX-License-Identifier: Apache-2.0
 *
 * Times as targets write them, exactly.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct time_zone;

/*
 * Seconds since 1970-01-01T00:00:00Z, leap seconds not counted, and what follows them in attoseconds
 * (never negative: the moment before 1970 is -1 s and 999999999999999999 as).
 */
struct moment {
	int64_t seconds;
	uint64_t atto;
};

/*
 * RFC 3339 (also "+0000", a space for T, a space before an offset, YYYY/MM/DD); the three forms of
 * an HTTP date; ten digits of seconds, thirteen of milliseconds; /Date(MS)/, /Date(MS+HHMM)/
 * with up to 15 digits of milliseconds.
 * A local time without offset is read in zone; with NULL it is unreadable, as it is where clocks
 * skip it or show it twice. 23:59:60 UTC at the end of a month is the second that follows. A
 * fraction of more than 18 digits, a date that does not exist and everything else is unreadable:
 * false. The text need not end in NUL.
 */
bool time_read(const char *text, size_t len, const struct time_zone *zone,
	       struct moment *ret_moment);

/*
 * The three forms of an HTTP date alone (RFC 9110, 5.6.7). Two digits of a year are of the century
 * of near_year, or of the one before if they would lie more than 50 years after it. time_read is
 * near to 2020.
 */
bool time_read_http(const char *text, size_t len, int near_year, struct moment *ret_moment);

/* Negative, zero, positive. */
int moment_compare(const struct moment *a, const struct moment *b);

/* The two are at most skew_us apart; exactly, so inclusive. */
bool moment_is_near(const struct moment *a, const struct moment *b, int64_t skew_us);

/* Microseconds since the epoch, rounded down. */
int64_t moment_us(const struct moment *moment);
