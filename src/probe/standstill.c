/* SPDX-License-Identifier: Apache-2.0
 *
 * Sockets are served before timers in a turn of the loop, so both look at the clock: whoever comes
 * first notes the pause.
 */
#include "standstill.h"

#include <event2/event.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/timer.h"

#define TURN_US (SECOND / 4)
#define STILL_US SECOND /* a busy loop is late, but not by that much */

static int64_t
look_at_clock(struct standstill *standstill)
{
	int64_t now_us = clock_monotonic_us();

	if (now_us - standstill->turned_us > STILL_US) {
		standstill->from_us = standstill->turned_us;
		standstill->until_us = now_us;
	}
	standstill->turned_us = now_us;
	return now_us;
}

static void
on_turn(evutil_socket_t fd, short what, void *owner)
{
	struct standstill *standstill = owner;

	look_at_clock(standstill);
	timer_set(&standstill->timer, TURN_US);
}

void
standstill_init(struct standstill *standstill, struct event_base *base)
{
	*standstill = (struct standstill){ 0 };
	evtimer_assign(&standstill->timer, base, on_turn, standstill);
}

void
standstill_finish(struct standstill *standstill)
{
	event_del(&standstill->timer);
}

void
standstill_enter(struct standstill *standstill)
{
	if (standstill->asked++ > 0) {
		look_at_clock(standstill);
		return;
	}
	standstill->turned_us = clock_monotonic_us();
	timer_set(&standstill->timer, TURN_US);
}

void
standstill_leave(struct standstill *standstill)
{
	if (--standstill->asked == 0)
		event_del(&standstill->timer);
}

int64_t
standstill_answered_us(struct standstill *standstill, int64_t began_us)
{
	int64_t now_us = look_at_clock(standstill);

	if (began_us >= standstill->until_us)
		return now_us;
	return standstill->from_us > began_us ? standstill->from_us : began_us;
}
