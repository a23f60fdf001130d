/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside probe: a request as it goes over the wire, for who signs it.
 */
#pragma once

#include <stddef.h>

#include "reconciled/core/exchange.h"

struct outgoing {
	const char *method;	      /* "GET" */
	const char *host;	      /* as the Host header has it */
	const char *path;	      /* encoded, with that of the base */
	const char *query;	      /* encoded; "" without */
	const struct header *headers; /* lower-case names; those that come from the question */
	size_t headers_count;
	const struct header *fixed; /* those of the target, as it was written */
	size_t fixed_count;
	const char *content_type; /* NULL without body */
	const char *body;	  /* "" without body */
	size_t body_len;
};
