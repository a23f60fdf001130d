/* SPDX-License-Identifier: Apache-2.0
 *
 * Where this instance stands among the others, from its own heartbeats: whether it must wait before
 * it asks anything, and whether it may judge that others are dead. Pure; times are monotonic.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: no heartbeat was answered yet. */
struct standing {
	int64_t answered_us; /* when the last answered heartbeat was sent; 0: none */
	int64_t regular_us;  /* since when they have been answered without a gap */
	int64_t join_until_us;
	bool had_others;
};

/* Longer without an answered heartbeat: others take over, what is under way must be dropped. */
int64_t standing_silence_us(void);

/*
 * A heartbeat that was sent then has been answered, and found others alive or not. After a gap, and
 * at the start, this decides whether to join first: until others have noticed us, and the questions
 * that they have under way (the longest takes longest_us) are over.
 */
void standing_note(struct standing *standing, int64_t sent_us, bool others, int64_t longest_us);

/* How long to wait before asking anything; 0: not at all. */
int64_t standing_join_us(const struct standing *standing, int64_t now_us);

/* Our own heartbeats have been regular for so long that a silent one is dead, and not we. */
bool standing_may_bury(const struct standing *standing, int64_t now_us);
