/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointers: parsing, and walking a tree level by level.
 */
#include <string.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/err.h"
#include "reconciled/core/locator.h"
#include "reconciled/core/template.h"
#include "reconciled/core/value.h"

/* Bounds the nesting of brackets and placeholders as well. */
enum { POINTER_TEXT_MAX = 1024 };

/* The end of the token at text: the next "/" outside of brackets; NULL if a bracket is not closed.
 */
static const char *
token_end(const char *text)
{
	int depth = 0;

	if (*text != '[')
		return strchrnul(text, '/');
	for (; *text != '\0' && (*text != '/' || depth > 0); text++)
		depth += (*text == '[') - (*text == ']');
	return depth == 0 ? text : NULL;
}

static bool
parse_name(struct arena *arena, const char *text, struct pointer_token *token, struct err *err)
{
	char *name = arena_strdup(arena, text), *to = name;

	for (const char *at = text; *at != '\0'; at++) {
		if (*at != '~') {
			*to++ = *at;
			continue;
		}
		at++;
		if (*at != '0' && *at != '1')
			return err_set(
				err, ERR_INVALID,
				"\"%.64s\": allowed behind \"~\" are 0 (for ~) and 1 (for /)",
				text);
		*to++ = *at == '0' ? '~' : '/';
	}
	*to = '\0';
	token->kind = POINTER_NAME;
	token->name = name;
	token->name_len = (size_t)(to - name);
	return true;
}

/* The first "=" outside of inner brackets; NULL without one, or if brackets do not match. */
static char *
find_equals(char *text)
{
	int depth = 0;
	char *found = NULL;

	for (; *text != '\0' && depth >= 0; text++) {
		depth += (*text == '[') - (*text == ']');
		if (*text == '=' && depth == 0 && found == NULL)
			found = text;
	}
	return depth == 0 ? found : NULL;
}

/* text is "[name=value]". */
static bool
parse_select(struct arena *arena, const char *text, struct pointer_token *token, struct err *err)
{
	struct pointer *path = arena_new(arena, struct pointer);
	struct template *equals = arena_new(arena, struct template);
	size_t len = strlen(text);
	char *inner = len < 2 ? NULL : arena_strndup(arena, text + 1, len - 2);
	char *split = inner == NULL || text[len - 1] != ']' ? NULL : find_equals(inner);

	if (split == NULL || split == inner || split[1] == '\0')
		return err_set(err, ERR_INVALID, "\"%.64s\": allowed in brackets: [name=value]",
			       text);
	*split = '\0';
	token->kind = POINTER_SELECT;
	token->path = path;
	token->equals = equals;
	return pointer_parse(arena, arena_printf(arena, "/%s", inner), path, err) &&
	       template_parse(arena, split + 1, equals, err);
}

static bool
parse_token(struct arena *arena, const char *text, struct pointer_token *token, struct err *err)
{
	if (strcmp(text, "*") == 0) {
		token->kind = POINTER_EACH;
		return true;
	}
	if (*text == '[')
		return parse_select(arena, text, token, err);
	return parse_name(arena, text, token, err);
}

static size_t
count_slashes(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += *text == '/';
	return n;
}

bool
pointer_parse(struct arena *arena, const char *text, struct pointer *ret_pointer, struct err *err)
{
	struct pointer_token *tokens =
		arena_array(arena, struct pointer_token, count_slashes(text));
	size_t count = 0;

	if (strlen(text) > POINTER_TEXT_MAX)
		return err_set(err, ERR_INVALID, "pointer \"%.64s...\" is longer than %d bytes",
			       text, POINTER_TEXT_MAX);
	for (const char *at = text; *at != '\0';) {
		const char *end = *at == '/' ? token_end(at + 1) : NULL;

		if (*at != '/')
			return err_set(err, ERR_INVALID,
				       "pointer \"%.64s\" does not begin with \"/\"", text);
		if (end == NULL)
			return err_set(err, ERR_INVALID,
				       "pointer \"%.64s\": a bracket is not closed", text);
		if (!parse_token(arena, arena_strndup(arena, at + 1, (size_t)(end - at - 1)),
				 &tokens[count++], err))
			return false;
		at = end;
	}
	ret_pointer->tokens = tokens;
	ret_pointer->count = count;
	return true;
}

/* The values at one level of the path. */
struct level {
	const struct value **values;
	size_t count, size;
	const struct value *room[4]; /* paths seldom find more */
};

static void
push(struct arena *arena, struct level *level, const struct value *value)
{
	if (level->values == NULL) {
		level->values = level->room;
		level->size = ARRAY_LEN(level->room);
	}
	if (level->count == level->size) {
		const struct value **old = level->values;

		level->size *= 2;
		level->values = arena_array(arena, const struct value *, level->size);
		memcpy(level->values, old, level->count * sizeof(const struct value *));
	}
	level->values[level->count++] = value;
}

/* One walk: from one level to the next. */
struct walk {
	const struct scene *scene;
	struct level *from, *to;
	bool several, partial;
};

/* The element at a decimal index without leading zeros, or NULL. */
static const struct value *
element(const struct value *list, const struct pointer_token *token)
{
	size_t index = 0;
	const struct value *child = list->first;

	if (token->name_len == 0 || token->name_len > 9 ||
	    strspn(token->name, "0123456789") != token->name_len ||
	    (token->name[0] == '0' && token->name_len > 1))
		return NULL;
	for (size_t i = 0; i < token->name_len; i++)
		index = index * 10 + (size_t)(token->name[i] - '0');
	while (child != NULL && index-- > 0)
		child = child->next;
	return child;
}

static bool
step_name(struct walk *walk, const struct value *value, const struct pointer_token *token)
{
	const struct value *child = value->kind == VALUE_LIST
					    ? element(value, token)
					    : value_member(value, token->name, token->name_len);

	if (child != NULL)
		push(walk->scene->arena, walk->to, child);
	return child != NULL;
}

static bool
step_each(struct walk *walk, const struct value *value)
{
	if (value->kind == VALUE_NULL)
		return false;
	if (value->kind != VALUE_LIST)
		push(walk->scene->arena, walk->to, value);
	else
		for (const struct value *child = value->first; child != NULL; child = child->next)
			push(walk->scene->arena, walk->to, child);
	return true;
}

static bool
is_selected(const struct scene *scene, const struct value *value, const struct pointer *path,
	    const char *wanted)
{
	struct located found = pointer_find(scene, value, path);
	size_t len = strlen(wanted);

	for (size_t i = 0; i < found.count; i++)
		if (value_is_scalar(found.values[i]) && found.values[i]->len == len &&
		    memcmp(found.values[i]->text, wanted, len) == 0)
			return true;
	return false;
}

static bool
step_select(struct walk *walk, const struct value *value, const struct pointer_token *token)
{
	const char *wanted = template_render(walk->scene, token->equals, TEMPLATE_PLAIN);
	bool is_list = value->kind == VALUE_LIST;
	const struct value *child = is_list ? value->first : value, *match = NULL;
	size_t matches = 0;

	for (; wanted != NULL && child != NULL; child = is_list ? child->next : NULL)
		if (is_selected(walk->scene, child, token->path, wanted)) {
			match = child;
			matches++;
		}
	if (matches == 1)
		push(walk->scene->arena, walk->to, match);
	walk->several |= matches > 1;
	return matches == 1;
}

static bool
step(struct walk *walk, const struct value *value, const struct pointer_token *token)
{
	switch (token->kind) {
	case POINTER_NAME:
		return step_name(walk, value, token);
	case POINTER_EACH:
		return step_each(walk, value);
	case POINTER_SELECT:
		return step_select(walk, value, token);
	}
	return false;
}

/* Steps from all values of a level; false when no value has a next one, not even an empty list. */
static bool
step_all(struct walk *walk, const struct pointer_token *token)
{
	size_t count = walk->from->count, reached = 0;

	walk->to->count = 0;
	for (size_t i = 0; i < count; i++)
		reached += step(walk, walk->from->values[i], token);
	walk->partial |= reached > 0 && reached < count;
	return count == 0 || reached > 0;
}

struct located
pointer_find(const struct scene *scene, const struct value *start, const struct pointer *pointer)
{
	struct level levels[2] = { 0 };
	struct walk walk = { .scene = scene, .from = &levels[0], .to = &levels[1] };
	struct located located = { .reached = true };

	push(scene->arena, walk.from, start);
	for (size_t i = 0; i < pointer->count; i++) {
		struct level *old = walk.from;

		located.reached &= step_all(&walk, &pointer->tokens[i]);
		walk.from = walk.to;
		walk.to = old;
	}
	located.several = walk.several;
	located.partial = walk.partial;
	located.count = walk.from->count;
	if (located.count > 0) {
		located.values = arena_array(scene->arena, const struct value *, located.count);
		memcpy(located.values, walk.from->values,
		       located.count * sizeof(const struct value *));
	}
	return located;
}
