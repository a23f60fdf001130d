/* SPDX-License-Identifier: Apache-2.0
 *
 * What the two halves of the schema writer share: schema.c knows fields and tables, schema_shape.c
 * shapes. Every json_t is a new reference.
 */
#pragma once

#include <stddef.h>

#include <jansson.h>

#include "field.h"

enum { DEFINITIONS_MAX = 64 };

/* One schema while it is built. */
struct schema_writing {
	const struct shape *defined[DEFINITIONS_MAX];
	size_t defined_count;
	json_t *definitions;
};

json_t *schema_of_table(struct schema_writing *writing, const struct table *table);
json_t *schema_of_words(const struct words *words);

/* A named shape becomes a reference, and a definition. */
json_t *schema_of_shape(struct schema_writing *writing, const struct shape *shape);

/* An editor takes a plain scalar for what it looks like: one type, a type or a text, any of them. */
json_t *schema_typed(const char *type);
json_t *schema_typed_or_text(const char *type);
json_t *schema_scalar(void);

/* What an editor takes a plain word for, when that is no text; NULL otherwise. */
json_t *schema_plain_twin(const char *word);

/* Each takes what it puts; put_list leaves out what is empty. */
void schema_put(json_t *schema, const char *keyword, json_t *value);
void schema_put_text(json_t *schema, const char *keyword, const char *text);
/* What an editor says instead of the pattern is not in the standard; NULL: nothing. */
void schema_put_pattern(json_t *schema, const char *pattern, const char *message);
void schema_put_list(json_t *schema, const char *keyword, json_t *list);
