/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations that somebody asked for by id, and which of them were there.
 */
#pragma once

#include <stddef.h>

struct named;

struct named *named_create(const char *const *ids,
			   size_t count); /* borrows the texts; repeats count once */
void named_destroy(struct named *named);
void named_mark(struct named *named, const char *id);
/* Calls for each id that was not marked, in order. */
void named_each_unmarked(const struct named *named, void (*call)(void *owner, const char *id),
			 void *owner);
