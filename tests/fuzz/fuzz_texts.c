/* SPDX-License-Identifier: Apache-2.0
 *
 * Two texts, on two lines, as each kind of value that is compared: reading them ends, and what is
 * compared behaves like an order.
 */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "policy_builder.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/err.h"
#include "reconciled/core/duration.h"
#include "reconciled/core/number.h"
#include "reconciled/core/time.h"

/* Each compares /a with what the operation expects. */
static const char policy_text[] =
	"{'probes':[{'get':'/','found':{'status':'200'}}],'compare':{"
	"'a':{'found':'/a','is':'op./expected/a'},"
	"'b':{'found':'/a','fold':'case','is':'op./expected/a'},"
	"'c':{'found':'/a','fold':'nfc','is':'op./expected/a'},"
	"'d':{'found':'/a','fold':'space','is':'op./expected/a'},"
	"'e':{'found':'/a','type':'number','is':'op./expected/a'},"
	"'f':{'found':'/a','type':'number','tolerance':'0.25','is':'op./expected/a'},"
	"'g':{'found':'/a','type':'money','unit':'major','is':'op./expected/a'},"
	"'h':{'found':'/a','type':'time','skew':'5m','is':'op./expected/a'},"
	"'i':{'found':'/a','type':'bool','is':'op./expected/a'},"
	"'j':{'found':'/a','type':'digest','is':'op./expected/a'},"
	"'k':{'found':'/a','type':'digest','encoding':'base64','is':'op./expected/a'},"
	"'l':{'found':'/a','type':'digest','encoding':'base64url','is':'op./expected/a'},"
	"'m':{'found':'/a','type':'version','is':'op./expected/a'},"
	"'n':{'found':'/a','type':'version','order':'dotted','is':'op./expected/a'},"
	"'o':{'found':'/a','type':'version','order':'time','is':'op./expected/a'},"
	"'p':{'found':'/a','type':'version','order':'opaque','is':'op./expected/a'},"
	"'q':{'found':'/a','type':'list','is':'op./expected/a'},"
	"'r':{'found':'/a','type':'set','is':'op./expected/a'}}}";

static const enum compare_result mirrored[] = {
	[COMPARED_EQUAL] = COMPARED_EQUAL,	     [COMPARED_DIFFERENT] = COMPARED_DIFFERENT,
	[COMPARED_OLDER] = COMPARED_NEWER,	     [COMPARED_NEWER] = COMPARED_OLDER,
	[COMPARED_UNREADABLE] = COMPARED_UNREADABLE,
};

static const struct value *
object_with(struct arena *arena, const char *text, size_t len)
{
	struct value *object = value_create(arena, VALUE_OBJECT, NULL, 0);

	value_append(arena, object, "a", 1, value_create(arena, VALUE_TEXT, text, len));
	return object;
}

static enum compare_result
compare(struct arena *arena, const struct comparison *by, const struct value *found,
	const struct value *expected)
{
	struct operation op = build_operation(arena, "{}");
	struct response response = { .fault = REASON_COUNT, .status = 200 };
	struct scene scene = { arena, &op, &response, found };

	op.expected = expected;
	return compare_field(&scene, by).result;
}

/* No mirror: digests, which on our side may be hex as well, and what holds NUL, which ours may not. */
static void
try_fields(struct arena *arena, const struct value *a, const struct value *b)
{
	const struct policy *policy = build_policy(arena, policy_text);
	bool plain =
		strlen(a->first->text) == a->first->len && strlen(b->first->text) == b->first->len;

	for (size_t i = 0; i < policy->compare_count; i++) {
		const struct comparison *by = &policy->compare[i];
		enum compare_result there = compare(arena, by, a, b);
		enum compare_result back = compare(arena, by, b, a);
		enum compare_result self = compare(arena, by, a, a);

		assert(self == COMPARED_EQUAL || self == COMPARED_UNREADABLE);
		assert(!plain || by->type == COMPARE_DIGEST || back == mirrored[there]);
	}
}

static void
try_number(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order;

	if (!number_is_valid(a, a_len) || !number_is_valid(b, b_len))
		return;
	order = number_compare(a, b);
	assert((order < 0) == (number_compare(b, a) > 0) && number_compare(a, a) == 0);
	assert((order == 0) == number_is_near(a, b, "0"));
	assert(number_is_near(a, b, "1") == number_is_near(b, a, "1"));
}

static void
try_time(const char *a, size_t a_len, const char *b, size_t b_len)
{
	struct moment x, y;

	if (!time_read(a, a_len, NULL, &x) || !time_read(b, b_len, NULL, &y))
		return;
	assert((moment_compare(&x, &y) < 0) == (moment_compare(&y, &x) > 0));
	assert((moment_compare(&x, &y) == 0) == moment_is_near(&x, &y, 0));
	assert(moment_is_near(&x, &y, 60000000) == moment_is_near(&y, &x, 60000000));
}

static void
try_duration(const char *text)
{
	char again[DURATION_TEXT_MAX];
	struct err err = { 0 };
	int64_t us, same;

	if (!duration_parse(text, true, &us, &err)) {
		assert(err.code == ERR_INVALID && err.text[0] != '\0');
		return;
	}
	duration_format(us, again);
	assert(us >= 0 && duration_parse(again, true, &same, &err) && same == us);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_create();
	const char *bytes = (const char *)data;
	const char *line = size == 0 ? NULL : memchr(bytes, '\n', size);
	size_t a_len = line ? (size_t)(line - bytes) : size, b_len = line ? size - a_len - 1 : 0;
	const char *a = arena_strndup(arena, bytes, a_len);
	const char *b = arena_strndup(arena, line ? line + 1 : "", b_len);

	try_fields(arena, object_with(arena, a, a_len), object_with(arena, b, b_len));
	try_number(a, a_len, b, b_len);
	try_time(a, a_len, b, b_len);
	try_duration(a);
	arena_destroy(arena);
	return 0;
}
