/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses of a host name, asked in a thread of its own, because the resolver of the C library
 * blocks for as long as its servers keep silent. A lookup that nobody waits for any more ends by
 * itself; the thread knows nothing but the lookup.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct lookup;

enum { LOOKUP_ADDRESSES_MAX = 16 };

/* What was found; valid until done returns. */
struct lookup_answer {
	const char *addresses[LOOKUP_ADDRESSES_MAX]; /* numeric, the best first */
	size_t count;				     /* 0: error says why */
	const char *error;
};

/* Exactly once, from the loop, never from inside lookup_start. The lookup is over then. */
typedef void lookup_done_fn(void *owner, const struct lookup_answer *answer);
struct lookup *lookup_start(struct event_base *base, const char *name, lookup_done_fn *done,
			    void *owner);

/* done is not called. Accepts NULL. */
void lookup_cancel(struct lookup *lookup);

/* False for a literal address, a unix socket, or no host at all. */
bool lookup_is_needed(const char *host);
