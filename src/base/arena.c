/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks handed out front to back. A reset keeps the first block, so that an arena which serves one
 * check after another asks malloc for nothing in the usual case.
 */
#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/xalloc.h"

enum { BLOCK_BYTES = 8 * 1024 - 64 };

struct block {
	struct block *older;
	size_t used, size;
	alignas(max_align_t) char bytes[];
};

/* In the blocks of the holder. */
struct hold {
	struct arena *arena;
	struct hold *next;
};

struct arena {
	struct block *newest;
	size_t handed_out;
	struct hold *held;
	size_t holders;
	bool given_up; /* lives only for its holders */
};

static struct block *
block_create(size_t size, struct block *older)
{
	struct block *block = xrealloc(NULL, 1, sizeof(*block) + size);

	block->older = older;
	block->used = 0;
	block->size = size;
	return block;
}

struct arena *
arena_create(void)
{
	struct arena *arena = xcalloc(1, sizeof(*arena));

	arena->newest = block_create(BLOCK_BYTES, NULL);
	return arena;
}

static void
free_newest(struct arena *arena)
{
	struct block *older = arena->newest->older;

	free(arena->newest);
	arena->newest = older;
}

static void
free_newer_than_first(struct arena *arena)
{
	while (arena->newest->older)
		free_newest(arena);
}

static void
release(struct arena *arena)
{
	if (arena->holders > 0 || !arena->given_up)
		return;
	arena_reset(arena);
	free(arena->newest);
	free(arena);
}

static void
let_go(struct arena *holder)
{
	struct hold *hold = holder->held;

	holder->held = NULL;
	for (; hold; hold = hold->next) {
		assert(hold->arena->holders > 0);
		hold->arena->holders--;
		release(hold->arena);
	}
}

void
arena_destroy(struct arena *arena)
{
	if (!arena)
		return;
	assert(!arena->given_up);
	arena->given_up = true;
	release(arena);
}

void
arena_hold(struct arena *holder, struct arena *held)
{
	struct hold *hold = arena_new(holder, struct hold);

	assert(holder != held);
	*hold = (struct hold){ held, holder->held };
	holder->held = hold;
	held->holders++;
}

void
arena_reset(struct arena *arena)
{
	assert(arena->holders == 0);
	let_go(arena);
	free_newer_than_first(arena);
	arena->newest->used = 0;
	arena->handed_out = 0;
}

/* Not zeroed. */
static void *
take(struct arena *arena, size_t bytes)
{
	const size_t align = alignof(max_align_t);
	struct block *block = arena->newest;
	size_t rounded = (bytes + align - 1) & ~(align - 1);

	assert(rounded >= bytes);
	if (rounded > block->size - block->used)
		block = arena->newest =
			block_create(rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES, block);
	block->used += rounded;
	arena->handed_out += rounded;
	return block->bytes + block->used - rounded;
}

void *
arena_alloc(struct arena *arena, size_t bytes)
{
	return memset(take(arena, bytes), 0, bytes);
}

char *
arena_strdup(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strlen(text));
}

char *
arena_strndup(struct arena *arena, const char *text, size_t len)
{
	char *copy = take(arena, len + 1);

	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

char *
arena_printf(struct arena *arena, const char *fmt, ...)
{
	va_list args, again;
	char *text;
	int len;

	va_start(args, fmt);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, fmt, args);
	assert(len >= 0);
	text = take(arena, (size_t)len + 1);
	vsnprintf(text, (size_t)len + 1, fmt, again);
	va_end(again);
	va_end(args);
	return text;
}

struct arena_mark
arena_mark(const struct arena *arena)
{
	return (struct arena_mark){
		.block = arena->newest,
		.used = arena->newest->used,
		.handed_out = arena->handed_out,
	};
}

void
arena_release(struct arena *arena, struct arena_mark mark)
{
	while (arena->newest != mark.block)
		free_newest(arena);
	arena->newest->used = mark.used;
	arena->handed_out = mark.handed_out;
}

size_t
arena_bytes(const struct arena *arena)
{
	return arena->handed_out;
}
