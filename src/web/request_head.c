/* SPDX-License-Identifier: Apache-2.0
 *
 * Line by line: a request line, fields, an empty line, each ended by CR LF. RFC 9110 and 9112, less
 * what they leave to the server: no empty lines before, no folded fields, no bare LF, no absolute
 * targets, no transfer codings, no expectations.
 */
#include "request_head.h"

#include <string.h>
#include <strings.h>

#include "reconciled/base/attributes.h"

struct slice {
	const char *at;
	size_t len;
};

/* What the fields say together. */
struct fields {
	int count, hosts, lengths;
	size_t length;
	bool coded, close, keep_alive;
};

static bool
refuse(struct request_head *head, int status, const char *why)
{
	head->status = status;
	head->why = why;
	return false;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_alphanumeric(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Every character is a letter, a digit or one of others; and there is one. */
static bool
consists_of(struct slice text, const char *others)
{
	for (size_t i = 0; i < text.len; i++)
		if (!is_alphanumeric(text.at[i]) &&
		    (text.at[i] == '\0' || strchr(others, text.at[i]) == NULL))
			return false;
	return text.len > 0;
}

static bool
is_token(struct slice text)
{
	return consists_of(text, "!#$%&'*+-.^_`|~");
}

static bool
is_word(struct slice text, const char *word)
{
	return text.len == strlen(word) && strncasecmp(text.at, word, text.len) == 0;
}

/* Cuts off and returns what stands before c; all of it when there is no c. */
static struct slice
cut(struct slice *text, char c)
{
	const char *found = memchr(text->at, c, text->len);
	struct slice before = *text;

	if (found == NULL) {
		*text = (struct slice){ text->at + text->len, 0 };
		return before;
	}
	before.len = (size_t)(found - text->at);
	*text = (struct slice){ found + 1, text->len - before.len - 1 };
	return before;
}

static struct slice
trim(struct slice text)
{
	while (text.len > 0 && (*text.at == ' ' || *text.at == '\t'))
		text = (struct slice){ text.at + 1, text.len - 1 };
	while (text.len > 0 && (text.at[text.len - 1] == ' ' || text.at[text.len - 1] == '\t'))
		text.len--;
	return text;
}

/* "/…" in visible ASCII. */
static bool
is_origin_form(struct slice target)
{
	for (size_t i = 0; i < target.len; i++)
		if (target.at[i] <= ' ' || target.at[i] > '~')
			return false;
	return target.len > 0 && *target.at == '/';
}

static bool
parse_version(struct request_head *head, struct slice version)
{
	if (version.len != 8 || strncmp(version.at, "HTTP/", 5) != 0 || !is_digit(version.at[5]) ||
	    version.at[6] != '.' || !is_digit(version.at[7]))
		return refuse(head, 400, "no HTTP version\n");
	if (version.at[5] != '1' || version.at[7] > '1')
		return refuse(head, 505, "HTTP/1.0 and HTTP/1.1 are spoken here\n");
	head->minor = version.at[7] - '0';
	return true;
}

static bool
parse_request_line(struct request_head *head, struct slice line)
{
	struct slice method = cut(&line, ' '), target = cut(&line, ' ');

	if (!is_token(method))
		return refuse(head, 400, "no method\n");
	if (!is_origin_form(target))
		return refuse(head, 400, "the target is no path\n");
	if (!parse_version(head, line))
		return false;
	head->method = method.at;
	head->method_len = method.len;
	head->path = target.at;
	head->path_len = cut(&target, '?').len;
	return true;
}

static bool
on_host(struct request_head *head, struct fields *fields, struct slice value)
{
	if (fields->hosts++ > 0)
		return refuse(head, 400, "more than one Host\n");
	if (value.len > 0 && !consists_of(value, "-._~%[]:"))
		return refuse(head, 400, "Host is no name\n");
	return true;
}

static bool
on_content_length(struct request_head *head, struct fields *fields, struct slice value)
{
	if (fields->lengths++ > 0)
		return refuse(head, 400, "more than one Content-Length\n");
	if (value.len == 0)
		return refuse(head, 400, "Content-Length is no number\n");
	for (size_t i = 0; i < value.len; i++) {
		if (!is_digit(value.at[i]))
			return refuse(head, 400, "Content-Length is no number\n");
		if (fields->length <= REQUEST_BODY_MAX)
			fields->length = 10 * fields->length + (size_t)(value.at[i] - '0');
	}
	return true;
}

static bool
on_transfer_encoding(struct request_head *head, struct fields *fields, struct slice value)
{
	fields->coded = true;
	return true;
}

static bool
on_connection(struct request_head *head, struct fields *fields, struct slice value)
{
	struct slice word;

	while (value.len > 0) {
		word = trim(cut(&value, ','));
		fields->close = fields->close || is_word(word, "close");
		fields->keep_alive = fields->keep_alive || is_word(word, "keep-alive");
	}
	return true;
}

static bool
on_expect(struct request_head *head, struct fields *fields, struct slice value)
{
	return refuse(head, 417, "nothing is expected here\n");
}

/* All other fields are of no concern here. */
static const struct {
	const char *name;
	bool (*take)(struct request_head *head, struct fields *fields, struct slice value);
} known[] = {
	{ "host", on_host },
	{ "content-length", on_content_length },
	{ "transfer-encoding", on_transfer_encoding },
	{ "connection", on_connection },
	{ "expect", on_expect },
};

static bool
is_field_value(struct slice value)
{
	for (size_t i = 0; i < value.len; i++)
		if (((unsigned char)value.at[i] < ' ' && value.at[i] != '\t') ||
		    value.at[i] == '\x7f')
			return false;
	return true;
}

static bool
parse_field(struct request_head *head, struct fields *fields, struct slice line)
{
	struct slice value = line, name = cut(&value, ':');

	if (++fields->count > REQUEST_HEADERS_MAX)
		return refuse(head, 431, "too many fields\n");
	if (name.len == line.len || !is_token(name))
		return refuse(head, 400, "no name of a field\n");
	value = trim(value);
	if (!is_field_value(value))
		return refuse(head, 400, "control character in a field\n");
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (is_word(name, known[i].name))
			return known[i].take(head, fields, value);
	return true;
}

/* What only all fields together show. */
static bool
finish(struct request_head *head, const struct fields *fields)
{
	if (head->minor == 1 && fields->hosts == 0)
		return refuse(head, 400, "no Host\n");
	if (fields->coded && (fields->lengths > 0 || head->minor == 0))
		return refuse(head, 400, "Transfer-Encoding beside another length\n");
	if (fields->coded)
		return refuse(head, 411, "a body needs a Content-Length\n");
	if (fields->length > REQUEST_BODY_MAX)
		return refuse(head, 413, "the body is too large\n");
	head->body_bytes = fields->length;
	head->keep_alive = !fields->close && (head->minor == 1 || fields->keep_alive);
	return true;
}

static bool
parse_line(struct request_head *head, struct fields *fields, struct slice line)
{
	if (line.len == 0 || line.at[line.len - 1] != '\r')
		return refuse(head, 400, "a line does not end in CR LF\n");
	line.len--;
	if (head->method == NULL)
		return parse_request_line(head, line);
	return line.len == 0 ? finish(head, fields) : parse_field(head, fields, line);
}

enum head_state
request_head_parse(struct request_head *ret_head, const char *bytes, size_t len)
{
	size_t most = len < REQUEST_HEAD_MAX ? len : REQUEST_HEAD_MAX;
	struct slice left = { bytes, most }, line;
	struct fields fields = { 0 };
	bool first;

	*ret_head = (struct request_head){ 0 };
	while (memchr(left.at, '\n', left.len) != NULL) {
		line = cut(&left, '\n');
		first = ret_head->method == NULL;
		if (!parse_line(ret_head, &fields, line))
			return HEAD_REFUSED;
		if (!first && line.len == 1) {
			ret_head->head_bytes = (size_t)(left.at - bytes);
			return HEAD_COMPLETE;
		}
	}
	if (most < REQUEST_HEAD_MAX)
		return HEAD_INCOMPLETE;
	refuse(ret_head, 431, "the head is too large\n");
	return HEAD_REFUSED;
}
