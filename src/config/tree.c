/* SPDX-License-Identifier: Apache-2.0
 *
 * YAML events of libyaml → tree. Events are taken one by one and the nesting is cut here, because
 * libyaml itself has no limit and its cost grows with the square of the depth.
 */
#include "tree.h"

#include <string.h>

#include <yaml.h>

#include "loading.h"
#include "reconciled/base/arena.h"

/* Values being read, innermost last, and the key that waits for its value. */
struct reader {
	struct loading *loading;
	struct node *stack[TREE_DEPTH_MAX];
	size_t depth;
	struct node *root;
	struct node key; /* key, key_line, key_column; key NULL: none waits */
	bool drop;	 /* its value belongs to a repeated key */
	int documents;
	bool stop;
};

const struct node *
node_member(const struct node *node, const char *key)
{
	if (!node || node->kind != NODE_MAP)
		return NULL;
	for (const struct node *child = node->first; child; child = child->next)
		if (strcmp(child->key, key) == 0)
			return child;
	return NULL;
}

static void
refuse(struct reader *reader, yaml_mark_t mark, const char *message)
{
	problems_add(reader->loading->problems, reader->loading->file, (int)mark.line + 1,
		     (int)mark.column + 1, "%s", message);
}

static void
refuse_and_stop(struct reader *reader, yaml_mark_t mark, const char *message)
{
	refuse(reader, mark, message);
	reader->stop = true;
}

static struct node *
innermost(const struct reader *reader)
{
	return reader->depth > 0 ? reader->stack[reader->depth - 1] : NULL;
}

static bool
expects_key(const struct reader *reader)
{
	const struct node *parent = innermost(reader);

	return parent && parent->kind == NODE_MAP && !reader->key.key;
}

static void
attach(struct reader *reader, struct node *node)
{
	struct node *parent = innermost(reader);

	if (!parent) {
		node->key = "";
		reader->root = node;
		return;
	}
	if (parent->kind == NODE_MAP) {
		node->key = reader->key.key;
		node->key_line = reader->key.key_line;
		node->key_column = reader->key.key_column;
		reader->key.key = NULL;
		if (reader->drop) {
			reader->drop = false;
			return;
		}
	} else {
		node->key = parent->key;
		node->key_line = node->line;
		node->key_column = node->column;
	}
	if (parent->last)
		parent->last->next = node;
	else
		parent->first = node;
	parent->last = node;
	parent->count++;
}

static struct node *
node_create(struct reader *reader, enum node_kind kind, yaml_mark_t mark)
{
	struct node *node = arena_new(reader->loading->arena, struct node);

	node->kind = kind;
	node->line = (int)mark.line + 1;
	node->column = (int)mark.column + 1;
	attach(reader, node);
	return node;
}

static void
open_collection(struct reader *reader, enum node_kind kind, yaml_mark_t mark)
{
	if (expects_key(reader)) {
		refuse_and_stop(reader, mark, "a key must be a text");
		return;
	}
	if (reader->depth == TREE_DEPTH_MAX) {
		refuse_and_stop(reader, mark, "nested deeper than 32 levels");
		return;
	}
	struct node *node = node_create(reader, kind, mark);

	reader->stack[reader->depth++] = node;
}

/* Says so when the key is there already; its value is read and dropped then. */
static void
take_key(struct reader *reader, const char *text, yaml_mark_t mark)
{
	const struct node *parent = innermost(reader);
	const struct node *first = node_member(parent, text);

	if (parent->count >= TREE_KEYS_MAX) {
		refuse_and_stop(reader, mark, "more than 1024 keys in one mapping");
		return;
	}
	reader->key = (struct node){
		.key = text,
		.line = (int)mark.line + 1,
		.column = (int)mark.column + 1,
		.key_line = (int)mark.line + 1,
		.key_column = (int)mark.column + 1,
	};
	reader->drop = first != NULL;
	if (first)
		complain(reader->loading, &reader->key,
			 "key appears a second time, first at line %d, column %d", first->key_line,
			 first->key_column);
}

static bool
is_null(const yaml_event_t *event)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };
	const char *text = (const char *)event->data.scalar.value;

	if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(nulls); i++)
		if (strcmp(text, nulls[i]) == 0)
			return true;
	return false;
}

static void
take_scalar(struct reader *reader, const yaml_event_t *event)
{
	const char *bytes = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;
	char *text = arena_strndup(reader->loading->arena, bytes, len);

	if (strlen(text) != len) {
		refuse_and_stop(reader, event->start_mark, "a NUL character in a text");
		return;
	}
	if (expects_key(reader)) {
		take_key(reader, text, event->start_mark);
		return;
	}
	struct node *node =
		node_create(reader, is_null(event) ? NODE_NULL : NODE_TEXT, event->start_mark);

	node->text = text;
	node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
}

static void
refuse_extras(struct reader *reader, yaml_mark_t mark, const yaml_char_t *anchor,
	      const yaml_char_t *tag)
{
	if (anchor)
		refuse(reader, mark, "anchors and aliases are not allowed");
	if (tag)
		refuse(reader, mark, "tags are not allowed");
}

static void
take_alias(struct reader *reader, yaml_mark_t mark)
{
	if (expects_key(reader)) {
		refuse_and_stop(reader, mark, "anchors and aliases are not allowed");
		return;
	}
	refuse(reader, mark, "anchors and aliases are not allowed");
	node_create(reader, NODE_NULL, mark);
}

static void
take_event(struct reader *reader, const yaml_event_t *event)
{
	yaml_mark_t mark = event->start_mark;

	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (reader->documents++ > 0)
			refuse_and_stop(reader, mark, "a second document begins, allowed: one");
		break;
	case YAML_ALIAS_EVENT:
		take_alias(reader, mark);
		break;
	case YAML_SCALAR_EVENT:
		refuse_extras(reader, mark, event->data.scalar.anchor, event->data.scalar.tag);
		take_scalar(reader, event);
		break;
	case YAML_SEQUENCE_START_EVENT:
		refuse_extras(reader, mark, event->data.sequence_start.anchor,
			      event->data.sequence_start.tag);
		open_collection(reader, NODE_LIST, mark);
		break;
	case YAML_MAPPING_START_EVENT:
		refuse_extras(reader, mark, event->data.mapping_start.anchor,
			      event->data.mapping_start.tag);
		open_collection(reader, NODE_MAP, mark);
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		reader->depth--;
		break;
	case YAML_STREAM_END_EVENT:
		reader->stop = true;
		break;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		break;
	}
}

/* libyaml counts characters, so the byte at a mark is found by line and column. */
static char
byte_at(yaml_mark_t mark, const char *bytes, size_t len)
{
	const char *end = bytes + len, *p = bytes;

	for (size_t line = 0; p < end && line < mark.line; p++)
		line += *p == '\n';
	for (size_t column = 0; p < end && column < mark.column; p++)
		column += (p[1] & 0xC0) != 0x80;
	return p < end ? *p : '\0';
}

static void
refuse_syntax(struct reader *reader, const yaml_parser_t *parser, const char *bytes, size_t len)
{
	yaml_mark_t mark = parser->problem_mark;

	if (byte_at(mark, bytes, len) == '\t') {
		refuse(reader, mark, "a tab where YAML expects spaces");
		return;
	}
	problems_add(reader->loading->problems, reader->loading->file, (int)mark.line + 1,
		     (int)mark.column + 1, "not valid YAML: %s%s%s",
		     parser->context ? parser->context : "", parser->context ? ", " : "",
		     parser->problem ? parser->problem : "unknown error");
}

/* Length of the UTF-8 character at p, 0 when there is none (overlong, surrogate, cut, stray). */
static size_t
utf8_read(const unsigned char *p, size_t left, unsigned int *ret_code)
{
	static const struct {
		unsigned char mask, lead;
		unsigned int least;
	} forms[] = { { 0x80, 0x00, 0 },
		      { 0xE0, 0xC0, 0x80 },
		      { 0xF0, 0xE0, 0x800 },
		      { 0xF8, 0xF0, 0x10000 } };

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		unsigned int code = p[0] & (unsigned char)~forms[i].mask;

		if ((p[0] & forms[i].mask) != forms[i].lead)
			continue;
		if (left < i + 1)
			return 0;
		for (size_t j = 1; j <= i; j++) {
			if ((p[j] & 0xC0) != 0x80)
				return 0;
			code = code << 6 | (p[j] & 0x3F);
		}
		if (code < forms[i].least || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
			return 0;
		*ret_code = code;
		return i + 1;
	}
	return 0;
}

/* What YAML does not print: C0 and C1 controls without tab and line ends, and non-characters. */
static bool
is_control(unsigned int code)
{
	if (code < 0x20)
		return code != '\t' && code != '\n' && code != '\r';
	return code == 0x7F || (code >= 0x80 && code < 0xA0 && code != 0x85) || code == 0xFFFE ||
	       code == 0xFFFF;
}

/* libyaml reports bad bytes without line and column, so they are looked for before. */
static bool
bytes_are_text(struct reader *reader, const char *bytes, size_t len)
{
	yaml_mark_t mark = { 0 };

	for (size_t i = 0; i < len;) {
		const unsigned char *p = (const unsigned char *)bytes + i;
		unsigned int code = 0;
		size_t step = utf8_read(p, len - i, &code);

		if (step == 0)
			return refuse(reader, mark, "not valid UTF-8"), false;
		if (is_control(code))
			return refuse(reader, mark, "a control character"), false;
		mark.column++;
		if (*p == '\n') {
			mark.line++;
			mark.column = 0;
		}
		i += step;
	}
	return true;
}

static bool
read_events(struct reader *reader, const char *bytes, size_t len)
{
	yaml_parser_t parser;
	bool good = true;

	if (!yaml_parser_initialize(&parser))
		return refuse(reader, (yaml_mark_t){ 0 }, "no memory for the YAML parser"), false;
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, len);
	while (good && !reader->stop) {
		yaml_event_t event;

		good = yaml_parser_parse(&parser, &event);
		if (!good) {
			refuse_syntax(reader, &parser, bytes, len);
			break;
		}
		take_event(reader, &event);
		good = !reader->stop || event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return good;
}

const struct node *
tree_read(struct loading *loading, const char *bytes, size_t len)
{
	struct reader reader = { .loading = loading };

	if (len >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
		bytes += 3;
		len -= 3;
	}
	if (!bytes_are_text(&reader, bytes, len) || !read_events(&reader, bytes, len))
		return NULL;
	if (!reader.root || (reader.root->kind == NODE_NULL)) {
		problems_add(loading->problems, loading->file, 0, 0, "the file is empty");
		return NULL;
	}
	if (reader.root->kind != NODE_MAP) {
		complain_found(loading, reader.root, "a mapping of keys and values");
		return NULL;
	}
	return reader.root;
}
