/* SPDX-License-Identifier: Apache-2.0
 *
 * A thin layer over yajl's generator: cleans and cuts what goes through it.
 */
#include "evidence_json.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <utf8proc.h>
#include <yajl/yajl_gen.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/core/operation.h"

/* Our own names are never cut shorter than this: digests, rules. */
enum { NAME_MAX_BYTES = 64 };

struct evidence_json {
	yajl_gen gen;
	struct strbuf *out;
	struct strbuf clean; /* scratch */
	const struct evidence_limits *limits;
};

static void
on_print(void *ctx, const char *text, size_t len)
{
	strbuf_add(ctx, text, len);
}

struct evidence_json *
evidence_json_create(struct strbuf *out, const struct evidence_limits *limits)
{
	struct evidence_json *json = xcalloc(1, sizeof(*json));

	json->out = out;
	json->limits = limits;
	json->gen = yajl_gen_alloc(NULL);
	assert(json->gen != NULL);
	yajl_gen_config(json->gen, yajl_gen_print_callback, on_print, out);
	return json;
}

void
evidence_json_destroy(struct evidence_json *json)
{
	yajl_gen_free(json->gen);
	strbuf_finish(&json->clean);
	free(json);
}

size_t
evidence_json_len(const struct evidence_json *json)
{
	return json->out->len;
}

bool
evidence_json_has_room(const struct evidence_json *json, size_t entries)
{
	return entries < json->limits->entries;
}

/* Broken bytes become U+FFFD, a NUL its escape as plain text. */
static void
add_character(struct strbuf *clean, const char *text, utf8proc_ssize_t bytes)
{
	if (bytes < 0)
		strbuf_puts(clean, "\xef\xbf\xbd");
	else if (*text == '\0')
		strbuf_puts(clean, "\\u0000");
	else
		strbuf_add(clean, text, (size_t)bytes);
}

static void
add_clean(struct evidence_json *json, const char *text, size_t len, size_t max, const char *mark)
{
	struct strbuf *clean = &json->clean;

	strbuf_reset(clean);
	while (len > 0 && clean->len < max) {
		utf8proc_int32_t unused;
		utf8proc_ssize_t bytes = utf8proc_iterate((const utf8proc_uint8_t *)text,
							  (utf8proc_ssize_t)len, &unused);
		size_t step = bytes > 0 ? (size_t)bytes : 1;

		add_character(clean, text, bytes);
		text += step;
		len -= step;
	}
	if (len > 0) {
		strbuf_puts(clean, "\xe2\x80\xa6"); /* … */
		strbuf_puts(clean, mark ? mark : "");
	}
	yajl_gen_string(json->gen, (const unsigned char *)strbuf_text(clean), clean->len);
}

void
evidence_json_string(struct evidence_json *json, const char *text)
{
	size_t max = json->limits->text;

	add_clean(json, text, strlen(text), max > NAME_MAX_BYTES ? max : NAME_MAX_BYTES, NULL);
}

void
evidence_json_text(struct evidence_json *json, const char *text, size_t len, const char *mark)
{
	add_clean(json, text, len, json->limits->text, mark);
}

void
evidence_json_name(struct evidence_json *json, const char *member)
{
	evidence_json_string(json, member);
}

void
evidence_json_open(struct evidence_json *json, const char *member)
{
	if (member != NULL)
		evidence_json_name(json, member);
	yajl_gen_map_open(json->gen);
}

void
evidence_json_close(struct evidence_json *json)
{
	yajl_gen_map_close(json->gen);
}

void
evidence_json_open_list(struct evidence_json *json)
{
	yajl_gen_array_open(json->gen);
}

void
evidence_json_close_list(struct evidence_json *json)
{
	yajl_gen_array_close(json->gen);
}

void
evidence_json_null(struct evidence_json *json)
{
	yajl_gen_null(json->gen);
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
	evidence_json_name(json, member);
	evidence_json_string(json, text);
}

void
evidence_json_member_int(struct evidence_json *json, const char *member, long long number)
{
	evidence_json_name(json, member);
	yajl_gen_integer(json->gen, number);
}

void
evidence_json_member_bool(struct evidence_json *json, const char *member, bool value)
{
	evidence_json_name(json, member);
	yajl_gen_bool(json->gen, value);
}
