/* SPDX-License-Identifier: Apache-2.0
 *
 * Locators: where a condition or a comparison takes its value from.
 */
#include "reconciled/core/locator.h"

#include <string.h>

#include "fold.h"
#include "nearest.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/reading.h"
#include "reconciled/core/value.h"
#include "time_text.h"

/* What RFC 9110 allows in the name of a header. */
static const char token[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			    "!#$%&'*+-.^_`|~";

static bool
parse_header(struct arena *arena, const char *name, struct locator *locator, struct err *err)
{
	size_t len = strlen(name);

	if (len == 0)
		return err_set(err, ERR_INVALID, "\"header.\" lacks the name of the header");
	if (strspn(name, token) != len)
		return err_set(err, ERR_INVALID, "\"header.%.64s\" is no name of a header", name);
	locator->root = LOCATE_HEADER;
	locator->header = lower_ascii(arena, name, len);
	return true;
}

static bool
parse_op_pointer(struct arena *arena, const char *text, struct locator *locator, struct err *err)
{
	static const char prefix[] = "/expected/";

	if (strncmp(text, prefix, strlen(prefix)) != 0)
		return err_set(err, ERR_INVALID,
			       "\"op.%.64s\": allowed: op./expected/name or op.FIELD", text);
	locator->root = LOCATE_OP_POINTER;
	return pointer_parse(arena, text + strlen(prefix) - 1, &locator->pointer, err);
}

static bool
parse_op(struct arena *arena, const char *text, struct locator *locator, struct err *err)
{
	if (*text == '/')
		return parse_op_pointer(arena, text, locator, err);
	locator->root = LOCATE_OP_FIELD;
	if (operation_field_from_name(text, strlen(text), &locator->field))
		return true;
	return err_set(err, ERR_INVALID, "unknown field \"op.%.64s\", the nearest is \"op.%s\"",
		       text, nearest_field(text, strlen(text)));
}

static bool
parse_pointer(struct arena *arena, const char *text, struct locator *locator, struct err *err)
{
	locator->root = LOCATE_ITEM;
	return pointer_parse(arena, text, &locator->pointer, err);
}

static bool
parse_body(struct arena *arena, const char *text, struct locator *locator, struct err *err)
{
	locator->root = LOCATE_BODY;
	return pointer_parse(arena, text, &locator->pointer, err);
}

static bool
parse_status(struct arena *arena, const char *text, struct locator *locator, struct err *err)
{
	locator->root = LOCATE_STATUS;
	return *text == '\0' || err_set(err, ERR_INVALID, "\"status%.64s\": allowed: status", text);
}

static const struct {
	const char *prefix;
	size_t skip;
	bool (*parse)(struct arena *arena, const char *text, struct locator *locator,
		      struct err *err);
} forms[] = {
	{ "/", 0, parse_pointer },   { "status", 6, parse_status }, { "header.", 7, parse_header },
	{ "body./", 5, parse_body }, { "op.", 3, parse_op },
};

bool
locator_parse(struct arena *arena, const char *text, struct locator *ret_locator, struct err *err)
{
	struct locator locator = { .text = arena_strdup(arena, text) };

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		if (strncmp(text, forms[i].prefix, strlen(forms[i].prefix)) != 0)
			continue;
		if (!forms[i].parse(arena, text + forms[i].skip, &locator, err))
			return false;
		*ret_locator = locator;
		return true;
	}
	return err_set(
		err, ERR_INVALID,
		"\"%.64s\" is no place; allowed: /pointer, status, header.NAME, body./pointer, "
		"op.FIELD, op./expected/name",
		text);
}

static struct located
nothing(void)
{
	return (struct located){ .reached = false };
}

static struct located
one(struct arena *arena, const struct value *value)
{
	struct located located = { .count = 1, .reached = true };

	located.values = arena_new(arena, const struct value *);
	located.values[0] = value;
	return located;
}

static struct located
one_text(struct arena *arena, enum value_kind kind, const char *text)
{
	return text == NULL ? nothing() : one(arena, value_create(arena, kind, text, strlen(text)));
}

static struct located
find_below(const struct scene *scene, const struct value *start, const struct pointer *pointer)
{
	return start == NULL ? nothing() : pointer_find(scene, start, pointer);
}

static struct located
find_status(const struct scene *scene)
{
	const struct response *response = scene->response;
	char room[24];

	if (response == NULL || response->status <= 0)
		return nothing();
	return one_text(scene->arena, VALUE_NUMBER, decimal_text(response->status, room));
}

static struct located
find_header(const struct scene *scene, const char *name)
{
	const struct response *response = scene->response;
	struct located located = { 0 };

	if (response == NULL || response->headers_count == 0)
		return nothing();
	located.values = arena_array(scene->arena, const struct value *, response->headers_count);
	for (size_t i = 0; i < response->headers_count; i++) {
		const struct header *header = &response->headers[i];

		if (strcmp(header->name, name) == 0)
			located.values[located.count++] = value_create(
				scene->arena, VALUE_TEXT, header->value, strlen(header->value));
	}
	located.reached = located.count > 0;
	return located;
}

static struct located
find_op_field(const struct scene *scene, enum operation_field field)
{
	const struct operation *op = scene->op;
	int64_t us = op == NULL ? TIME_NONE : operation_time(op, field);

	if (op == NULL)
		return nothing();
	if (field == OP_EXPECTED)
		return op->expected == NULL ? nothing() : one(scene->arena, op->expected);
	if (us != TIME_NONE)
		return one_text(scene->arena, VALUE_TEXT,
				time_text(scene->arena, us, TEMPLATE_RFC3339));
	return one_text(scene->arena, VALUE_TEXT, operation_text(op, field));
}

struct located
locator_find(const struct scene *scene, const struct locator *locator)
{
	const struct value *body = scene->response == NULL ? NULL : scene->response->parsed;

	switch (locator->root) {
	case LOCATE_ITEM:
		return find_below(scene, scene->item != NULL ? scene->item : body,
				  &locator->pointer);
	case LOCATE_BODY:
		return find_below(scene, body, &locator->pointer);
	case LOCATE_STATUS:
		return find_status(scene);
	case LOCATE_HEADER:
		return find_header(scene, locator->header);
	case LOCATE_OP_FIELD:
		return find_op_field(scene, locator->field);
	case LOCATE_OP_POINTER:
		return find_below(scene, scene->op == NULL ? NULL : scene->op->expected,
				  &locator->pointer);
	}
	return nothing();
}
