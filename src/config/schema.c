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

#include "policy.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/duration.h"
#include "schema_writing.h"
#include "settings.h"
#include "target.h"
#include "test_file.h"

#define DRAFT "http://json-schema.org/draft-07/schema#"

void
schema_put(json_t *schema, const char *keyword, json_t *value)
{
	json_object_set_new(schema, keyword, value);
}

void
schema_put_text(json_t *schema, const char *keyword, const char *text)
{
	schema_put(schema, keyword, json_string(text));
}

void
schema_put_pattern(json_t *schema, const char *pattern, const char *message)
{
	schema_put_text(schema, "pattern", pattern);
	if (message)
		schema_put_text(schema, "patternErrorMessage", message);
}

void
schema_put_list(json_t *schema, const char *keyword, json_t *list)
{
	if (json_array_size(list) > 0)
		json_object_set(schema, keyword, list);
	json_decref(list);
}

json_t *
schema_typed(const char *type)
{
	json_t *schema = json_object();

	schema_put_text(schema, "type", type);
	return schema;
}

json_t *
schema_typed_or_text(const char *type)
{
	json_t *schema = json_object();

	schema_put(schema, "type", json_pack("[ss]", type, "string"));
	return schema;
}

json_t *
schema_scalar(void)
{
	json_t *schema = json_object();

	schema_put(schema, "type", json_pack("[sss]", "string", "number", "boolean"));
	return schema;
}

/* What an editor takes a plain word for, when that is no text. */
json_t *
schema_plain_twin(const char *word)
{
	char *end;
	double number = strtod(word, &end);

	if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
		return json_boolean(word[0] == 't');
	return word[0] >= '0' && word[0] <= '9' && *end == '\0' ? json_real(number) : NULL;
}

/* Both are lists beside each other; the second one is known to editors, not to the standard. */
static void
add_word(json_t *names, json_t *helps, json_t *name, const struct word *word)
{
	json_array_append_new(names, name);
	json_array_append_new(helps, json_string(word->help ? word->help : ""));
}

json_t *
schema_of_words(const struct words *words)
{
	json_t *schema = json_object(), *names = json_array(), *helps = json_array();
	bool has_help = false;

	for (size_t i = 0; i < words->count; i++) {
		const struct word *word = &words->list[i];
		json_t *twin;

		if (word->later)
			continue;
		twin = schema_plain_twin(word->name);
		if (twin)
			add_word(names, helps, twin, word);
		add_word(names, helps, json_string(word->name), word);
		has_help = has_help || word->help;
	}
	schema_put(schema, "enum", names);
	if (has_help)
		json_object_set(schema, "enumDescriptions", helps);
	json_decref(helps);
	return schema;
}

static json_t *
text_field(const struct field *field)
{
	json_t *schema = schema_scalar();

	schema_put(schema, "minLength", json_integer(1));
	if (field->preset_text)
		schema_put_text(schema, "default", field->preset_text);
	return schema;
}

static json_t *
bool_field(const struct field *field)
{
	json_t *schema = schema_typed("boolean");

	schema_put(schema, "default", json_boolean(field->preset));
	return schema;
}

static bool
has_default(const struct field *field)
{
	return !field->required && field->preset >= field->min && field->preset <= field->max;
}

static json_t *
whole_number(const struct field *field, const char *pattern, const char *message)
{
	json_t *schema = schema_typed_or_text("integer");

	schema_put_pattern(schema, pattern, message);
	schema_put(schema, "minimum", json_integer(field->min));
	schema_put(schema, "maximum", json_integer(field->max));
	if (has_default(field))
		schema_put(schema, "default", json_integer(field->preset));
	return schema;
}

static json_t *
count_field(const struct field *field)
{
	return whole_number(field, "^[0-9]+$", "A whole number.");
}

static json_t *
bytes_field(const struct field *field)
{
	return whole_number(field, "^[0-9]+(KiB|MiB)?$", "Bytes like 4096, 64KiB, 1MiB.");
}

static json_t *
percent_field(const struct field *field)
{
	json_t *schema = schema_typed("string");

	schema_put_pattern(schema, "^0*(100|[0-9]{1,2})%$", "From 0% to 100%.");
	if (has_default(field))
		schema_put(schema, "default", json_sprintf("%d%%", (int)field->preset));
	return schema;
}

static json_t *
duration_field(const struct field *field)
{
	json_t *schema = schema_typed("string");
	char text[DURATION_TEXT_MAX];

	schema_put_pattern(schema, field->milliseconds ? "^[0-9]+(ms|s|m|h|d)$" : "^[0-9]+[smhd]$",
			   field->milliseconds ? "A duration like 200ms, 3s, 5m."
					       : "A duration like 90s, 15m, 24h, 30d.");
	if (has_default(field)) {
		duration_format(field->preset, text);
		schema_put_text(schema, "default", text);
	}
	return schema;
}

static json_t *
word_field(const struct field *field)
{
	json_t *schema = schema_of_words(field->words);

	for (size_t i = 0; !field->required && i < field->words->count; i++)
		if (field->words->list[i].value == field->preset)
			schema_put_text(schema, "default", field->words->list[i].name);
	return schema;
}

/* draft 7 ignores what stands beside a reference. */
static json_t *
wrapped(json_t *schema)
{
	return json_object_get(schema, "$ref") ? json_pack("{s:[o]}", "allOf", schema) : schema;
}

static json_t *
words_or_shape(struct schema_writing *writing, const struct field *field)
{
	json_t *words = word_field(field), *schema;

	schema = json_pack("{s:[O,o]}", "anyOf", words, schema_of_shape(writing, field->shape));
	if (json_object_get(words, "default"))
		json_object_set(schema, "default", json_object_get(words, "default"));
	json_object_del(words, "default");
	json_decref(words);
	return schema;
}

static json_t *
own_field(struct schema_writing *writing, const struct field *field)
{
	if (field->shape && field->words)
		return words_or_shape(writing, field);
	if (field->shape)
		return wrapped(schema_of_shape(writing, field->shape));
	if (field->words)
		return word_field(field);
	return field->table ? schema_of_table(writing, field->table) : json_object();
}

static json_t *
value_schema(struct schema_writing *writing, const struct field *field)
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
		return schema_of_table(writing, field->table);
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
		schema_put_text(schema, "description", strbuf_text(&text));
	strbuf_finish(&text);
}

static json_t *
field_schema(struct schema_writing *writing, const struct field *field)
{
	json_t *schema = value_schema(writing, field);

	describe(schema, field);
	return schema;
}

json_t *
schema_of_table(struct schema_writing *writing, const struct table *table)
{
	json_t *schema = schema_typed("object"), *properties = json_object(),
	       *required = json_array();

	for (size_t i = 0; i < table->count; i++) {
		const struct field *field = &table->fields[i];

		if (field->type == FIELD_LATER)
			continue;
		schema_put(properties, field->name, field_schema(writing, field));
		if (field->required)
			json_array_append_new(required, json_string(field->name));
	}
	schema_put(schema, "properties", properties);
	schema_put_list(schema, "required", required);
	schema_put(schema, "additionalProperties", json_false());
	return schema;
}

static const struct {
	const char *name, *title;
	const struct table *table;
} files[] = {
	{ "config", "reconciled.yaml: settings of reconciled", &settings_table },
	{ "target", "targets.d/NAME.yaml: a target of reconciled", &target_table },
	{ "policy", "policies.d/TYPE.yaml: a policy of reconciled", &policy_table },
	{ "test", "a file of policy tests of reconciled", &test_file_table },
};

const char *
schema_name(size_t i)
{
	return i < ARRAY_LEN(files) ? files[i].name : NULL;
}

static char *
file_schema(size_t i)
{
	struct schema_writing writing = { .definitions = json_object() };
	json_t *schema = json_object();
	struct strbuf text = { 0 };
	char *dumped;

	schema_put_text(schema, "$schema", DRAFT);
	schema_put_text(schema, "$comment", "reconciled " RECONCILED_VERSION);
	schema_put_text(schema, "title", files[i].title);
	json_object_update_new(schema, schema_of_table(&writing, files[i].table));
	schema_put(schema, "definitions", writing.definitions);
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
