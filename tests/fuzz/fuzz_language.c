/* SPDX-License-Identifier: Apache-2.0
 *
 * Locators, tests and templates: any text either parses or says why not, and what parses can be
 * evaluated. The input is a text, and a JSON document behind its first line.
 */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/err.h"
#include "reconciled/core/condition.h"
#include "reconciled/core/locator.h"
#include "reconciled/core/reading.h"

static bool
holds(const struct scene *scene, const struct located *found, enum test_kind kind, const char *text)
{
	struct test test = { .kind = kind, .operand = { .text = text } };
	struct test opposite = { .kind = TEST_NOT, .children = &test, .count = 1 };
	bool result = test_holds(scene, found, &test);

	assert(test_holds(scene, found, &opposite) != result);
	return result;
}

/* Tests with one operand, and what follows from one for another. */
static void
try_tests(const struct scene *scene, const struct located *found, const char *text)
{
	bool is = holds(scene, found, TEST_IS, text);
	bool greater = holds(scene, found, TEST_GT, text),
	     less = holds(scene, found, TEST_LT, text);
	bool present = holds(scene, found, TEST_PRESENT, NULL);

	assert(holds(scene, found, TEST_ABSENT, NULL) != present);
	assert(!is || present);
	assert(!is || holds(scene, found, TEST_PREFIX, text));
	assert(!greater || holds(scene, found, TEST_GE, text));
	assert(!less || holds(scene, found, TEST_LE, text));
	assert(!greater || !less || found->count > 1);
	(void)holds(scene, found, TEST_NULL, NULL);
}

static void
try_locator(const struct scene *scene, const char *text)
{
	struct locator locator;
	struct err err = { 0 };

	if (!locator_parse(scene->arena, text, &locator, &err)) {
		assert(err.code == ERR_INVALID && err.text[0] != '\0');
		return;
	}

	struct located found = locator_find(scene, &locator);

	assert(strcmp(locator.text, text) == 0);
	assert(found.count == 0 || found.reached);
	for (size_t i = 0; i < found.count; i++)
		assert(found.values[i] != NULL);
	try_tests(scene, &found, "1");
	try_tests(scene, &found, text);
}

static void
try_template(const struct scene *scene, const char *text)
{
	static const char safe[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%";
	struct template template;
	struct err err = { 0 };
	const char *encoded;

	if (!template_parse(scene->arena, text, &template, &err)) {
		assert(err.code == ERR_INVALID && err.text[0] != '\0');
		return;
	}
	encoded = template_render(scene, &template, TEMPLATE_SEGMENT);
	assert((encoded == NULL) == (template_render(scene, &template, TEMPLATE_PLAIN) == NULL));
	if (encoded != NULL && template.count == 1 && template.parts[0].literal == NULL &&
	    !template.parts[0].keep_slashes)
		assert(strspn(encoded, safe) == strlen(encoded) && *encoded != '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_create();
	const char *bytes = (const char *)data;
	const char *line = size == 0 ? NULL : memchr(bytes, '\n', size);
	size_t text_len = line == NULL ? size : (size_t)(line - bytes);
	const char *text = arena_strndup(arena, bytes, text_len);
	struct operation op = {
		.operation_id = "op_1",
		.operation_type = "t",
		.scope = "",
		.version = "7",
		.business_key = "b/1",
		.sent_at_us = 1772366400000000,
		.first_sent_at_us = TIME_NONE,
		.attempt_until_us = TIME_NONE,
		.next_attempt_at_us = TIME_NONE,
		.announced_at_us = TIME_NONE,
	};
	struct response response = { .fault = REASON_COUNT, .status = 200 };
	struct scene scene = { .arena = arena, .op = &op, .response = &response };

	if (line != NULL &&
	    value_read_json(arena, line + 1, size - text_len - 1, &response.parsed) != VALUE_OK)
		response.parsed = NULL;
	op.expected = response.parsed;
	try_locator(&scene, text);
	try_template(&scene, text);
	arena_destroy(arena);
	return 0;
}
