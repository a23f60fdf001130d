/* SPDX-License-Identifier: Apache-2.0
 *
 * Collecting an answer. The limit on the body counts decoded bytes: the one of libcurl counts what
 * came over the wire, which a few kilobytes of gzip get past easily.
 */
#include "answer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/xalloc.h"

/* Above this a buffer is not kept between transfers. */
enum { KEEP_BYTES = 128 * 1024 };

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
	answer->head_over = false;
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
		add_header(answer, line, (size_t)(colon - line), colon + 1,
			   len - (size_t)(colon - line) - 1);
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
	return true;
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
