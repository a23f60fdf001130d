/* SPDX-License-Identifier: Apache-2.0
 *
 * An interruption hides the others too: who had some before waits to see them again.
 */
#include "reconciled/base/clock.h"
#include "reconciled/store/instances.h"

#include "standing.h"

/* Others count a heartbeat as fresh a little longer than we wait for its answer. */
int64_t
standing_silence_us(void)
{
	return INSTANCE_FRESH_US - SECOND;
}

static bool
is_joining(const struct standing *standing, int64_t now_us)
{
	return now_us < standing->join_until_us;
}

void
standing_note(struct standing *standing, int64_t sent_us, bool others, int64_t longest_us)
{
	bool gap = standing->answered_us == 0 ||
		   sent_us - standing->answered_us > standing_silence_us();

	if (gap) {
		standing->regular_us = sent_us;
		standing->join_until_us = 0;
		if (others || standing->had_others)
			standing->join_until_us = sent_us + INSTANCE_FRESH_US + longest_us;
	}
	standing->answered_us = sent_us;
	if (!is_joining(standing, sent_us))
		standing->had_others = others;
	else
		standing->had_others |= others;
}

int64_t
standing_join_us(const struct standing *standing, int64_t now_us)
{
	return is_joining(standing, now_us) ? standing->join_until_us - now_us : 0;
}

bool
standing_may_bury(const struct standing *standing, int64_t now_us)
{
	return standing->answered_us != 0 && now_us - standing->regular_us >= INSTANCE_FRESH_US &&
	       now_us - standing->answered_us <= standing_silence_us();
}
