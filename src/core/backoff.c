/* SPDX-License-Identifier: Apache-2.0
 *
 * Delays that grow by a factor up to a maximum, spread so that what failed together does not come
 * back together. Whole numbers only.
 */
#include "reconciled/core/backoff.h"
#include "reconciled/core/policy.h"

enum { MILLI = 1000, PERCENT = 100 };

/* first × factor^n, not above max. Every step grows or ends the loop, so it is short. */
static int64_t
grown(const struct backoff *backoff, int n)
{
	int64_t delay = backoff->first_us;

	if (backoff->factor_milli <= MILLI)
		n = 0;
	while (n-- > 0 && delay < backoff->max_us) {
		int64_t whole = delay / MILLI, rest = delay % MILLI;

		if (whole > backoff->max_us / backoff->factor_milli)
			return backoff->max_us;
		whole = whole * backoff->factor_milli + rest * backoff->factor_milli / MILLI;
		if (whole <= delay)
			break;
		delay = whole;
	}
	return delay < backoff->max_us ? delay : backoff->max_us;
}

/* May exceed the maximum by the jitter: many waiting at the maximum would else stay together. */
int64_t
backoff_delay_us(const struct backoff *backoff, int n, uint64_t random)
{
	int64_t delay = grown(backoff, n);
	int64_t spread = delay / PERCENT * backoff->jitter_percent;

	if (spread <= 0)
		return delay;
	return delay - spread + (int64_t)(random % ((uint64_t)spread * 2 + 1));
}
