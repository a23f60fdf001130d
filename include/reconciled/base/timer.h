/* SPDX-License-Identifier: Apache-2.0
 *
 * Timers of the loop in the unit of all other times. Inline: libbase itself knows no loop.
 */
#pragma once

#include <stdint.h>

#include <event2/event.h>

#include "reconciled/base/clock.h"

/* Starts it anew; what is in the past is due at once. */
static inline void
timer_set(struct event *timer, int64_t after_us)
{
	const struct timeval after = { .tv_sec = after_us > 0 ? after_us / SECOND : 0,
				       .tv_usec = after_us > 0 ? after_us % SECOND : 0 };

	event_add(timer, &after);
}
