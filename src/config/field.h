/* SPDX-License-Identifier: Apache-2.0
 *
 * Field tables: one row for each key of a mapping. The table decodes, checks, presets, dumps and
 * lists the keys; nothing else knows their names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "shape.h"

struct field;
struct loading;
struct node;

enum field_type {
	FIELD_TEXT,	/* const char * */
	FIELD_BOOL,	/* bool */
	FIELD_COUNT,	/* int */
	FIELD_DURATION, /* int64_t, microseconds */
	FIELD_BYTES,	/* int64_t */
	FIELD_PERCENT,	/* int */
	FIELD_WORD,	/* an enum */
	FIELD_TABLE,	/* a nested mapping, decoded with base + offset */
	FIELD_OWN,	/* decoded by .decode with base + offset */
	FIELD_LATER,	/* known in the language, not supported yet */
	FIELD_TYPES,
};

struct word {
	const char *name;
	int value;
	bool later;
	const char *help; /* or NULL; for editors */
};

struct words {
	const struct word *list;
	size_t count;
};

struct table {
	const struct field *fields;
	size_t count;
};

typedef void field_decode_fn(struct loading *loading, const struct node *node, void *at,
			     const struct field *field);

/* Value of a duration or number that was not given, where the default depends on other fields. */
enum { FIELD_UNSET = -1 };

struct field {
	const char *name;
	size_t offset;
	enum field_type type;
	int64_t min, max, preset;
	const char *preset_text; /* TEXT */
	bool milliseconds;	 /* DURATION: "200ms" is allowed too */
	const struct words *words;
	const struct table *table; /* TABLE; OWN: the mapping in it, for the list of keys */
	field_decode_fn *decode;
	const struct shape *shape; /* OWN: what it may hold, for the JSON Schema */
	bool required, reload;
	const char *help;
};

#define TABLE(name, fields) static const struct table name = { (fields), ARRAY_LEN(fields) }
#define WORDS(name, list) static const struct words name = { (list), ARRAY_LEN(list) }

#define TEXT(preset_) .type = FIELD_TEXT, .preset_text = (preset_)
#define BOOL(preset_) .type = FIELD_BOOL, .preset = (preset_)
#define COUNT(min_, max_, preset_)                                                                 \
	.type = FIELD_COUNT, .min = (min_), .max = (max_), .preset = (preset_)
#define DURATION(min_, max_, preset_)                                                              \
	.type = FIELD_DURATION, .min = (min_), .max = (max_), .preset = (preset_)
#define BYTES(min_, max_, preset_)                                                                 \
	.type = FIELD_BYTES, .min = (min_), .max = (max_), .preset = (preset_)
#define PERCENT(preset_) .type = FIELD_PERCENT, .max = 100, .preset = (preset_)
#define WORD(words_, preset_) .type = FIELD_WORD, .words = &(words_), .preset = (preset_)
#define NESTED(table_) .type = FIELD_TABLE, .table = &(table_)
#define OWN(decode_) .type = FIELD_OWN, .decode = (decode_)
#define LATER .type = FIELD_LATER

/* Longest duration that the language knows: 100 years. */
#define FIELD_DURATION_MAX ((int64_t)100 * 365 * 24 * 3600 * 1000000)

/* Writes every default of the table, nested ones too. */
void fields_preset(const struct table *table, void *base);

/* Presets, then decodes what is there; complains about unknown, repeated, wrong and missing keys.
 */
void fields_decode(struct loading *loading, const struct node *node, const struct table *table,
		   void *base);

/* Complains about an unknown key at its place, with the nearest known one. */
void fields_unknown(struct loading *loading, const struct node *node, const struct table *table);

/* One of the words; complains otherwise. False: nothing was stored. */
bool word_decode(struct loading *loading, const struct node *node, const struct words *words,
		 int *ret_value);

/* "PREFIX.key" lines for every key that is supported. */
void fields_print_keys(const struct table *table, const char *prefix, FILE *out);

/* The values as YAML. A field of type OWN must be a text here. */
void fields_dump(const struct table *table, const void *base, int indent, FILE *out);
