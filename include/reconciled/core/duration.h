/* SPDX-License-Identifier: Apache-2.0
 *
 * Durations as policies write them: a number and one of s m h d.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/base/attributes.h"

struct err;

enum { DURATION_TEXT_MAX = 32 };

/* "90s", "15m", "24h", "30d"; "200ms" only where the field allows milliseconds. At most 100 years.
 */
bool duration_parse(const char *text, bool allow_ms, int64_t *ret_us, struct err *err) MUST_CHECK;

/* The shortest exact spelling ("2h", "90s", "200ms"). */
void duration_format(int64_t us, char ret[static DURATION_TEXT_MAX]);
