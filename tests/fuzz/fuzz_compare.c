/* SPDX-License-Identifier: Apache-2.0
 *
 * Compared values: any two texts, by every type. A value is itself or unreadable, and turning the
 * sides round turns the result round. Then compiled time zones: any bytes are one or are none, and
 * a local time that one settles is the one that its clocks show.
 * The input is a text, another one behind its first line, and a zone behind its second.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/err.h"
#include "reconciled/core/compare.h"
#include "reconciled/core/digest_text.h"
#include "reconciled/core/time.h"
#include "reconciled/core/time_zone.h"
#include "reconciled/core/value.h"

static const struct comparison kinds[] = {
	{ .type = COMPARE_TEXT },
	{ .type = COMPARE_TEXT, .fold = FOLD_CASE | FOLD_SPACE },
	{ .type = COMPARE_NUMBER },
	{ .type = COMPARE_NUMBER, .tolerance = "0.01" },
	{ .type = COMPARE_MONEY, .unit = MONEY_MAJOR, .tolerance = "1e-1000" },
	{ .type = COMPARE_TIME },
	{ .type = COMPARE_TIME, .skew_us = 1500000 },
	{ .type = COMPARE_BOOL },
	{ .type = COMPARE_DIGEST },
	{ .type = COMPARE_DIGEST, .algorithm = DIGEST_MD5 },
	{ .type = COMPARE_VERSION, .order = VERSION_INTEGER },
	{ .type = COMPARE_VERSION, .order = VERSION_TIME },
	{ .type = COMPARE_VERSION, .order = VERSION_DOTTED },
	{ .type = COMPARE_VERSION, .order = VERSION_OPAQUE },
};

static const enum compare_result turned[] = {
	[COMPARED_EQUAL] = COMPARED_EQUAL,	     [COMPARED_DIFFERENT] = COMPARED_DIFFERENT,
	[COMPARED_OLDER] = COMPARED_NEWER,	     [COMPARED_NEWER] = COMPARED_OLDER,
	[COMPARED_UNREADABLE] = COMPARED_UNREADABLE,
};

struct text {
	const char *text;
	size_t len;
};

static const struct value *
object(struct arena *arena, struct text text)
{
	struct value *value = value_create(arena, VALUE_OBJECT, NULL, 0);

	value_append(arena, value, "v", 1, value_create(arena, VALUE_TEXT, text.text, text.len));
	return value;
}

static enum compare_result
compare(struct arena *arena, struct comparison by, struct text found, struct text expected)
{
	struct operation op = { .expected = object(arena, expected) };
	struct scene scene = { .arena = arena, .op = &op, .item = object(arena, found) };
	struct locator *ours = arena_new(arena, struct locator);
	struct operand operand = { .from = ours };
	struct err err = { 0 };
	bool parsed = locator_parse(arena, "/v", &by.found, &err) &&
		      locator_parse(arena, "op./expected/v", ours, &err);

	assert(parsed);
	by.values = &operand;
	by.count = 1;
	return compare_field(&scene, &by).result;
}

static void
try_pair(struct arena *arena, const struct comparison *by, struct text a, struct text b)
{
	enum compare_result same = compare(arena, *by, a, a), there = compare(arena, *by, a, b),
			    back = compare(arena, *by, b, a);

	assert(same == COMPARED_EQUAL || same == COMPARED_UNREADABLE);
	/* Where a NUL cannot be expected, the other way round it can be found. */
	if (memchr(a.text, '\0', a.len) == NULL && memchr(b.text, '\0', b.len) == NULL)
		assert(back == turned[there]);
	if (same == COMPARED_UNREADABLE)
		assert(there != COMPARED_EQUAL);
}

/* In memory of exactly that size, so that a byte too far is seen. */
static void
try_readers(struct text text)
{
	char *bytes = malloc(text.len > 0 ? text.len : 1);
	unsigned char digest[DIGEST_BYTES_MAX];
	struct moment moment = { 0 };
	size_t len = 0;

	memcpy(bytes, text.text, text.len);
	if (time_read(bytes, text.len, NULL, &moment))
		assert(moment.atto < UINT64_C(1000000000000000000) &&
		       moment_compare(&moment, &moment) == 0);
	for (int i = DIGEST_HEX; i <= DIGEST_BASE64URL; i++)
		if (digest_read(bytes, text.len, (enum digest_encoding)i, digest, &len))
			assert(len > 0 && len <= DIGEST_BYTES_MAX && len < text.len);
	free(bytes);
}

/* Clocks of the zone show `local` at this moment. */
static bool
shows(const struct time_zone *zone, int64_t seconds, int64_t local)
{
	size_t i = zone->count - 1;

	while (i > 0 && zone->spans[i].from > seconds)
		i--;
	return seconds + zone->spans[i].offset == local;
}

static void
try_zone(struct arena *arena, struct text text)
{
	const struct time_zone *zone = NULL;
	struct err err = { 0 };
	char *bytes = malloc(text.len > 0 ? text.len : 1);

	memcpy(bytes, text.text, text.len);
	if (time_zone_read(arena, "zone", bytes, text.len, &zone, &err)) {
		for (size_t i = 1; i < zone->count; i++)
			assert(zone->spans[i - 1].from < zone->spans[i].from);
		/* Years 0 to 9999, in steps of a hundred days. */
		for (int64_t at = -62167219200; at < 253402300800; at += 8640001) {
			int64_t seconds;

			if (time_zone_settle(zone, at, &seconds) && at < zone->repeats_from)
				assert(shows(zone, seconds, at));
		}
	} else {
		assert(err.code == ERR_INVALID && zone == NULL);
	}
	free(bytes);
}

static struct text
take_line(struct text *rest)
{
	const char *end = rest->len > 0 ? memchr(rest->text, '\n', rest->len) : NULL;
	struct text line = *rest;

	if (end == NULL) {
		*rest = (struct text){ "", 0 };
		return line;
	}
	line.len = (size_t)(end - line.text);
	rest->text += line.len + 1;
	rest->len -= line.len + 1;
	return line;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_create();
	struct text rest = { size > 0 ? (const char *)data : "", size };
	struct text a = take_line(&rest), b = take_line(&rest);

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		try_pair(arena, &kinds[i], a, b);
	try_readers(a);
	try_readers(b);
	if (rest.len > 0)
		try_zone(arena, rest);
	arena_destroy(arena);
	return 0;
}
