/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a JSON text into a tree of values: RFC 8259 to the letter, and of what it leaves open
 * (duplicate members, half surrogate pairs, size) nothing. Numbers keep their text.
 */
#include <string.h>

#include <utf8proc.h>

#include "reconciled/base/arena.h"
#include "value_tree.h"

struct reader {
	struct arena *arena;
	const char *at, *end;
	char *texts; /* room for all texts with their NULs: none is longer than its spelling */
	size_t depth, nodes;
	enum value_fault fault; /* of a read that fails */
};

static bool read_value(struct reader *reader, struct value *value);

static bool
fail(struct reader *reader, enum value_fault fault)
{
	reader->fault = fault;
	return false;
}

static void
skip_space(struct reader *reader)
{
	while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\n' ||
					    *reader->at == '\r' || *reader->at == '\t'))
		reader->at++;
}

static bool
take(struct reader *reader, char c)
{
	if (reader->at == reader->end || *reader->at != c)
		return false;
	reader->at++;
	return true;
}

static void
set_scalar(struct value *value, enum value_kind kind, const char *text, size_t len)
{
	value->kind = kind;
	value->text = text;
	value->len = len;
}

static int
hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c == '\0' ? NULL : strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c);

	return at == NULL ? -1 : (int)(at - digits);
}

/* Steps over a "\uXXXX" and returns its code unit; -1 if there is none. */
static int
take_unit(struct reader *reader)
{
	int unit = 0;

	if (reader->end - reader->at < 6 || memcmp(reader->at, "\\u", 2) != 0)
		return -1;
	for (int i = 2; i < 6; i++) {
		int digit = hex_digit(reader->at[i]);

		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	reader->at += 6;
	return unit;
}

/* One unit, or the two of a pair; half a pair is nothing. */
static bool
copy_unicode(struct reader *reader)
{
	int point = take_unit(reader);

	if (point < 0 || (point >= 0xdc00 && point <= 0xdfff))
		return false;
	if (point >= 0xd800 && point <= 0xdbff) {
		int low = take_unit(reader);

		if (low < 0xdc00 || low > 0xdfff)
			return false;
		point = 0x10000 + (point - 0xd800) * 0x400 + (low - 0xdc00);
	}
	reader->texts += utf8proc_encode_char(point, (utf8proc_uint8_t *)reader->texts);
	return true;
}

static bool
copy_escape(struct reader *reader)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (reader->end - reader->at < 2 || reader->at[1] == '\0')
		return false;
	if (reader->at[1] == 'u')
		return copy_unicode(reader);
	at = strchr(letters, reader->at[1]);
	if (at == NULL)
		return false;
	*reader->texts++ = meant[at - letters];
	reader->at += 2;
	return true;
}

static bool
copy_utf8(struct reader *reader)
{
	utf8proc_int32_t unused;
	utf8proc_ssize_t bytes = utf8proc_iterate((const utf8proc_uint8_t *)reader->at,
						  reader->end - reader->at, &unused);

	if (bytes < 2) /* broken, or a control character */
		return false;
	memcpy(reader->texts, reader->at, (size_t)bytes);
	reader->texts += bytes;
	reader->at += bytes;
	return true;
}

static bool
is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static void
copy_plain(struct reader *reader)
{
	const char *at = reader->at, *end = reader->end;
	char *to = reader->texts;

	while (at < end && is_plain((unsigned char)*at))
		*to++ = *at++;
	reader->at = at;
	reader->texts = to;
}

static bool
read_text(struct reader *reader, const char **ret_text, size_t *ret_len)
{
	const char *start = reader->texts;

	if (!take(reader, '"'))
		return false;
	for (copy_plain(reader); !take(reader, '"'); copy_plain(reader)) {
		if (reader->at == reader->end)
			return false;
		if (*reader->at == '\\' ? !copy_escape(reader) : !copy_utf8(reader))
			return false;
	}
	*ret_text = start;
	*ret_len = (size_t)(reader->texts - start);
	*reader->texts++ = '\0';
	return true;
}

static bool
take_digits(struct reader *reader)
{
	const char *start = reader->at;

	while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9')
		reader->at++;
	return reader->at > start;
}

static bool
take_exponent(struct reader *reader)
{
	if (!take(reader, 'e') && !take(reader, 'E'))
		return true;
	if (!take(reader, '+'))
		take(reader, '-');
	return take_digits(reader);
}

static bool
read_number(struct reader *reader, struct value *value)
{
	const char *start = reader->at;
	char *text = reader->texts;
	size_t len;

	take(reader, '-');
	if (!take(reader, '0') && !take_digits(reader))
		return false;
	if (take(reader, '.') && !take_digits(reader))
		return false;
	if (!take_exponent(reader))
		return false;
	len = (size_t)(reader->at - start);
	memcpy(text, start, len);
	text[len] = '\0';
	reader->texts += len + 1;
	set_scalar(value, VALUE_NUMBER, text, len);
	return true;
}

static bool
read_word(struct reader *reader, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(reader->end - reader->at) < len || memcmp(reader->at, word, len) != 0)
		return false;
	reader->at += len;
	return true;
}

static struct value *
add_child(struct reader *reader, struct value *parent)
{
	struct value *child = arena_new(reader->arena, struct value);

	value_link(parent, child);
	return child;
}

/* Behind the bracket. */
static bool
read_members(struct reader *reader, struct value *object)
{
	skip_space(reader);
	if (take(reader, '}'))
		return true;
	do {
		struct value *child = add_child(reader, object);

		skip_space(reader);
		if (!read_text(reader, &child->name, &child->name_len))
			return false;
		skip_space(reader);
		if (!take(reader, ':') || !read_value(reader, child))
			return false;
	} while (take(reader, ','));
	return take(reader, '}') && !value_has_duplicates(object);
}

static bool
read_elements(struct reader *reader, struct value *list)
{
	skip_space(reader);
	if (take(reader, ']'))
		return true;
	do {
		if (!read_value(reader, add_child(reader, list)))
			return false;
	} while (take(reader, ','));
	return take(reader, ']');
}

static bool
read_container(struct reader *reader, struct value *value, enum value_kind kind)
{
	bool good;

	if (reader->depth == VALUE_DEPTH_MAX)
		return fail(reader, VALUE_TOO_DEEP);
	reader->depth++;
	reader->at++;
	value->kind = kind;
	good = kind == VALUE_OBJECT ? read_members(reader, value) : read_elements(reader, value);
	reader->depth--;
	return good;
}

static bool
read_any(struct reader *reader, struct value *value)
{
	if (reader->at == reader->end)
		return false;
	switch (*reader->at) {
	case '{':
		return read_container(reader, value, VALUE_OBJECT);
	case '[':
		return read_container(reader, value, VALUE_LIST);
	case '"':
		value->kind = VALUE_TEXT;
		return read_text(reader, &value->text, &value->len);
	case 't':
		set_scalar(value, VALUE_BOOL, "true", 4);
		return read_word(reader, "true");
	case 'f':
		set_scalar(value, VALUE_BOOL, "false", 5);
		return read_word(reader, "false");
	case 'n':
		value->kind = VALUE_NULL;
		return read_word(reader, "null");
	default:
		return read_number(reader, value);
	}
}

/* With the white space on both sides. */
static bool
read_value(struct reader *reader, struct value *value)
{
	if (reader->nodes++ == VALUE_NODES_MAX)
		return fail(reader, VALUE_TOO_LARGE);
	skip_space(reader);
	if (!read_any(reader, value))
		return false;
	skip_space(reader);
	return true;
}

enum value_fault
value_read_json(struct arena *arena, const char *bytes, size_t len, const struct value **ret_value)
{
	struct reader reader = {
		.arena = arena,
		.at = bytes,
		.end = bytes + len,
		.fault = VALUE_NOT_JSON,
	};
	struct value *root;

	if (len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		reader.at += 3;
	skip_space(&reader);
	if (reader.at == reader.end)
		return VALUE_EMPTY;
	reader.texts = arena_alloc(arena, len + 1);
	root = arena_new(arena, struct value);
	if (!read_value(&reader, root))
		return reader.fault;
	if (reader.at != reader.end)
		return VALUE_NOT_JSON;
	*ret_value = root;
	return VALUE_OK;
}
