/* SPDX-License-Identifier: Apache-2.0
 *
 * What a field of type OWN may hold, as data, for the JSON Schemas. A shape stands beside the decoder
 * whose grammar it tells. It may allow what the decoder refuses, never the other way round.
 */
#pragma once

#include <stddef.h>

struct table;
struct words;

enum { SHAPE_VALUES_MAX = 4 };

enum shape_kind {
	SHAPE_ANY,    /* whatever YAML can write */
	SHAPE_NULL,   /* null, ~ or nothing */
	SHAPE_SCALAR, /* a text; plain numbers and booleans are texts too */
	SHAPE_STRING, /* a text that never looks like a number or a boolean */
	SHAPE_NUMBER, /* a number, plain or quoted; pattern tells the quoted ones */
	SHAPE_WORDS,  /* one of .words */
	SHAPE_FIELD,  /* the name of a field of the operation */
	SHAPE_LIST,   /* of .of, .min to .max of them */
	SHAPE_MAP,    /* names that match .pattern to .of; names in .table to what stands there */
	SHAPE_TABLE,  /* the mapping of .table, with .min to .max of its keys */
	SHAPE_EITHER, /* one of .either */
};

/* A key that only goes with another one, that has one of the values if there are any. */
struct shape_option {
	const char *key, *of;
	const char *values[SHAPE_VALUES_MAX]; /* up to the first NULL */
};

#define NEEDS(key_, of_)                                                                           \
	{                                                                                          \
		.key = (key_), .of = (of_)                                                         \
	}
#define NEEDS_VALUE(key_, of_, ...)                                                                \
	{                                                                                          \
		.key = (key_), .of = (of_), .values = { __VA_ARGS__ }                              \
	}

struct shape {
	const char *name; /* of its definition; NULL: is written where it is used */
	enum shape_kind kind;
	const char *help;
	const char *pattern; /* ECMAScript; "<field>" stands for the fields of the operation */
	int min, max; /* entries, bytes of a text; a NUMBER: the plain one; max 0: no limit */
	const struct words *words;
	const struct table *table;
	const struct shape *of;
	const struct shape *const *either; /* ends with NULL */
	const char *const *one_of;	   /* TABLE: exactly one of these keys; ends with NULL */
	const struct shape_option *options;
	size_t options_count;
};
