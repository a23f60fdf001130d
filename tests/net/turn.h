/* SPDX-License-Identifier: Apache-2.0
 *
 * Turning an event loop from a test: until something was called, or for some time.
 */
#pragma once

#include <stdint.h>

#include <event2/event.h>

#include "reconciled/base/clock.h"

/* At most a minute; the caller checks what came. */
static inline void
turn(struct event_base *base, const int *calls, int wanted)
{
	int64_t deadline = clock_monotonic_us() + 60 * SECOND;

	while (*calls < wanted && clock_monotonic_us() < deadline)
		event_base_loop(base, EVLOOP_ONCE);
}

static inline void
turn_for(struct event_base *base, int64_t us)
{
	struct timeval wait = { .tv_sec = us / SECOND, .tv_usec = us % SECOND };

	event_base_loopexit(base, &wait);
	event_base_dispatch(base);
}
