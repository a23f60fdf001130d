/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocation that cannot fail.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/attributes.h"
#include "reconciled/base/xalloc.h"

static NORETURN void
die(void)
{
	static const char message[] = "out of memory\n";

	fwrite(message, 1, sizeof(message) - 1, stderr);
	abort();
}

void *
xcalloc(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size ? size : 1);

	if (!memory)
		die();
	return memory;
}

void *
xrealloc(void *old, size_t count, size_t size)
{
	void *memory = reallocarray(old, count ? count : 1, size ? size : 1);

	if (!memory)
		die();
	return memory;
}

char *
xstrdup(const char *text)
{
	return xstrndup(text, strlen(text));
}

char *
xstrndup(const char *text, size_t len)
{
	char *copy = xcalloc(len + 1, 1);

	memcpy(copy, text, len);
	return copy;
}

void
xfree_at(void *pointer)
{
	void *memory;

	memcpy(&memory, pointer, sizeof(memory));
	free(memory);
}
