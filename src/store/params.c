/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters of a statement in binary format. Positions are kept, not pointers, because the buffer
 * moves while it grows.
 */
#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "params.h"
#include "pg_time.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/core/operation.h"

/* Room for len more bytes, which count as used. */
static char *
take(struct params *params, size_t len)
{
	char *room;

	if (!params->data || params->size - params->len < len) {
		params->size = (params->size + len) * 2 + 64;
		params->data = xrealloc(params->data, params->size, 1);
	}
	room = params->data + params->len;
	params->len += len;
	return room;
}

static void
put_int4(char *to, uint32_t number)
{
	number = htobe32(number);
	memcpy(to, &number, sizeof(number));
}

static void
put_int8(char *to, uint64_t number)
{
	number = htobe64(number);
	memcpy(to, &number, sizeof(number));
}

void
params_finish(struct params *params)
{
	free(params->data);
	*params = (struct params){ 0 };
}

/* Begins the next parameter, len bytes long. */
static char *
begin(struct params *params, size_t len)
{
	assert(params->count < PARAMS_MAX && len <= INT32_MAX);
	params->start[params->count] = params->len;
	params->length[params->count++] = (int)len;
	return take(params, len);
}

void
params_null(struct params *params)
{
	begin(params, 0);
	params->length[params->count - 1] = -1;
}

void
params_text(struct params *params, const char *text)
{
	if (!text) {
		params_null(params);
		return;
	}
	size_t len = strlen(text);
	char *to = begin(params, len);

	if (len > 0)
		memcpy(to, text, len);
}

void
params_int8(struct params *params, int64_t number)
{
	put_int8(begin(params, 8), (uint64_t)number);
}

void
params_int4(struct params *params, int32_t number)
{
	put_int4(begin(params, 4), (uint32_t)number);
}

void
params_bool(struct params *params, bool value)
{
	*begin(params, 1) = value;
}

void
params_time(struct params *params, int64_t at_us)
{
	if (at_us == TIME_NONE)
		params_null(params);
	else
		params_int8(params, pg_time_from_us(at_us));
}

/* Header of array_recv: dimensions, "has nulls", element type, then size and lower bound. */
void
params_array_begin(struct params *params, enum element element, size_t count)
{
	char *to = begin(params, 20);

	put_int4(to, 1);
	put_int4(to + 4, 1); /* the server looks at the elements anyway */
	put_int4(to + 8, element);
	put_int4(to + 12, (uint32_t)count);
	put_int4(to + 16, 1);
}

void
params_array_end(struct params *params)
{
	int last = params->count - 1;
	size_t len = params->len - params->start[last];

	assert(len <= INT32_MAX);
	params->length[last] = (int)len;
}

static char *
add(struct params *params, size_t len)
{
	char *to = take(params, 4 + len);

	put_int4(to, (uint32_t)len);
	return to + 4;
}

void
params_add_null(struct params *params)
{
	put_int4(take(params, 4), UINT32_MAX);
}

void
params_add_text(struct params *params, const char *text)
{
	if (!text) {
		params_add_null(params);
		return;
	}
	size_t len = strlen(text);

	memcpy(add(params, len), text, len);
}

void
params_add_int8(struct params *params, int64_t number)
{
	put_int8(add(params, 8), (uint64_t)number);
}

void
params_add_int4(struct params *params, int32_t number)
{
	put_int4(add(params, 4), (uint32_t)number);
}

void
params_add_bool(struct params *params, bool value)
{
	*add(params, 1) = value;
}

void
params_add_time(struct params *params, int64_t at_us)
{
	if (at_us == TIME_NONE)
		params_add_null(params);
	else
		params_add_int8(params, pg_time_from_us(at_us));
}

static unsigned
hex_digit(char c)
{
	assert((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

void
params_add_bytes_from_hex(struct params *params, const char *hex)
{
	if (!hex || *hex == '\0') {
		params_add_null(params);
		return;
	}
	size_t len = strlen(hex) / 2;
	char *to = add(params, len);

	for (size_t i = 0; i < len; i++)
		to[i] = (char)(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
}

void
params_texts(struct params *params, const char *const *texts, size_t count)
{
	params_array_begin(params, ELEMENT_TEXT, count);
	for (size_t i = 0; i < count; i++)
		params_add_text(params, texts[i]);
	params_array_end(params);
}
