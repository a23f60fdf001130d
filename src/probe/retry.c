/* SPDX-License-Identifier: Apache-2.0
 *
 * Twice as long each time, spread, and never before the target may be asked.
 */
#include "retry.h"

#include "grade.h"
#include "reconciled/core/backoff.h"

enum { JITTER_PERCENT = 25, DOUBLING_MILLI = 2000 };

int64_t
retry_delay_us(const struct retry_options *options, const struct retry_past *past,
	       const struct reading *reading, int64_t closed_us, uint64_t random)
{
	const struct backoff spacing = { .first_us = options->backoff_us,
					 .max_us = options->max_us,
					 .factor_milli = DOUBLING_MILLI,
					 .jitter_percent = JITTER_PERCENT };
	int64_t delay;

	if (past->asked >= options->attempts || !grade_is_worth_a_retry(reading))
		return RETRY_NOT;
	delay = backoff_delay_us(&spacing, past->asked - 1, random);
	if (delay < closed_us)
		delay = closed_us;
	return past->waited_us + delay <= options->max_us ? delay : RETRY_NOT;
}
