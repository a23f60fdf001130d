/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a question is asked again within the same reading, and after how long. Pure.
 */
#pragma once

#include <stdint.h>

#include "reconciled/core/reading.h"

enum { RETRY_NOT = -1 };

struct retry_options {
	int attempts; /* the first included; below 2: no retry */
	int64_t backoff_us, max_us;
};

/* What the reading has cost so far. */
struct retry_past {
	int asked;
	int64_t waited_us;
};

/*
 * The pause before the next try, or RETRY_NOT. closed_us: how long the target can not be asked
 * anyway (what it asked for). All waiting of one reading together stays within max_us; what would
 * exceed it ends the reading at once.
 */
int64_t retry_delay_us(const struct retry_options *options, const struct retry_past *past,
		       const struct reading *reading, int64_t closed_us, uint64_t random);
