/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses as the library reads them that sends the requests, so that what is checked is what is
 * used.
 */
#pragma once

#include <stdbool.h>

struct arena;

struct url_parts {
	const char *scheme, *host, *port; /* port also where it is the usual one */
	const char *path;		  /* as written; "/" without */
	const char *query;		  /* "" without */
	bool has_user;			  /* a name or password stands in it */
};

/* link as it is, or relative to from (RFC 3986, 5; "" : link must be whole). False: it is none. */
bool url_read(struct arena *arena, const char *from, const char *link, struct url_parts *ret_parts);
