/* SPDX-License-Identifier: Apache-2.0
 *
 * A growing text buffer. Always NUL-terminated once something was added; may hold NUL bytes.
 */
#pragma once

#include <stddef.h>

#include "reconciled/base/attributes.h"

/* Zeroed is empty. */
struct strbuf {
	char *data;
	size_t len, size;
};

void strbuf_finish(struct strbuf *buf); /* frees; accepts zeroed */
void strbuf_reset(struct strbuf *buf);	/* empties, keeps the memory */
void strbuf_add(struct strbuf *buf, const void *bytes, size_t len);
void strbuf_puts(struct strbuf *buf, const char *text);
void strbuf_putc(struct strbuf *buf, char c);
void strbuf_put_int(struct strbuf *buf, long long number); /* decimal */
void strbuf_printf(struct strbuf *buf, const char *fmt, ...) PRINTF(2, 3);
/* Makes room for len bytes, which count as added; the caller writes them. */
char *strbuf_extend(struct strbuf *buf, size_t len);
const char *strbuf_text(const struct strbuf *buf); /* "" when empty */
char *strbuf_take(struct strbuf *buf);		   /* the text, now the caller's; buf is empty */

/* The decimal digits of a number; lives in room. */
const char *decimal_text(long long number, char room[static 24]);
