/* SPDX-License-Identifier: Apache-2.0
 *
 * Header lines under construction, "name: value". They may hold credentials and are wiped.
 */
#pragma once

#include <stddef.h>

/* Zeroed is empty. */
struct lines {
	char **text;
	size_t count, size;
};

void lines_add(struct lines *lines, const char *name, const char *prefix, const char *value);

/* "Basic" and the two, coded (RFC 7617). */
void lines_add_basic(struct lines *lines, const char *user, const char *password);
void lines_reset(struct lines *lines); /* empties */
void lines_finish(struct lines *lines);

/* NULL: no line of this name. */
const char *lines_find(const struct lines *lines, const char *name);
