/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a question goes: always below the base of its target. Pure.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/core/exchange.h"

struct arena;

/* Of a base "https://host[:port][/path]"; the texts live as long as it does, host apart. */
struct origin {
	const char *base;
	const char *path; /* "" or "/path", in base */
	char host[264];	  /* as a Host header has it: without the port that is the usual one */
};

void origin_init(struct origin *origin, const char *base);

/* The path begins with that of the base; query "" without. */
struct address {
	const char *url, *path, *query;
};

/* The request's path and query below the base. False: they would leave it. */
bool address_of(struct arena *arena, const struct origin *origin, const struct request *request,
		struct address *ret_address);

/* Where a page before, that came from `from`, says the next one is. False: not below the base, or
 * not to be understood. */
bool address_follow(struct arena *arena, const struct origin *origin, const char *from,
		    const char *link, struct address *ret_address);
