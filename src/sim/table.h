/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash table from text to a pointer. Keys are borrowed from the values they lead to; values are
 * the caller's. Grows, never shrinks.
 */
#pragma once

#include <stddef.h>

/* Zeroed is empty. */
struct table {
	struct table_slot *slots;
	size_t used, size; /* used counts removed ones too */
};

void table_finish(struct table *table); /* frees the slots, not the values */
void *table_get(const struct table *table, const char *key);
/* Replaces an equal key (and points to the new spelling of it). */
void table_put(struct table *table, const char *key, void *value);
void table_remove(struct table *table, const char *key);

/* Walks in no order: cursor starts at 0; NULL at the end. */
void *table_next(const struct table *table, size_t *cursor);
