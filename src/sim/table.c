/* SPDX-License-Identifier: Apache-2.0
 *
 * Open addressing with linear probing, at most three quarters full.
 */
#include "table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/hash.h"
#include "reconciled/base/xalloc.h"

enum { TABLE_SMALLEST = 16 };

/* key NULL: never used; value NULL with a key: removed. */
struct table_slot {
	const char *key;
	void *value;
	uint64_t hash;
};

static char removed_key[] = "";

static uint64_t
hash_of(const char *key)
{
	return hash_fnv1a(key, strlen(key));
}

static struct table_slot *
find(const struct table *table, const char *key, uint64_t hash)
{
	for (size_t i = hash & (table->size - 1);; i = (i + 1) & (table->size - 1)) {
		struct table_slot *slot = &table->slots[i];
		if (!slot->key)
			return slot;
		if (slot->value && slot->hash == hash && strcmp(slot->key, key) == 0)
			return slot;
	}
}

static void
resize(struct table *table)
{
	struct table old = *table;
	size_t alive = 0;
	for (size_t i = 0; i < old.size; i++)
		alive += old.slots[i].value != NULL;
	size_t size = TABLE_SMALLEST;
	while (size * 3 < (alive + 1) * 5)
		size *= 2;
	*table = (struct table){ .slots = xcalloc(size, sizeof(*old.slots)), .size = size };
	for (size_t i = 0; i < old.size; i++) {
		if (!old.slots[i].value)
			continue;
		*find(table, old.slots[i].key, old.slots[i].hash) = old.slots[i];
		table->used++;
	}
	free(old.slots);
}

void
table_finish(struct table *table)
{
	free(table->slots);
	*table = (struct table){ 0 };
}

void *
table_get(const struct table *table, const char *key)
{
	return table->size ? find(table, key, hash_of(key))->value : NULL;
}

void
table_put(struct table *table, const char *key, void *value)
{
	if ((table->used + 1) * 4 > table->size * 3)
		resize(table);
	uint64_t hash = hash_of(key);
	struct table_slot *slot = find(table, key, hash);
	if (!slot->key)
		table->used++;
	*slot = (struct table_slot){ .key = key, .value = value, .hash = hash };
}

void
table_remove(struct table *table, const char *key)
{
	if (!table->size)
		return;
	struct table_slot *slot = find(table, key, hash_of(key));
	if (!slot->key)
		return;
	slot->key = removed_key;
	slot->value = NULL;
}

void *
table_next(const struct table *table, size_t *cursor)
{
	while (*cursor < table->size) {
		void *value = table->slots[(*cursor)++].value;
		if (value)
			return value;
	}
	return NULL;
}
