/* SPDX-License-Identifier: Apache-2.0
 *
 * Collecting an answer. The limit on the body counts decoded bytes: the one of libcurl counts what
 * came over the wire, which a few kilobytes of gzip get past easily.
 */
#include "answer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "reconciled/base/xalloc.h"

/* Above this a buffer is not kept between transfers. */
enum { KEEP_BYTES = 128 * 1024, LENGTH_DIGITS_MAX = 18 };

void
answer_finish(struct answer *answer)
{
	strbuf_finish(&answer->head);
	strbuf_finish(&answer->body);
	free(answer->headers);
	*answer = (struct answer){ 0 };
}

static void
empty(struct strbuf *buf)
{
	if (buf->size > KEEP_BYTES)
		strbuf_finish(buf);
	else
		strbuf_reset(buf);
}

void
answer_reset(struct answer *answer, int64_t body_max)
{
	empty(&answer->head);
	empty(&answer->body);
	answer->body_max = body_max;
	answer->head_bytes = answer->lines = 0;
	answer->length = -1;
	answer->head_over = answer->too_large = answer->malformed = false;
}

static void
trim(const char **text, size_t *len)
{
	while (*len > 0 && isspace((unsigned char)(*text)[*len - 1]))
		(*len)--;
	while (*len > 0 && isspace((unsigned char)**text)) {
		(*text)++;
		(*len)--;
	}
}

static void
add_header(struct answer *answer, const char *name, size_t name_len, const char *value, size_t len)
{
	trim(&name, &name_len);
	trim(&value, &len);
	strbuf_add(&answer->head, name, name_len);
	for (char *c = answer->head.data + answer->head.len - name_len; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	strbuf_putc(&answer->head, '\0');
	strbuf_add(&answer->head, value, len);
	strbuf_putc(&answer->head, '\0');
	answer->lines++;
}

/* A folded line belongs to the value before it. */
static void
continue_header(struct answer *answer, const char *text, size_t len)
{
	if (answer->lines == 0)
		return;
	trim(&text, &len);
	answer->head.len--;
	strbuf_putc(&answer->head, ' ');
	strbuf_add(&answer->head, text, len);
	strbuf_putc(&answer->head, '\0');
}

/* A block after an interim answer (1xx) replaces the one before. */
static void
begin_block(struct answer *answer)
{
	strbuf_reset(&answer->head);
	answer->lines = 0;
	answer->length = -1;
	answer->head_over = false;
}

/*
 * libcurl takes the last of several lengths, and none for one that it cannot read: where the body
 * ends is then a guess, and what is cut off may look whole.
 */
static bool
take_length(struct answer *answer, const char *text, size_t len)
{
	int64_t length = 0;

	trim(&text, &len);
	if (len == 0 || len > LENGTH_DIGITS_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		length = length * 10 + (text[i] - '0');
	}
	if (answer->length >= 0 && answer->length != length)
		return false;
	answer->length = length;
	return true;
}

static bool
is_length(const char *name, size_t len)
{
	static const char length[] = "content-length";

	trim(&name, &len);
	return len == strlen(length) && strncasecmp(name, length, len) == 0;
}

static void
keep_field(struct answer *answer, const char *line, size_t name_len, size_t len)
{
	const char *value = line + name_len + 1;
	size_t value_len = len - name_len - 1;

	if (is_length(line, name_len) && !take_length(answer, value, value_len))
		answer->malformed = true;
	add_header(answer, line, name_len, value, value_len);
}

static void
keep_line(struct answer *answer, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);

	if (line[0] == '\r' || line[0] == '\n')
		answer->head_over = true;
	else if (line[0] == ' ' || line[0] == '\t')
		continue_header(answer, line, len);
	else if (colon != NULL)
		keep_field(answer, line, (size_t)(colon - line), len);
}

bool
answer_take_line(struct answer *answer, const char *line, size_t len)
{
	answer->head_bytes += len;
	if (answer->head_bytes > ANSWER_HEAD_MAX)
		answer->too_large = true;
	if (memchr(line, '\0', len) != NULL)
		answer->malformed = true;
	if (answer->too_large || answer->malformed)
		return false;

	if (len >= 5 && memcmp(line, "HTTP/", 5) == 0)
		begin_block(answer);
	else if (len > 0 && !answer->head_over)
		keep_line(answer, line, len);
	return !answer->malformed;
}

bool
answer_take_body(struct answer *answer, const char *bytes, size_t len)
{
	if ((int64_t)(answer->body.len + len) > answer->body_max) {
		answer->too_large = true;
		return false;
	}
	strbuf_add(&answer->body, bytes, len);
	return true;
}

const struct transfer_header *
answer_headers(struct answer *answer)
{
	const char *text = answer->head.data;

	if (answer->lines > answer->headers_size) {
		answer->headers_size = answer->lines * 2;
		answer->headers =
			xrealloc(answer->headers, answer->headers_size, sizeof(*answer->headers));
	}
	for (size_t i = 0; i < answer->lines; i++) {
		answer->headers[i].name = text;
		text += strlen(text) + 1;
		answer->headers[i].value = text;
		text += strlen(text) + 1;
	}
	return answer->headers;
}
