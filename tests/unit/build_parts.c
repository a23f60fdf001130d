/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest pieces of the policy language, out of JSON. A mistake ends the test program.
 */
#include "build_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy_builder.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/err.h"
#include "reconciled/core/duration.h"

void
bail(const char *what, const char *text)
{
	printf("Bail out! %s: %s\n", what, text);
	exit(1);
}

const struct value *
build_json(struct arena *arena, const char *text)
{
	char *copy = arena_strdup(arena, text);
	const struct value *value = NULL;

	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	if (value_read_json(arena, copy, strlen(copy), &value) != VALUE_OK)
		bail("not JSON", copy);
	return value;
}

const struct value *
member(const struct value *object, const char *name)
{
	return object ? value_member(object, name, strlen(name)) : NULL;
}

const char *
text_of(const struct value *object, const char *name, const char *standard)
{
	const struct value *value = member(object, name);

	return value ? value->text : standard;
}

int
int_of(const struct value *object, const char *name, int standard)
{
	const struct value *value = member(object, name);

	return value ? atoi(value->text) : standard;
}

int64_t
duration_of(const struct value *object, const char *name, int64_t standard)
{
	const struct value *value = member(object, name);
	struct err err = { 0 };
	int64_t us;

	if (value == NULL)
		return standard;
	if (strcmp(value->text, "0") == 0)
		return 0;
	if (!duration_parse(value->text, false, &us, &err))
		bail("duration", err.text);
	return us;
}

struct locator
locator_of(struct arena *arena, const char *text)
{
	struct locator locator;
	struct err err = { 0 };

	if (!locator_parse(arena, text, &locator, &err))
		bail("locator", err.text);
	return locator;
}

struct template template_of(struct arena *arena, const char *text)
{
	struct template template;
	struct err err = { 0 };

	if (!template_parse(arena, text, &template, &err))
		bail("template", err.text);
	return template;
}

struct pointer
pointer_of(struct arena *arena, const char *text)
{
	struct pointer pointer;
	struct err err = { 0 };

	if (!pointer_parse(arena, text, &pointer, &err))
		bail("pointer", err.text);
	return pointer;
}

struct operand
operand_of(struct arena *arena, const struct value *value)
{
	struct operand operand = { .text = value->text };

	if (strncmp(value->text, "op.", 3) == 0) {
		struct locator *from = arena_new(arena, struct locator);

		*from = locator_of(arena, value->text);
		operand = (struct operand){ .from = from };
	}
	return operand;
}

unsigned
fold_of(const struct value *object)
{
	const char *fold = text_of(object, "fold", "");

	return (strstr(fold, "case") ? FOLD_CASE : 0u) | (strstr(fold, "nfc") ? FOLD_NFC : 0u) |
	       (strstr(fold, "space") ? FOLD_SPACE : 0u);
}

static struct test test_of(struct arena *arena, const struct value *value);

static struct test
tests_of(struct arena *arena, enum test_kind kind, const struct value *list)
{
	struct test *children = arena_array(arena, struct test, list->count ? list->count : 1);
	size_t n = 0;

	for (const struct value *v = list->first; v; v = v->next)
		children[n++] = test_of(arena, v);
	return (struct test){ .kind = kind, .children = children, .count = n };
}

static struct test
named_test(struct arena *arena, const char *name, const struct value *value, unsigned fold)
{
	static const struct {
		const char *name;
		enum test_kind kind;
	} kinds[] = {
		{ "is", TEST_IS }, { "prefix", TEST_PREFIX }, { "gt", TEST_GT },
		{ "ge", TEST_GE }, { "lt", TEST_LT },	      { "le", TEST_LE },
	};
	struct test *child;

	if (strcmp(name, "present") == 0)
		return (struct test){ .kind = strcmp(value->text, "true") == 0 ? TEST_PRESENT
									       : TEST_ABSENT };
	if (strcmp(name, "not") == 0) {
		child = arena_new(arena, struct test);
		*child = test_of(arena, value);
		return (struct test){ .kind = TEST_NOT, .children = child, .count = 1 };
	}
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return (struct test){
				.kind = kinds[i].kind,
				.operand = operand_of(arena, value),
				.fold = fold,
			};
	bail("test", name);
	return (struct test){ 0 };
}

static struct test
test_of(struct arena *arena, const struct value *value)
{
	struct test *children;
	size_t n = 0;

	if (value->kind == VALUE_NULL)
		return (struct test){ .kind = TEST_NULL };
	if (value->kind == VALUE_LIST)
		return tests_of(arena, TEST_ANY, value);
	if (value->kind != VALUE_OBJECT)
		return (struct test){ .kind = TEST_IS, .operand = operand_of(arena, value) };
	children = arena_array(arena, struct test, value->count);
	for (const struct value *v = value->first; v; v = v->next)
		if (strncmp(v->name, "fold", v->name_len) != 0)
			children[n++] = named_test(arena, v->name, v, fold_of(value));
	return (struct test){ .kind = TEST_ALL, .children = children, .count = n };
}

struct condition
condition_of(struct arena *arena, const struct value *object)
{
	size_t count = object ? object->count : 0, n = 0;
	struct condition_row *rows = arena_array(arena, struct condition_row, count ? count : 1);

	for (const struct value *v = object ? object->first : NULL; v; v = v->next)
		rows[n++] = (struct condition_row){ locator_of(arena, v->name), test_of(arena, v) };
	return (struct condition){ rows, n };
}

struct conditions
conditions_of(struct arena *arena, const struct value *value)
{
	size_t count = value == NULL ? 0 : value->kind == VALUE_LIST ? value->count : 1;
	struct condition *any = arena_array(arena, struct condition, count ? count : 1);
	size_t n = 0;

	if (value && value->kind != VALUE_LIST)
		any[n++] = condition_of(arena, value);
	else if (value)
		for (const struct value *v = value->first; v; v = v->next)
			any[n++] = condition_of(arena, v);
	return (struct conditions){ any, n };
}
