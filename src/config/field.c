/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes mappings by their field tables.
 */
#include "field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/duration.h"
#include "suggest.h"
#include "tree.h"

enum { SHORT_LIST = 12 };

static const char *
field_name_at(const void *fields, size_t i)
{
	return ((const struct field *)fields)[i].name;
}

static const char *
word_name_at(const void *words, size_t i)
{
	return ((const struct word *)words)[i].name;
}

static const char *
name_list(struct loading *loading, const char *(*name_at)(const void *, size_t), const void *names,
	  size_t count)
{
	struct strbuf list = { 0 };

	for (size_t i = 0; i < count; i++)
		strbuf_printf(&list, "%s%s", i ? ", " : "", name_at(names, i));

	const char *text = arena_strdup(loading->arena, strbuf_text(&list));

	strbuf_finish(&list);
	return text;
}

void
fields_unknown(struct loading *loading, const struct node *node, const struct table *table)
{
	const char *nearest =
		suggest_nearest(node->key, field_name_at, table->fields, table->count);
	const char *all = table->count <= SHORT_LIST
				  ? name_list(loading, field_name_at, table->fields, table->count)
				  : NULL;

	complain_at_key(loading, node, "unknown key%s%s%s%s",
			nearest ? ", nearest known key: " : "", nearest ? nearest : "",
			all ? "; allowed: " : "", all ? all : "");
}

bool
word_decode(struct loading *loading, const struct node *node, const struct words *words,
	    int *ret_value)
{
	const char *allowed = name_list(loading, word_name_at, words->list, words->count);

	if (node->kind != NODE_TEXT)
		return complain_found(loading, node, allowed), false;
	for (size_t i = 0; i < words->count; i++) {
		const struct word *word = &words->list[i];

		if (strcmp(word->name, node->text) != 0)
			continue;
		if (word->later)
			return complain_later_value(loading, node, node->text), false;
		*ret_value = word->value;
		return true;
	}

	const char *nearest = suggest_nearest(node->text, word_name_at, words->list, words->count);

	complain(loading, node, "found %s, allowed: %s%s%s", found_words(loading, node), allowed,
		 nearest ? "; nearest: " : "", nearest ? nearest : "");
	return false;
}

static void
decode_text(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	const char *text = text_decode(loading, node, "a text");

	if (text)
		*(const char **)at = text;
}

static void
decode_bool(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	static const struct word list[] = { { "true", .value = true },
					    { "false", .value = false } };
	static const struct words words = { list, ARRAY_LEN(list) };
	int value;

	if (node->quoted)
		complain(loading, node, "found a quoted text, allowed: true, false");
	else if (word_decode(loading, node, &words, &value))
		*(bool *)at = value != 0;
}

/* Decimal digits only, nothing before or behind. */
static bool
read_digits(const char *text, int64_t *ret_number, const char **ret_rest)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*ret_number = strtoll(text, &end, 10);
	*ret_rest = end;
	return errno == 0;
}

static void
decode_number(struct loading *loading, const struct node *node, void *at, const struct field *field,
	      const char *unit)
{
	int64_t number = 0;
	const char *rest = "";

	if (node->kind == NODE_TEXT && read_digits(node->text, &number, &rest) &&
	    strcmp(rest, unit) == 0 && number >= field->min && number <= field->max) {
		*(int *)at = (int)number;
		return;
	}
	complain(loading, node, "found %s, allowed: %lld%s to %lld%s", found_words(loading, node),
		 (long long)field->min, unit, (long long)field->max, unit);
}

static void
decode_count(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	decode_number(loading, node, at, field, "");
}

static void
decode_percent(struct loading *loading, const struct node *node, void *at,
	       const struct field *field)
{
	decode_number(loading, node, at, field, "%");
}

static void
decode_duration(struct loading *loading, const struct node *node, void *at,
		const struct field *field)
{
	char min[DURATION_TEXT_MAX], max[DURATION_TEXT_MAX];
	struct err err = { 0 };
	int64_t duration = 0;

	if (node->kind == NODE_TEXT &&
	    duration_parse(node->text, field->milliseconds, &duration, &err) &&
	    duration >= field->min && duration <= field->max) {
		*(int64_t *)at = duration;
		return;
	}
	duration_format(field->min, min);
	duration_format(field->max, max);
	complain(loading, node,
		 "found %s, allowed: a duration like 90s, 15m, 24h, 30d, from %s to %s",
		 found_words(loading, node), min, max);
}

static void
decode_bytes(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	static const struct {
		const char *unit;
		int64_t bytes;
	} units[] = { { "", 1 }, { "KiB", 1024 }, { "MiB", 1024 * 1024 } };
	int64_t number = 0;
	const char *rest = "";

	if (node->kind == NODE_TEXT && read_digits(node->text, &number, &rest))
		for (size_t i = 0; i < ARRAY_LEN(units); i++)
			if (strcmp(rest, units[i].unit) == 0 &&
			    number <= field->max / units[i].bytes &&
			    number * units[i].bytes >= field->min) {
				*(int64_t *)at = number * units[i].bytes;
				return;
			}
	complain(loading, node,
		 "found %s, allowed: bytes like 4096, 64KiB, 1MiB, from %lld to %lld",
		 found_words(loading, node), (long long)field->min, (long long)field->max);
}

static void
decode_word(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	(void)word_decode(loading, node, field->words, at);
}

static void
decode_table(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	fields_decode(loading, node, field->table, at);
}

static void
decode_own(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	field->decode(loading, node, at, field);
}

static void
decode_later(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	complain_later_key(loading, node);
}

static void
preset_text(void *at, const struct field *field)
{
	*(const char **)at = field->preset_text;
}

static void
preset_bool(void *at, const struct field *field)
{
	*(bool *)at = field->preset != 0;
}

static void
preset_int(void *at, const struct field *field)
{
	*(int *)at = (int)field->preset;
}

static void
preset_wide(void *at, const struct field *field)
{
	*(int64_t *)at = field->preset;
}

static void
preset_table(void *at, const struct field *field)
{
	fields_preset(field->table, at);
}

static void
preset_nothing(void *at, const struct field *field)
{
}

static void
print_quoted(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		if ((unsigned char)*text < 0x20)
			fprintf(out, "\\x%02x", (unsigned int)*text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

static void
dump_text(const void *at, const struct field *field, FILE *out)
{
	const char *text = *(const char *const *)at;

	print_quoted(text ? text : "", out);
}

static void
dump_bool(const void *at, const struct field *field, FILE *out)
{
	fputs(*(const bool *)at ? "true" : "false", out);
}

static void
dump_int(const void *at, const struct field *field, FILE *out)
{
	fprintf(out, "%d", *(const int *)at);
}

static void
dump_percent(const void *at, const struct field *field, FILE *out)
{
	fprintf(out, "%d%%", *(const int *)at);
}

static void
dump_bytes(const void *at, const struct field *field, FILE *out)
{
	fprintf(out, "%lld", (long long)*(const int64_t *)at);
}

static void
dump_duration(const void *at, const struct field *field, FILE *out)
{
	char text[DURATION_TEXT_MAX];

	duration_format(*(const int64_t *)at, text);
	fputs(text, out);
}

static void
dump_word(const void *at, const struct field *field, FILE *out)
{
	for (size_t i = 0; i < field->words->count; i++)
		if (field->words->list[i].value == *(const int *)at)
			fputs(field->words->list[i].name, out);
}

static const struct {
	field_decode_fn *decode;
	void (*preset)(void *at, const struct field *field);
	void (*dump)(const void *at, const struct field *field, FILE *out);
} kinds[FIELD_TYPES] = {
	[FIELD_TEXT] = { decode_text, preset_text, dump_text },
	[FIELD_BOOL] = { decode_bool, preset_bool, dump_bool },
	[FIELD_COUNT] = { decode_count, preset_int, dump_int },
	[FIELD_DURATION] = { decode_duration, preset_wide, dump_duration },
	[FIELD_BYTES] = { decode_bytes, preset_wide, dump_bytes },
	[FIELD_PERCENT] = { decode_percent, preset_int, dump_percent },
	[FIELD_WORD] = { decode_word, preset_int, dump_word },
	[FIELD_TABLE] = { decode_table, preset_table, NULL },
	[FIELD_OWN] = { decode_own, preset_nothing, dump_text },
	[FIELD_LATER] = { decode_later, preset_nothing, NULL },
};

static const struct field *
field_find(const struct table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->fields[i].name, name) == 0)
			return &table->fields[i];
	return NULL;
}

void
fields_preset(const struct table *table, void *base)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct field *field = &table->fields[i];

		kinds[field->type].preset((char *)base + field->offset, field);
	}
}

void
fields_decode(struct loading *loading, const struct node *node, const struct table *table,
	      void *base)
{
	fields_preset(table, base);
	if (node->kind != NODE_MAP) {
		complain_found(loading, node,
			       arena_printf(loading->arena, "a mapping with %s",
					    name_list(loading, field_name_at, table->fields,
						      table->count)));
		return;
	}
	for (const struct node *child = node->first; child; child = child->next) {
		const struct field *field = field_find(table, child->key);

		if (!field)
			fields_unknown(loading, child, table);
		else
			kinds[field->type].decode(loading, child, (char *)base + field->offset,
						  field);
	}
	for (size_t i = 0; i < table->count; i++) {
		const struct field *field = &table->fields[i];

		if (field->required && !node_member(node, field->name))
			complain(loading, node, "%s is missing: %s", field->name, field->help);
	}
}

void
fields_print_keys(const struct table *table, const char *prefix, FILE *out)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct field *field = &table->fields[i];
		char path[200];

		if (field->type == FIELD_LATER)
			continue;
		snprintf(path, sizeof(path), "%s%s", prefix, field->name);
		fprintf(out, "%s\n", path);
		if (!field->table)
			continue;
		strncat(path, ".", sizeof(path) - strlen(path) - 1);
		fields_print_keys(field->table, path, out);
	}
}

/* Not given, and an empty one would not load. */
static bool
is_empty_text(const void *at, const struct field *field)
{
	const char *text = field->type == FIELD_TEXT ? *(const char *const *)at : "-";

	return text == NULL || text[0] == '\0';
}

void
fields_dump(const struct table *table, const void *base, int indent, FILE *out)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct field *field = &table->fields[i];
		const void *at = (const char *)base + field->offset;

		if (field->type == FIELD_LATER || is_empty_text(at, field))
			continue;
		fprintf(out, "%*s%s:", indent, "", field->name);
		if (field->type == FIELD_TABLE) {
			fputc('\n', out);
			fields_dump(field->table, at, indent + 4, out);
			continue;
		}
		fputc(' ', out);
		kinds[field->type].dump(at, field, out);
		fputc('\n', out);
	}
}
