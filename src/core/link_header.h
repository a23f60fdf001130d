/* SPDX-License-Identifier: Apache-2.0
 *
 * The header Link (RFC 8288). Private to core.
 */
#pragma once

#include <stdbool.h>

struct arena;
struct response;

/*
 * The address of the first link with the relation "next" in any of the headers, as it is written;
 * NULL when there is none. False when a header cannot be read.
 */
bool link_header_next(struct arena *arena, const struct response *response, const char **ret_next);
