/* SPDX-License-Identifier: Apache-2.0
 *
 * From a JSON object into a struct, by a table of its members: types, nearest description of what
 * is allowed, unknown members refused. One decoder for the YAML file and for the admin API.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "reconciled/base/attributes.h"

struct err;

enum decode_type {
	DECODE_TEXT,	 /* char *, owned */
	DECODE_TEXTS,	 /* json_t *, owned: a list of texts */
	DECODE_BOOL,	 /* bool */
	DECODE_COUNT,	 /* int, 0 to 1,000,000,000 */
	DECODE_DURATION, /* int64_t microseconds, from "200ms", "2s", "5m", "1h" */
	DECODE_WORD,	 /* int, index into words */
	DECODE_OBJECT,	 /* json_t *, owned */
	DECODE_LIST,	 /* json_t *, owned */
};

struct decode_field {
	const char *name;
	enum decode_type type;
	size_t offset;
	const char *const *words; /* DECODE_WORD: ends with NULL */
};

/* Members that are not there leave the struct as it is. On failure what was decoded stays in it. */
bool decode_object(const json_t *from, const struct decode_field *fields, void *into,
		   struct err *err) MUST_CHECK;
bool decode_duration(const char *text, int64_t *ret_us, struct err *err) MUST_CHECK;
/* Frees what the fields own. */
void decode_release(const struct decode_field *fields, void *of);
