/* SPDX-License-Identifier: Apache-2.0
 *
 * A growing text buffer; doubles when full.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/strbuf.h"
#include "reconciled/base/xalloc.h"

/* Room for more bytes and the NUL behind them. */
static void
reserve(struct strbuf *buf, size_t more)
{
	size_t size = buf->size ? buf->size : 64;

	if (buf->size - buf->len > more)
		return;
	while (size - buf->len <= more)
		size *= 2;
	buf->data = xrealloc(buf->data, size, 1);
	buf->size = size;
}

void
strbuf_finish(struct strbuf *buf)
{
	free(buf->data);
	*buf = (struct strbuf){ 0 };
}

void
strbuf_reset(struct strbuf *buf)
{
	buf->len = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

void
strbuf_add(struct strbuf *buf, const void *bytes, size_t len)
{
	reserve(buf, len);
	if (len > 0)
		memcpy(buf->data + buf->len, bytes, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void
strbuf_puts(struct strbuf *buf, const char *text)
{
	strbuf_add(buf, text, strlen(text));
}

void
strbuf_putc(struct strbuf *buf, char c)
{
	reserve(buf, 1);
	buf->data[buf->len++] = c;
	buf->data[buf->len] = '\0';
}

char *
strbuf_extend(struct strbuf *buf, size_t len)
{
	reserve(buf, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
	return buf->data + buf->len - len;
}

const char *
decimal_text(long long number, char room[static 24])
{
	unsigned long long left =
		number < 0 ? 0 - (unsigned long long)number : (unsigned long long)number;
	char *at = room + 23;

	*at = '\0';
	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	if (number < 0)
		*--at = '-';
	return at;
}

void
strbuf_put_int(struct strbuf *buf, long long number)
{
	char room[24];

	strbuf_puts(buf, decimal_text(number, room));
}

void
strbuf_printf(struct strbuf *buf, const char *fmt, ...)
{
	va_list args, again;
	int len;

	va_start(args, fmt);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, fmt, args);
	assert(len >= 0);
	reserve(buf, (size_t)len);
	vsnprintf(buf->data + buf->len, (size_t)len + 1, fmt, again);
	buf->len += (size_t)len;
	va_end(again);
	va_end(args);
}

const char *
strbuf_text(const struct strbuf *buf)
{
	return buf->data ? buf->data : "";
}

char *
strbuf_take(struct strbuf *buf)
{
	char *text = buf->data ? buf->data : xcalloc(1, 1);

	*buf = (struct strbuf){ 0 };
	return text;
}
