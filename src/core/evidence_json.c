/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes JSON straight into the buffer: cleans, cuts and escapes in one go.
 */
#include "evidence_json.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <utf8proc.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/operation.h"

/* Our own names are never cut shorter than this: digests, rules. */
enum { NAME_MAX_BYTES = 64 };

bool
evidence_json_has_room(const struct evidence_json *json, size_t entries)
{
	return entries < json->limits->entries;
}

/* Before each value and each member. */
static void
separate(struct evidence_json *json)
{
	if (json->follows)
		strbuf_putc(json->out, ',');
	json->follows = true;
}

static bool
is_plain(char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Characters at the beginning that stand for themselves. */
static size_t
plain_run(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && is_plain(text[n]))
		n++;
	return n;
}

static void
add_ascii(struct strbuf *out, char c)
{
	static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *at = strchr(escaped, c);

	if (at != NULL)
		strbuf_add(out, (char[]){ '\\', letters[at - escaped] }, 2);
	else if (c < 0x20)
		strbuf_printf(out, "\\u%04X", (unsigned)c);
	else
		strbuf_putc(out, c);
}

/* Broken bytes become U+FFFD, a NUL its escape as plain text. Returns what was taken of the text. */
static size_t
add_character(struct strbuf *out, const char *text, size_t len)
{
	utf8proc_int32_t unused;
	utf8proc_ssize_t bytes =
		utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)len, &unused);

	if (bytes < 1)
		strbuf_puts(out, "\xef\xbf\xbd");
	else if (*text == '\0')
		strbuf_puts(out, "\\\\u0000");
	else if (bytes == 1)
		add_ascii(out, *text);
	else
		strbuf_add(out, text, (size_t)bytes);
	return bytes < 1 ? 1 : (size_t)bytes;
}

/* Opens a string and writes about max bytes of the text into it; false if there is more. */
static bool
begin_string(struct evidence_json *json, const char *text, size_t len, size_t max)
{
	struct strbuf *out = json->out;
	size_t end;

	separate(json);
	strbuf_putc(out, '"');
	end = out->len + max;
	while (len > 0 && out->len < end) {
		size_t room = end - out->len;
		size_t taken = plain_run(text, len < room ? len : room);

		if (taken > 0)
			strbuf_add(out, text, taken);
		else
			taken = add_character(out, text, len);
		text += taken;
		len -= taken;
	}
	return len == 0;
}

static void
add_string(struct evidence_json *json, const char *text, size_t len)
{
	size_t max = json->limits->text;

	if (!begin_string(json, text, len, max > NAME_MAX_BYTES ? max : NAME_MAX_BYTES))
		evidence_json_mark(json, "");
	evidence_json_end_text(json);
}

bool
evidence_json_begin_text(struct evidence_json *json, const char *text, size_t len)
{
	return begin_string(json, text, len, json->limits->text);
}

void
evidence_json_mark(struct evidence_json *json, const char *mark)
{
	strbuf_puts(json->out, "\xe2\x80\xa6"); /* … */
	strbuf_puts(json->out, mark);
}

void
evidence_json_end_text(struct evidence_json *json)
{
	strbuf_putc(json->out, '"');
}

void
evidence_json_string(struct evidence_json *json, const char *text)
{
	add_string(json, text, strlen(text));
}

void
evidence_json_name(struct evidence_json *json, const char *name)
{
	evidence_json_string(json, name);
	strbuf_putc(json->out, ':');
	json->follows = false;
}

void
evidence_json_begin_member(struct evidence_json *json, const char *member)
{
	size_t len = strlen(member);
	char *to;

	separate(json);
	to = strbuf_extend(json->out, len + 3);
	to[0] = '"';
	memcpy(to + 1, member, len);
	memcpy(to + 1 + len, "\":", 2);
	json->follows = false;
}

static void
open_bracket(struct evidence_json *json, const char *member, char bracket)
{
	if (member != NULL)
		evidence_json_begin_member(json, member);
	separate(json);
	strbuf_putc(json->out, bracket);
	json->follows = false;
}

static void
close_bracket(struct evidence_json *json, char bracket)
{
	strbuf_putc(json->out, bracket);
	json->follows = true;
}

void
evidence_json_open(struct evidence_json *json, const char *member)
{
	open_bracket(json, member, '{');
}

void
evidence_json_close(struct evidence_json *json)
{
	close_bracket(json, '}');
}

void
evidence_json_open_list(struct evidence_json *json, const char *member)
{
	open_bracket(json, member, '[');
}

void
evidence_json_close_list(struct evidence_json *json)
{
	close_bracket(json, ']');
}

void
evidence_json_null(struct evidence_json *json)
{
	separate(json);
	strbuf_puts(json->out, "null");
}

void
evidence_json_time(struct evidence_json *json, int64_t us)
{
	time_t seconds = (time_t)(us / SECOND);
	char day[32], text[48];
	struct tm utc;

	if (us < 0 || gmtime_r(&seconds, &utc) == NULL) {
		evidence_json_null(json);
		return;
	}
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text, sizeof(text), "%s.%06dZ", day, (int)(us % SECOND));
	evidence_json_string(json, text);
}

void
evidence_json_member(struct evidence_json *json, const char *member, const char *text)
{
	evidence_json_begin_member(json, member);
	evidence_json_string(json, text);
}

void
evidence_json_member_int(struct evidence_json *json, const char *member, long long number)
{
	evidence_json_begin_member(json, member);
	separate(json);
	strbuf_put_int(json->out, number);
}

void
evidence_json_member_bool(struct evidence_json *json, const char *member, bool value)
{
	evidence_json_begin_member(json, member);
	separate(json);
	strbuf_puts(json->out, value ? "true" : "false");
}
