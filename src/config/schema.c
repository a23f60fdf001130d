/* SPDX-License-Identifier: Apache-2.0
 *
 * Field tables and shapes → JSON Schema, draft 7: what the language servers behind editors know
 * best. A key that does not load yet is left out, as the loader refuses it.
 *
 * An editor gives plain scalars types (YAML 1.2, core schema), the loader does not: to it they are
 * texts. So wherever a text may stand, a number or a boolean may too; keywords about other types say
 * nothing of a value, which is why one schema can tell the number and its quoted form.
 */
#include "reconciled/config/schema.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "policy.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/core/duration.h"
#include "reconciled/core/operation.h"
#include "settings.h"
#include "target.h"

#define DRAFT "http://json-schema.org/draft-07/schema#"

enum { DEFINITIONS_MAX = 64 };

struct writing {
	const struct shape *defined[DEFINITIONS_MAX];
	size_t defined_count;
	json_t *definitions;
};

static json_t *table_schema(struct writing *writing, const struct table *table);
static json_t *shape_schema(struct writing *writing, const struct shape *shape);

static void
put(json_t *schema, const char *keyword, json_t *value)
{
	json_object_set_new(schema, keyword, value);
}

static void
put_text(json_t *schema, const char *keyword, const char *text)
{
	put(schema, keyword, json_string(text));
}

static void
put_list(json_t *schema, const char *keyword, json_t *list)
{
	if (json_array_size(list) > 0)
		json_object_set(schema, keyword, list);
	json_decref(list);
}

static json_t *
typed(const char *type)
{
	json_t *schema = json_object();

	put_text(schema, "type", type);
	return schema;
}

/* Plain or quoted. */
static json_t *
either_typed(const char *plain, const char *pattern)
{
	json_t *schema = json_object();

	put(schema, "type", json_pack("[ss]", plain, "string"));
	if (pattern)
		put_text(schema, "pattern", pattern);
	return schema;
}

static json_t *
scalar_schema(void)
{
	json_t *schema = json_object();

	put(schema, "type", json_pack("[sss]", "string", "number", "boolean"));
	return schema;
}

/* What an editor takes a plain word for, when that is no text. */
static json_t *
plain_twin(const char *word)
{
	char *end;
	double number = strtod(word, &end);

	if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
		return json_boolean(word[0] == 't');
	return word[0] >= '0' && word[0] <= '9' && *end == '\0' ? json_real(number) : NULL;
}

static json_t *
word_list(const struct words *words)
{
	json_t *list = json_array();

	for (size_t i = 0; i < words->count; i++) {
		json_t *twin = plain_twin(words->list[i].name);

		if (words->list[i].later) {
			json_decref(twin);
			continue;
		}
		if (twin)
			json_array_append_new(list, twin);
		json_array_append_new(list, json_string(words->list[i].name));
	}
	return list;
}

static json_t *
words_schema(const struct words *words)
{
	json_t *schema = json_object();

	put(schema, "enum", word_list(words));
	return schema;
}

static json_t *
text_field(const struct field *field)
{
	json_t *schema = scalar_schema();

	put(schema, "minLength", json_integer(1));
	if (field->preset_text)
		put_text(schema, "default", field->preset_text);
	return schema;
}

static json_t *
bool_field(const struct field *field)
{
	json_t *schema = typed("boolean");

	put(schema, "default", json_boolean(field->preset));
	return schema;
}

static bool
has_default(const struct field *field)
{
	return !field->required && field->preset >= field->min && field->preset <= field->max;
}

static json_t *
whole_number(const struct field *field, const char *pattern)
{
	json_t *schema = either_typed("integer", pattern);

	put(schema, "minimum", json_integer(field->min));
	put(schema, "maximum", json_integer(field->max));
	if (has_default(field))
		put(schema, "default", json_integer(field->preset));
	return schema;
}

static json_t *
count_field(const struct field *field)
{
	return whole_number(field, "^[0-9]+$");
}

static json_t *
bytes_field(const struct field *field)
{
	return whole_number(field, "^[0-9]+(KiB|MiB)?$");
}

static json_t *
percent_field(const struct field *field)
{
	json_t *schema = typed("string");

	put_text(schema, "pattern", "^0*(100|[0-9]{1,2})%$");
	if (has_default(field))
		put(schema, "default", json_sprintf("%d%%", (int)field->preset));
	return schema;
}

static json_t *
duration_field(const struct field *field)
{
	json_t *schema = typed("string");
	char text[DURATION_TEXT_MAX];

	put_text(schema, "pattern",
		 field->milliseconds ? "^[0-9]+(ms|s|m|h|d)$" : "^[0-9]+[smhd]$");
	if (has_default(field)) {
		duration_format(field->preset, text);
		put_text(schema, "default", text);
	}
	return schema;
}

static json_t *
word_field(const struct field *field)
{
	json_t *schema = words_schema(field->words);

	for (size_t i = 0; !field->required && i < field->words->count; i++)
		if (field->words->list[i].value == field->preset)
			put_text(schema, "default", field->words->list[i].name);
	return schema;
}

/* draft 7 ignores what stands beside a reference. */
static json_t *
wrapped(json_t *schema)
{
	return json_object_get(schema, "$ref") ? json_pack("{s:[o]}", "allOf", schema) : schema;
}

static json_t *
words_or_shape(struct writing *writing, const struct field *field)
{
	json_t *words = word_field(field), *schema;

	schema = json_pack("{s:[O,o]}", "anyOf", words, shape_schema(writing, field->shape));
	if (json_object_get(words, "default"))
		json_object_set(schema, "default", json_object_get(words, "default"));
	json_object_del(words, "default");
	json_decref(words);
	return schema;
}

static json_t *
own_field(struct writing *writing, const struct field *field)
{
	if (field->shape && field->words)
		return words_or_shape(writing, field);
	if (field->shape)
		return wrapped(shape_schema(writing, field->shape));
	if (field->words)
		return word_field(field);
	return field->table ? table_schema(writing, field->table) : json_object();
}

static json_t *
value_schema(struct writing *writing, const struct field *field)
{
	switch (field->type) {
	case FIELD_TEXT:
		return text_field(field);
	case FIELD_BOOL:
		return bool_field(field);
	case FIELD_COUNT:
		return count_field(field);
	case FIELD_DURATION:
		return duration_field(field);
	case FIELD_BYTES:
		return bytes_field(field);
	case FIELD_PERCENT:
		return percent_field(field);
	case FIELD_WORD:
		return word_field(field);
	case FIELD_TABLE:
		return table_schema(writing, field->table);
	case FIELD_OWN:
		return own_field(writing, field);
	case FIELD_LATER:
	case FIELD_TYPES:
		break;
	}
	return NULL;
}

static bool
is_long(int64_t duration)
{
	return duration >= FIELD_DURATION_MAX;
}

/* The help as a sentence; help of required fields is the end of one in messages. */
static void
describe(json_t *schema, const struct field *field)
{
	char min[DURATION_TEXT_MAX], max[DURATION_TEXT_MAX];
	struct strbuf text = { 0 };

	if (field->help) {
		strbuf_puts(&text, field->help);
		if (text.data[0] >= 'a' && text.data[0] <= 'z')
			text.data[0] = (char)(text.data[0] - 'a' + 'A');
		if (text.data[text.len - 1] != '.')
			strbuf_putc(&text, '.');
	}
	if (field->type == FIELD_DURATION && !is_long(field->max)) {
		duration_format(field->min, min);
		duration_format(field->max, max);
		strbuf_printf(&text, " From %s to %s.", min, max);
	}
	if (text.len > 0)
		put_text(schema, "description", strbuf_text(&text));
	strbuf_finish(&text);
}

static json_t *
field_schema(struct writing *writing, const struct field *field)
{
	json_t *schema = value_schema(writing, field);

	describe(schema, field);
	return schema;
}

static json_t *
table_schema(struct writing *writing, const struct table *table)
{
	json_t *schema = typed("object"), *properties = json_object(), *required = json_array();

	for (size_t i = 0; i < table->count; i++) {
		const struct field *field = &table->fields[i];

		if (field->type == FIELD_LATER)
			continue;
		put(properties, field->name, field_schema(writing, field));
		if (field->required)
			json_array_append_new(required, json_string(field->name));
	}
	put(schema, "properties", properties);
	put_list(schema, "required", required);
	put(schema, "additionalProperties", json_false());
	return schema;
}

static void
put_limits(json_t *schema, const struct shape *shape, const char *least, const char *most)
{
	if (shape->min > 0)
		put(schema, least, json_integer(shape->min));
	if (shape->max > 0)
		put(schema, most, json_integer(shape->max));
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
put_pattern(json_t *schema, const char *pattern)
{
	char *text = pattern ? expanded(pattern) : NULL;

	if (text)
		put_text(schema, "pattern", text);
	free(text);
}

static json_t *
text_shape(const struct shape *shape, json_t *schema)
{
	put_pattern(schema, shape->pattern);
	put_limits(schema, shape, "minLength", "maxLength");
	return schema;
}

static json_t *
number_shape(const struct shape *shape)
{
	json_t *schema = either_typed("number", NULL);

	put_pattern(schema, shape->pattern);
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
list_shape(struct writing *writing, const struct shape *shape)
{
	json_t *schema = typed("array");

	put(schema, "items", shape_schema(writing, shape->of));
	put_limits(schema, shape, "minItems", "maxItems");
	return schema;
}

static json_t *
map_shape(struct writing *writing, const struct shape *shape)
{
	json_t *schema = shape->table ? table_schema(writing, shape->table) : typed("object");
	char *names = shape->pattern ? expanded(shape->pattern) : NULL;

	if (names) {
		put(schema, "patternProperties",
		    json_pack("{s:o}", names, shape_schema(writing, shape->of)));
		put(schema, "additionalProperties", json_false());
	} else {
		put(schema, "additionalProperties", shape_schema(writing, shape->of));
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
		json_t *plain = of->type == FIELD_BOOL ? plain_twin(option->values[i]) : NULL;

		json_array_append_new(values, plain ? plain : json_string(option->values[i]));
		if (is_default(of, option->values[i]))
			json_object_del(then, "required");
	}
	if (json_array_size(values) > 0)
		put(then, "properties", json_pack("{s:{s:O}}", option->of, "enum", values));
	json_decref(values);
	return json_pack("{s:o,s:o}", "if", required_one(option->key), "then", then);
}

static json_t *
table_shape(struct writing *writing, const struct shape *shape)
{
	json_t *schema = table_schema(writing, shape->table);
	json_t *one_of = json_array(), *options = json_array();

	put_limits(schema, shape, "minProperties", "maxProperties");
	for (size_t i = 0; shape->one_of && shape->one_of[i]; i++)
		json_array_append_new(one_of, required_one(shape->one_of[i]));
	for (size_t i = 0; i < shape->options_count; i++)
		json_array_append_new(options, option_schema(shape->table, &shape->options[i]));
	put_list(schema, "oneOf", one_of);
	put_list(schema, "allOf", options);
	return schema;
}

static json_t *
either_shape(struct writing *writing, const struct shape *shape)
{
	json_t *list = json_array();

	for (size_t i = 0; shape->either[i]; i++)
		json_array_append_new(list, shape_schema(writing, shape->either[i]));
	return json_pack("{s:o}", "anyOf", list);
}

static json_t *
shape_body(struct writing *writing, const struct shape *shape)
{
	switch (shape->kind) {
	case SHAPE_ANY:
		return json_object();
	case SHAPE_NULL:
		return typed("null");
	case SHAPE_SCALAR:
		return text_shape(shape, scalar_schema());
	case SHAPE_STRING:
		return text_shape(shape, typed("string"));
	case SHAPE_NUMBER:
		return number_shape(shape);
	case SHAPE_WORDS:
		return words_schema(shape->words);
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
described_body(struct writing *writing, const struct shape *shape)
{
	json_t *schema = shape_body(writing, shape);

	if (shape->help)
		put_text(schema, "description", shape->help);
	return schema;
}

static bool
is_defined(const struct writing *writing, const struct shape *shape)
{
	for (size_t i = 0; i < writing->defined_count; i++)
		if (writing->defined[i] == shape)
			return true;
	return false;
}

/* Noted before it is written: a shape may contain itself. */
static void
define(struct writing *writing, const struct shape *shape)
{
	assert(writing->defined_count < DEFINITIONS_MAX);
	assert(!json_object_get(writing->definitions, shape->name)); /* one name, one shape */
	writing->defined[writing->defined_count++] = shape;
	put(writing->definitions, shape->name, json_null());
	put(writing->definitions, shape->name, described_body(writing, shape));
}

static json_t *
shape_schema(struct writing *writing, const struct shape *shape)
{
	if (!shape->name)
		return described_body(writing, shape);
	if (!is_defined(writing, shape))
		define(writing, shape);
	return json_pack("{s:o}", "$ref", json_sprintf("#/definitions/%s", shape->name));
}

static const struct {
	const char *name, *title;
	const struct table *table;
} files[] = {
	{ "config", "reconciled.yaml: settings of reconciled", &settings_table },
	{ "target", "targets.d/NAME.yaml: a target of reconciled", &target_table },
	{ "policy", "policies.d/TYPE.yaml: a policy of reconciled", &policy_table },
};

const char *
schema_name(size_t i)
{
	return i < sizeof(files) / sizeof(files[0]) ? files[i].name : NULL;
}

static char *
file_schema(size_t i)
{
	struct writing writing = { .definitions = json_object() };
	json_t *schema = json_object();
	struct strbuf text = { 0 };
	char *dumped;

	put_text(schema, "$schema", DRAFT);
	put_text(schema, "$comment", "reconciled " RECONCILED_VERSION);
	put_text(schema, "title", files[i].title);
	json_object_update_new(schema, table_schema(&writing, files[i].table));
	put(schema, "definitions", writing.definitions);
	dumped = json_dumps(schema, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	assert(dumped);
	strbuf_printf(&text, "%s\n", dumped);
	free(dumped);
	json_decref(schema);
	return strbuf_take(&text);
}

char *
schema_text(const char *name)
{
	for (size_t i = 0; schema_name(i); i++)
		if (strcmp(name, schema_name(i)) == 0)
			return file_schema(i);
	return NULL;
}
