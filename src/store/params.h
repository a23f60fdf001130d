/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters of one statement in PostgreSQL's binary format, arrays included, in one buffer.
 * Copies what it is given. Fill in the order of $1, $2, …
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PARAMS_MAX = 40 };

/* Zeroed is empty. */
struct params {
	int count;
	size_t start[PARAMS_MAX];
	int length[PARAMS_MAX]; /* -1: null */
	char *data;
	size_t len, size;
};

/* What an array holds; the numbers are PostgreSQL's type oids. */
enum element {
	ELEMENT_BOOL = 16,
	ELEMENT_BYTEA = 17,
	ELEMENT_INT8 = 20,
	ELEMENT_INT4 = 23,
	ELEMENT_TEXT = 25,
	ELEMENT_TIME = 1184,
};

void params_finish(struct params *params);

void params_text(struct params *params, const char *text); /* NULL: null */
void params_int8(struct params *params, int64_t number);
void params_int4(struct params *params, int32_t number);
void params_bool(struct params *params, bool value);
void params_time(struct params *params, int64_t at_us); /* TIME_NONE: null */
void params_null(struct params *params);

/* One array of count elements follows; then exactly that many params_add_…, then params_array_end.
 */
void params_array_begin(struct params *params, enum element element, size_t count);
void params_array_end(struct params *params);
void params_add_text(struct params *params, const char *text); /* NULL: null */
void params_add_int8(struct params *params, int64_t number);
void params_add_int4(struct params *params, int32_t number);
void params_add_bool(struct params *params, bool value);
void params_add_time(struct params *params, int64_t at_us);		/* TIME_NONE: null */
void params_add_bytes_from_hex(struct params *params, const char *hex); /* NULL or "": null */
void params_add_null(struct params *params);

/* A whole array of texts. */
void params_texts(struct params *params, const char *const *texts, size_t count);
