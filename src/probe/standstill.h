/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside probe: whether the process stood still (stopped by a signal, starved) while it waited for
 * answers. An answer that is read late lay in the socket, nobody knows since when, and what it says
 * is that old.
 */
#pragma once

#include <stdint.h>

#include <event2/event_struct.h>

struct standstill {
	struct event timer; /* armed while something is asked */
	int asked;
	int64_t turned_us;	   /* when the loop was last seen to turn */
	int64_t from_us, until_us; /* the last time it did not */
};

void standstill_init(struct standstill *standstill, struct event_base *base);
void standstill_finish(struct standstill *standstill);

/* A question leaves (call it before its time is taken); its answer was read, or nobody waits for it any more. */
void standstill_enter(struct standstill *standstill);
void standstill_leave(struct standstill *standstill);

/* From when the answer is, at the latest, that is read now: CLOCK_MONOTONIC. began_us: when the
 * question left. */
int64_t standstill_answered_us(struct standstill *standstill, int64_t began_us);
