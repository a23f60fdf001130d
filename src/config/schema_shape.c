/* SPDX-License-Identifier: Apache-2.0
 *
 * Shapes → JSON Schema.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/strbuf.h"
#include "reconciled/core/operation.h"
#include "schema_writing.h"

static void
put_limits(json_t *schema, const struct shape *shape, const char *least, const char *most)
{
	if (shape->min > 0)
		schema_put(schema, least, json_integer(shape->min));
	if (shape->max > 0)
		schema_put(schema, most, json_integer(shape->max));
}

/* "<field>" in a pattern becomes an alternation of the fields of an operation. */
static void
put_fields(struct strbuf *out)
{
	for (int i = 0; i < OP_FIELD_COUNT; i++)
		strbuf_printf(out, "%s%s", i ? "|" : "(", operation_field_name(i));
	strbuf_putc(out, ')');
}

static char *
expanded(const char *pattern)
{
	static const char mark[] = "<field>";
	struct strbuf text = { 0 };

	for (const char *at = strstr(pattern, mark); at; at = strstr(pattern, mark)) {
		strbuf_add(&text, pattern, (size_t)(at - pattern));
		put_fields(&text);
		pattern = at + sizeof(mark) - 1;
	}
	strbuf_puts(&text, pattern);
	return strbuf_take(&text);
}

static void
put_pattern(json_t *schema, const struct shape *shape)
{
	char *text = shape->pattern ? expanded(shape->pattern) : NULL;

	if (text)
		schema_put_pattern(schema, text, shape->help);
	free(text);
}

static json_t *
text_shape(const struct shape *shape, json_t *schema)
{
	put_pattern(schema, shape);
	put_limits(schema, shape, "minLength", "maxLength");
	return schema;
}

static json_t *
number_shape(const struct shape *shape)
{
	json_t *schema = schema_typed_or_text("number");

	put_pattern(schema, shape);
	put_limits(schema, shape, "minimum", "maximum");
	return schema;
}

static json_t *
field_shape(void)
{
	json_t *names = json_array();

	for (int i = 0; i < OP_FIELD_COUNT; i++)
		json_array_append_new(names, json_string(operation_field_name(i)));
	return json_pack("{s:o}", "enum", names);
}

static json_t *
list_shape(struct schema_writing *writing, const struct shape *shape)
{
	json_t *schema = schema_typed("array");

	schema_put(schema, "items", schema_of_shape(writing, shape->of));
	put_limits(schema, shape, "minItems", "maxItems");
	return schema;
}

static json_t *
map_shape(struct schema_writing *writing, const struct shape *shape)
{
	json_t *schema =
		shape->table ? schema_of_table(writing, shape->table) : schema_typed("object");
	char *names = shape->pattern ? expanded(shape->pattern) : NULL;

	if (names) {
		schema_put(schema, "patternProperties",
			   json_pack("{s:o}", names, schema_of_shape(writing, shape->of)));
		schema_put(schema, "additionalProperties", json_false());
	} else {
		schema_put(schema, "additionalProperties", schema_of_shape(writing, shape->of));
	}
	free(names);
	put_limits(schema, shape, "minProperties", "maxProperties");
	return schema;
}

static json_t *
required_one(const char *key)
{
	return json_pack("{s:[s]}", "required", key);
}

static const struct field *
field_named(const struct table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->fields[i].name, name) == 0)
			return &table->fields[i];
	return NULL;
}

static bool
is_default(const struct field *field, const char *word)
{
	for (size_t i = 0; field->words && i < field->words->count; i++)
		if (field->words->list[i].value == field->preset &&
		    strcmp(field->words->list[i].name, word) == 0)
			return true;
	return false;
}

/* With the key, the other one is there, unless its default will do. */
static json_t *
option_schema(const struct table *table, const struct shape_option *option)
{
	const struct field *of = field_named(table, option->of);
	json_t *values = json_array(), *then = required_one(option->of);

	for (size_t i = 0; i < SHAPE_VALUES_MAX && option->values[i]; i++) {
		json_t *plain =
			of->type == FIELD_BOOL ? schema_plain_twin(option->values[i]) : NULL;

		json_array_append_new(values, plain ? plain : json_string(option->values[i]));
		if (is_default(of, option->values[i]))
			json_object_del(then, "required");
	}
	if (json_array_size(values) > 0)
		schema_put(then, "properties", json_pack("{s:{s:O}}", option->of, "enum", values));
	json_decref(values);
	return json_pack("{s:o,s:o}", "if", required_one(option->key), "then", then);
}

static json_t *
table_shape(struct schema_writing *writing, const struct shape *shape)
{
	json_t *schema = schema_of_table(writing, shape->table);
	json_t *one_of = json_array(), *options = json_array();

	put_limits(schema, shape, "minProperties", "maxProperties");
	for (size_t i = 0; shape->one_of && shape->one_of[i]; i++)
		json_array_append_new(one_of, required_one(shape->one_of[i]));
	for (size_t i = 0; i < shape->options_count; i++)
		json_array_append_new(options, option_schema(shape->table, &shape->options[i]));
	schema_put_list(schema, "oneOf", one_of);
	schema_put_list(schema, "allOf", options);
	return schema;
}

static json_t *
either_shape(struct schema_writing *writing, const struct shape *shape)
{
	json_t *list = json_array();

	for (size_t i = 0; shape->either[i]; i++)
		json_array_append_new(list, schema_of_shape(writing, shape->either[i]));
	return json_pack("{s:o}", "anyOf", list);
}

static json_t *
shape_body(struct schema_writing *writing, const struct shape *shape)
{
	switch (shape->kind) {
	case SHAPE_ANY:
		return json_object();
	case SHAPE_NULL:
		return schema_typed("null");
	case SHAPE_SCALAR:
		return text_shape(shape, schema_scalar());
	case SHAPE_STRING:
		return text_shape(shape, schema_typed("string"));
	case SHAPE_NUMBER:
		return number_shape(shape);
	case SHAPE_WORDS:
		return schema_of_words(shape->words);
	case SHAPE_FIELD:
		return field_shape();
	case SHAPE_LIST:
		return list_shape(writing, shape);
	case SHAPE_MAP:
		return map_shape(writing, shape);
	case SHAPE_TABLE:
		return table_shape(writing, shape);
	case SHAPE_EITHER:
		return either_shape(writing, shape);
	}
	return NULL;
}

static json_t *
described_body(struct schema_writing *writing, const struct shape *shape)
{
	json_t *schema = shape_body(writing, shape);

	if (shape->help)
		schema_put_text(schema, "description", shape->help);
	return schema;
}

static bool
is_defined(const struct schema_writing *writing, const struct shape *shape)
{
	for (size_t i = 0; i < writing->defined_count; i++)
		if (writing->defined[i] == shape)
			return true;
	return false;
}

/* Noted before it is written: a shape may contain itself. */
static void
define(struct schema_writing *writing, const struct shape *shape)
{
	assert(writing->defined_count < DEFINITIONS_MAX);
	assert(!json_object_get(writing->definitions, shape->name)); /* one name, one shape */
	writing->defined[writing->defined_count++] = shape;
	schema_put(writing->definitions, shape->name, json_null());
	schema_put(writing->definitions, shape->name, described_body(writing, shape));
}

json_t *
schema_of_shape(struct schema_writing *writing, const struct shape *shape)
{
	if (!shape->name)
		return described_body(writing, shape);
	if (!is_defined(writing, shape))
		define(writing, shape);
	return json_pack("{s:o}", "$ref", json_sprintf("#/definitions/%s", shape->name));
}
