/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocation that cannot fail: out of memory aborts, systemd starts us again.
 * Every size that comes from outside is limited before it gets here.
 */
#pragma once

#include <stddef.h>

void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t count, size_t size); /* overflow of count * size aborts */
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t len);

/* For CLEANUP: frees what the pointer points to. */
void xfree_at(void *pointer);
