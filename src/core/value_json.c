/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a JSON text into a tree of values. yajl does the grammar and hands over the text of
 * numbers; what it lets pass (duplicate members, half surrogate pairs, overlong UTF-8, any depth,
 * any number of values) is refused here.
 */
#include <assert.h>
#include <string.h>

#include <utf8proc.h>
#include <yajl/yajl_parse.h>

#include "reconciled/base/arena.h"
#include "value_tree.h"

struct reader {
	struct arena *arena;
	char *texts; /* room for all texts of the document; each is shorter than its spelling */
	size_t texts_left;
	struct value *open[VALUE_DEPTH_MAX];
	size_t depth;
	const char *name; /* of the member whose value comes next */
	size_t name_len;
	const struct value *root;
	size_t nodes;
	enum value_fault fault; /* why a callback stopped the parser */
};

static const char *
keep_text(struct reader *reader, const char *text, size_t len)
{
	char *copy = reader->texts;

	assert(len < reader->texts_left);
	memcpy(copy, text, len);
	copy[len] = '\0';
	reader->texts += len + 1;
	reader->texts_left -= len + 1;
	return copy;
}

/* False stops the parser. */
static int
stop(struct reader *reader, enum value_fault fault)
{
	reader->fault = fault;
	return 0;
}

static struct value *
link_new(struct reader *reader, enum value_kind kind, const char *text, size_t len)
{
	struct value *value = arena_new(reader->arena, struct value);

	value->kind = kind;
	value->text = text;
	value->len = len;
	value->name = reader->name;
	value->name_len = reader->name_len;
	reader->name = NULL;
	reader->name_len = 0;
	if (reader->depth > 0)
		value_link(reader->open[reader->depth - 1], value);
	else
		reader->root = value;
	return value;
}

static int
add(struct reader *reader, enum value_kind kind, const char *text, size_t len)
{
	if (reader->nodes++ == VALUE_NODES_MAX)
		return stop(reader, VALUE_TOO_LARGE);
	link_new(reader, kind, text, len);
	return 1;
}

static int
open_container(struct reader *reader, enum value_kind kind)
{
	if (reader->depth == VALUE_DEPTH_MAX)
		return stop(reader, VALUE_TOO_DEEP);
	if (reader->nodes++ == VALUE_NODES_MAX)
		return stop(reader, VALUE_TOO_LARGE);

	struct value *value = link_new(reader, kind, NULL, 0);

	reader->open[reader->depth++] = value;
	return 1;
}

static int
on_null(void *arg)
{
	return add(arg, VALUE_NULL, NULL, 0);
}

static int
on_boolean(void *arg, int is_true)
{
	return add(arg, VALUE_BOOL, is_true ? "true" : "false", is_true ? 4 : 5);
}

static int
on_number(void *arg, const char *text, size_t len)
{
	return add(arg, VALUE_NUMBER, keep_text(arg, text, len), len);
}

static int
on_string(void *arg, const unsigned char *text, size_t len)
{
	return add(arg, VALUE_TEXT, keep_text(arg, (const char *)text, len), len);
}

static int
on_member(void *arg, const unsigned char *text, size_t len)
{
	struct reader *reader = arg;

	reader->name = keep_text(reader, (const char *)text, len);
	reader->name_len = len;
	return 1;
}

static int
on_start_object(void *arg)
{
	return open_container(arg, VALUE_OBJECT);
}

static int
on_end_object(void *arg)
{
	struct reader *reader = arg;

	return !value_has_duplicates(reader->open[--reader->depth]);
}

static int
on_start_list(void *arg)
{
	return open_container(arg, VALUE_LIST);
}

static int
on_end_list(void *arg)
{
	struct reader *reader = arg;

	reader->depth--;
	return 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_start_object,
	.yajl_map_key = on_member,
	.yajl_end_map = on_end_object,
	.yajl_start_array = on_start_list,
	.yajl_end_array = on_end_list,
};

static int
hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c == '\0' ? NULL : strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c);

	return at == NULL ? -1 : (int)(at - digits);
}

/* The code unit of a "\uXXXX" that begins at text, or -1. */
static int
escaped_unit(const char *text, const char *end)
{
	int unit = 0;

	if (end - text < 6 || text[0] != '\\' || text[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		int digit = hex_digit(text[i]);

		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	return unit;
}

/*
 * Length of the escape at text, 0 if it is half of a surrogate pair. A broken escape is stepped
 * over: yajl refuses it. Backslashes outside of strings are no JSON either.
 */
static size_t
escape_length(const char *text, const char *end)
{
	int unit = escaped_unit(text, end);

	if (unit < 0xd800 || unit > 0xdfff)
		return end - text < 2 ? 1 : 2;
	if (unit > 0xdbff)
		return 0;

	int low = escaped_unit(text + 6, end);

	return low >= 0xdc00 && low <= 0xdfff ? 12 : 0;
}

/* Well-formed UTF-8, and no lone surrogate in escapes. */
static bool
is_clean(const char *bytes, size_t len)
{
	const char *at = bytes, *end = bytes + len;

	while (at < end) {
		utf8proc_int32_t point;
		utf8proc_ssize_t step = 1;

		if (*at == '\\')
			step = (utf8proc_ssize_t)escape_length(at, end);
		else if ((unsigned char)*at >= 0x80)
			step = utf8proc_iterate((const utf8proc_uint8_t *)at, end - at, &point);
		if (step <= 0)
			return false;
		at += step;
	}
	return true;
}

static bool
is_blank(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i] == '\0' || strchr(" \t\r\n", bytes[i]) == NULL)
			return false;
	return true;
}

static bool
parse(struct reader *reader, const char *bytes, size_t len)
{
	yajl_handle handle = yajl_alloc(&callbacks, NULL, reader);
	yajl_status status = yajl_parse(handle, (const unsigned char *)bytes, len);

	if (status == yajl_status_ok)
		status = yajl_complete_parse(handle);
	yajl_free(handle);
	return status == yajl_status_ok;
}

enum value_fault
value_read_json(struct arena *arena, const char *bytes, size_t len, const struct value **ret_value)
{
	if (len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
		bytes += 3;
		len -= 3;
	}
	if (is_blank(bytes, len))
		return VALUE_EMPTY;
	if (!is_clean(bytes, len))
		return VALUE_NOT_JSON;

	struct reader reader = {
		.arena = arena,
		.texts = arena_alloc(arena, len + 1),
		.texts_left = len + 1,
		.fault = VALUE_NOT_JSON,
	};

	if (!parse(&reader, bytes, len))
		return reader.fault;
	assert(reader.root != NULL);
	*ret_value = reader.root;
	return VALUE_OK;
}
