/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies: whatever the bytes are, reading them ends, within memory and depth. What is read has the
 * shape that value.h promises, equals itself, and its writing reads back as the same value.
 */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/number.h"
#include "reconciled/core/value.h"

static void
write_text(struct strbuf *out, const char *text, size_t len)
{
	strbuf_putc(out, '"');
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == '"' || text[i] == '\\')
			strbuf_printf(out, "\\u%04x", (unsigned)text[i]);
		else
			strbuf_putc(out, text[i]);
	strbuf_putc(out, '"');
}

static void
write_value(struct strbuf *out, const struct value *value, int depth)
{
	bool is_object = value->kind == VALUE_OBJECT;
	uint32_t count = 0;

	assert(depth <= VALUE_DEPTH_MAX);
	if (value->kind == VALUE_NULL) {
		strbuf_puts(out, "null");
		return;
	}
	if (value_is_scalar(value)) {
		assert(value->text[value->len] == '\0');
		if (value->kind == VALUE_TEXT)
			write_text(out, value->text, value->len);
		else
			strbuf_add(out, value->text, value->len);
		if (value->kind == VALUE_NUMBER && number_is_valid(value->text, value->len))
			assert(number_compare(value->text, value->text) == 0);
		return;
	}
	strbuf_putc(out, is_object ? '{' : '[');
	for (const struct value *child = value->first; child != NULL;
	     child = child->next, count++) {
		assert((child->name != NULL) == is_object);
		if (count > 0)
			strbuf_putc(out, ',');
		if (is_object) {
			assert(value_member(value, child->name, child->name_len) == child);
			write_text(out, child->name, child->name_len);
			strbuf_putc(out, ':');
		}
		write_value(out, child, depth + 1);
	}
	strbuf_putc(out, is_object ? '}' : ']');
	assert(count == value->count);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_create();
	struct strbuf out = { 0 };
	const struct value *value = NULL, *again = NULL;

	if (value_read_json(arena, (const char *)data, size, &value) == VALUE_OK) {
		write_value(&out, value, 0);
		assert(value_equal(value, value));
		assert(value_read_json(arena, out.data, out.len, &again) == VALUE_OK);
		assert(value_equal(value, again));
	} else {
		assert(value == NULL);
	}
	strbuf_finish(&out);
	arena_destroy(arena);
	return 0;
}
