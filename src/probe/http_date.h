/* SPDX-License-Identifier: Apache-2.0
 *
 * A moment as HTTP writes it, in all three forms that a recipient must read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Microseconds since 1970-01-01T00:00:00Z. near_us settles the century of a year of two digits. */
bool http_date_read(const char *text, int64_t near_us, int64_t *ret_us);
