/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses and renders texts with placeholders. A brace opens a placeholder only when a word and one
 * of
 * "}|.+-" follow it, so that JSON and GraphQL texts pass; such a word must then be a known field.
 */
#include "reconciled/core/template.h"

#include <string.h>

#include "nearest.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/duration.h"
#include "reconciled/core/locator.h"
#include "reconciled/core/percent.h"
#include "reconciled/core/value.h"
#include "template_value.h"
#include "time_text.h"

static const struct {
	const char *name;
	enum template_time format;
} time_formats[] = {
	{ "rfc3339", TEMPLATE_RFC3339 },
	{ "epoch", TEMPLATE_EPOCH },
	{ "epoch_ms", TEMPLATE_EPOCH_MS },
	{ "date", TEMPLATE_DATE },
};

/* What is being parsed: the text between the braces. */
struct placeholder {
	struct arena *arena;
	const char *text;
	struct err *err;
};

static size_t
span_word(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	size_t first = strspn(text, letters);

	return first + strspn(text + first, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
					    "0123456789") *
			       (first > 0);
}

static bool
opens_placeholder(const char *brace)
{
	size_t word = span_word(brace + 1);

	return word > 0 && brace[1 + word] != '\0' && strchr("}|.+-", brace[1 + word]) != NULL;
}

/* The brace that closes the one at text, or NULL. */
static const char *
closing_brace(const char *text)
{
	int depth = 0;

	for (const char *at = text; *at != '\0'; at++) {
		depth += (*at == '{') - (*at == '}');
		if (depth == 0)
			return at;
	}
	return NULL;
}

/* Behind a pointer: the "|" outside of brackets, or the end. */
static const char *
pointer_end(const char *text)
{
	int depth = 0;
	const char *at;

	for (at = text; *at != '\0' && (*at != '|' || depth > 0); at++)
		depth += (*at == '[') - (*at == ']');
	return at;
}

static bool
parse_modifier(const struct placeholder *of, const char *rest, struct template_part *part)
{
	if (*rest == '\0')
		return true;
	part->keep_slashes = strcmp(rest, "|path") == 0;
	if (part->keep_slashes)
		return true;
	return err_set(of->err, ERR_INVALID,
		       "placeholder \"{%.64s}\": \"%.64s\" is not known here; allowed: |path",
		       of->text, rest);
}

static bool
parse_expected(const struct placeholder *of, const char *rest, struct template_part *part)
{
	struct pointer *pointer = arena_new(of->arena, struct pointer);
	const char *end = pointer_end(rest);

	if (strncmp(rest, "./", 2) != 0)
		return err_set(of->err, ERR_INVALID,
			       "placeholder \"{%.64s}\": allowed: {expected./name}", of->text);
	if (!pointer_parse(of->arena, arena_strndup(of->arena, rest + 1, (size_t)(end - rest - 1)),
			   pointer, of->err))
		return err_wrap(of->err, "placeholder \"{%.64s}\"", of->text);
	part->expected = pointer;
	return parse_modifier(of, end, part);
}

static bool
parse_offset(const struct placeholder *of, const char *text, size_t len, struct template_part *part)
{
	int64_t us;

	if (len == 0)
		return true;
	if (*text != '+' && *text != '-')
		return err_set(
			of->err, ERR_INVALID,
			"placeholder \"{%.64s}\": allowed behind a time: an offset like -1h or "
			"+3d, and |format",
			of->text);
	if (!duration_parse(arena_strndup(of->arena, text + 1, len - 1), false, &us, of->err))
		return err_wrap(of->err, "placeholder \"{%.64s}\"", of->text);
	part->offset_us = *text == '-' ? -us : us;
	return true;
}

static bool
parse_time(const struct placeholder *of, const char *rest, struct template_part *part)
{
	const char *bar = strchrnul(rest, '|');

	if (!parse_offset(of, rest, (size_t)(bar - rest), part))
		return false;
	if (*bar == '\0')
		return true; /* RFC 3339 */
	for (size_t i = 0; i < ARRAY_LEN(time_formats); i++)
		if (strcmp(bar + 1, time_formats[i].name) == 0) {
			part->format = time_formats[i].format;
			return true;
		}
	return err_set(
		of->err, ERR_INVALID,
		"placeholder \"{%.64s}\": \"%.32s\" is no format of a time; allowed: rfc3339, "
		"epoch, epoch_ms, date",
		of->text, bar + 1);
}

/* Behind "batch|": what stands between the values of the operations. */
static bool
parse_batch(const struct placeholder *of, const char *rest, struct template_part *part)
{
	static const char join[] = "join ";

	if (strncmp(rest, join, strlen(join)) != 0 || rest[strlen(join)] == '\0')
		return err_set(
			of->err, ERR_INVALID,
			"placeholder \"{%.64s}\": allowed here: {batch|join ,} with the text "
			"that separates the values",
			of->text);
	part->batch_join = rest + strlen(join);
	return true;
}

static bool
parse_placeholder(const struct placeholder *of, struct template_part *part)
{
	static const char batch[] = "batch|";
	size_t word = span_word(of->text);
	const char *rest = of->text + word;

	if (strncmp(of->text, batch, strlen(batch)) == 0)
		return parse_batch(of, of->text + strlen(batch), part);
	if (!operation_field_from_name(of->text, word, &part->field))
		return err_set(
			of->err, ERR_INVALID,
			"unknown placeholder \"{%.64s}\", the nearest is \"{%s}\" (a literal "
			"brace is followed by a space)",
			of->text, nearest_field(of->text, word));
	if (part->field == OP_EXPECTED)
		return parse_expected(of, rest, part);
	if (operation_field_is_time(part->field))
		return parse_time(of, rest, part);
	return parse_modifier(of, rest, part);
}

static size_t
count_braces(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += *text == '{';
	return n;
}

struct parts {
	struct arena *arena;
	struct template_part *array;
	size_t count;
};

static void
add_literal(struct parts *parts, const char *from, const char *to)
{
	if (to > from)
		parts->array[parts->count++].literal =
			arena_strndup(parts->arena, from, (size_t)(to - from));
}

bool
template_parse(struct arena *arena, const char *text, struct template *ret_template,
	       struct err *err)
{
	struct parts parts = {
		.arena = arena,
		.array = arena_array(arena, struct template_part, 2 * count_braces(text) + 1),
	};
	const char *literal = text, *brace = strchr(text, '{');

	while (brace != NULL) {
		const char *end = brace;

		if (opens_placeholder(brace)) {
			end = closing_brace(brace);
			if (end == NULL)
				return err_set(err, ERR_INVALID,
					       "placeholder \"%.64s\" is not closed", brace);

			struct placeholder of = {
				.arena = arena,
				.text = arena_strndup(arena, brace + 1, (size_t)(end - brace - 1)),
				.err = err,
			};

			add_literal(&parts, literal, brace);
			if (!parse_placeholder(&of, &parts.array[parts.count++]))
				return false;
			literal = end + 1;
		}
		brace = strchr(end + 1, '{');
	}
	add_literal(&parts, literal, literal + strlen(literal));
	*ret_template = (struct template){
		.text = arena_strdup(arena, text),
		.parts = parts.array,
		.count = parts.count,
	};
	return true;
}

static bool
expected_value(const struct scene *scene, const struct pointer *pointer, const char **ret_text,
	       size_t *ret_len)
{
	struct located found;

	if (scene->op->expected == NULL)
		return false;
	found = pointer_find(scene, scene->op->expected, pointer);
	if (found.several || found.count != 1 || !value_is_scalar(found.values[0]))
		return false;
	*ret_text = found.values[0]->text;
	*ret_len = found.values[0]->len;
	return *ret_len > 0;
}

static const char *
time_value(const struct scene *scene, const struct template_part *part)
{
	int64_t us = operation_time(scene->op, part->field);

	if (us == TIME_NONE || __builtin_add_overflow(us, part->offset_us, &us))
		return NULL;
	return time_text(scene->arena, us, part->format);
}

bool
template_part_value(const struct scene *scene, const struct template_part *part,
		    const char **ret_text, size_t *ret_len)
{
	const char *text;

	if (scene->op == NULL || part->batch_join != NULL)
		return false;
	if (part->field == OP_EXPECTED)
		return expected_value(scene, part->expected, ret_text, ret_len);
	text = operation_field_is_time(part->field) ? time_value(scene, part)
						    : operation_text(scene->op, part->field);
	if (text == NULL)
		return false;
	*ret_text = text;
	*ret_len = strlen(text);
	return true;
}

static bool
render_part(const struct scene *scene, const struct template_part *part,
	    enum template_encoding encoding, struct strbuf *out)
{
	const char *text;
	size_t len;

	if (part->literal != NULL) {
		strbuf_puts(out, part->literal);
		return true;
	}
	/* A text with NUL cannot be sent as it is, so it is not sent at all. */
	if (!template_part_value(scene, part, &text, &len) || memchr(text, '\0', len) != NULL)
		return false;
	if (encoding == TEMPLATE_SEGMENT)
		percent_add(out, text, len, part->keep_slashes);
	else
		strbuf_add(out, text, len);
	return true;
}

const char *
template_render(const struct scene *scene, const struct template *template,
		enum template_encoding encoding)
{
	CLEANUP(strbuf_finish) struct strbuf out = { 0 };

	if (template->count == 0)
		return "";
	if (template->count == 1 && template->parts[0].literal != NULL)
		return template->parts[0].literal;
	for (size_t i = 0; i < template->count; i++)
		if (!render_part(scene, &template->parts[i], encoding, &out))
			return NULL;
	return arena_strndup(scene->arena, out.data, out.len);
}
