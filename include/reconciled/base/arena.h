/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory with one lifetime: what belongs to one check, or to one loaded configuration, dies
 * together. Nothing is freed singly. Alignment is that of max_align_t.
 */
#pragma once

#include <stddef.h>

#include "reconciled/base/attributes.h"

struct arena;

struct arena *arena_create(void);
void arena_destroy(struct arena *arena); /* accepts NULL */
void arena_reset(struct arena *arena);	 /* empties it; keeps the first block for the next user */

void *arena_alloc(struct arena *arena, size_t bytes); /* zeroed */
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t len); /* NUL is added */
char *arena_printf(struct arena *arena, const char *fmt, ...) PRINTF(2, 3);

/*
 * What is in held stays until holder is reset or destroyed, also when held is destroyed before.
 * While it has holders it is not reset.
 */
void arena_hold(struct arena *holder, struct arena *held);

/* Bytes handed out since creation or reset, for limits. */
size_t arena_bytes(const struct arena *arena);

/*
 * What was handed out after the mark is given back. Nobody may still point to it, and nothing was
 * held since. Marks are released in the reverse order, or not at all.
 */
struct arena_mark {
	void *block;
	size_t used, handed_out;
};

struct arena_mark arena_mark(const struct arena *arena);
void arena_release(struct arena *arena, struct arena_mark mark);

#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define arena_array(arena, type, n) ((type *)arena_alloc((arena), sizeof(type) * (size_t)(n)))
