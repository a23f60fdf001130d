/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointers and locators: what they find, and which texts are none.
 */
#include "reconciled/base/strbuf.h"
#include "reconciled/core/reading.h"
#include "scene.h"

static const char document[] =
	"{\"a\":{\"b\":[{\"k\":\"x\",\"n\":1},{\"k\":\"y\",\"n\":2},{\"k\":\"y\",\"n\":3}]},"
	"\"a/"
	"b\":\"slash\",\"m~n\":\"tilde\",\"\":\"empty\",\"one\":{\"k\":\"z\"},\"nil\":null,"
	"\"none\":[],"
	"\"nested\":[[1,2],[3]],\"yes\":true,\"blank\":\"\","
	"\"refs\":[{\"r\":{\"id\":\"op_00000001\"},\"amt\":\"10.00\"},{\"r\":{\"id\":\"op/"
	"2\"},\"amt\":\"5\"}],"
	"\"deep\":[{\"in\":[{\"t\":\"p\",\"v\":\"1\"}],\"w\":\"first\"},{\"in\":[{\"t\":\"p\","
	"\"v\":\"2\"}],\"w\":\"second\"}]}";

static const struct {
	const char *text;
	const char *want; /* texts and kinds, joined */
	bool several, reached;
} finds[] = {
	{ "/a/b/0/k", "x", false, true },
	{ "/a/b/2/n", "3", false, true },
	{ "/a/b/3/n", "", false, false },
	{ "/a/b/00/n", "", false, false },
	{ "/a/b/-1/n", "", false, false },
	{ "/a/b/99999999999999999999", "", false, false },
	{ "/a/b/k", "", false, false },
	{ "/a~1b", "slash", false, true },
	{ "/m~0n", "tilde", false, true },
	{ "/", "empty", false, true },
	{ "/nil", "null", false, true },
	{ "/nil/x", "", false, false },
	{ "/missing", "", false, false },
	{ "/yes", "true", false, true },
	{ "/yes/x", "", false, false },
	{ "/none", "list", false, true },
	{ "/none/*", "", false, true },
	{ "/none/*/x", "", false, true },
	{ "/nil/*", "", false, false },
	{ "/a/b/*/k", "x y y", false, true },
	{ "/a/b/*/missing", "", false, false },
	{ "/one/*/k", "z", false, true },
	{ "/yes/*", "true", false, true },
	{ "/nested/*/*", "1 2 3", false, true },
	{ "/nested/*/1", "2", false, true },
	{ "/a/b/[k=x]/n", "1", false, true },
	{ "/a/b/[k=y]/n", "", true, false },
	{ "/a/b/[k=q]/n", "", false, false },
	{ "/one/[k=z]/k", "z", false, true },
	{ "/one/[k=x]", "", false, false },
	{ "/refs/[r/id={operation_id}]/amt", "10.00", false, true },
	{ "/refs/[r/id=op/2]/amt", "5", false, true },
	{ "/refs/[r/id={remote_id}]/amt", "", false, false },
	{ "/deep/[in/[t=p]/v=2]/w", "second", false, true },
	{ "/a/b/[n=2]/k", "y", false, true },
	{ "body./one/k", "z", false, true },
	{ "status", "200", false, true },
	{ "header.ETag", "\"v1\"", false, true },
	{ "header.x-many", "1 2", false, true },
	{ "header.x-none", "", false, false },
	{ "op.version", "7", false, true },
	{ "op.remote_id", "", false, false },
	{ "op.status", "awaiting_confirmation", false, true },
	{ "op.expected", "object", false, true },
	{ "op.created_at", "2026-03-01T11:59:58Z", false, true },
	{ "op./expected/email", "a@example.com", false, true },
	{ "op./expected/tags/*", "p q", false, true },
	{ "op./expected/missing", "", false, false },
};

static const struct header headers[] = {
	{ "etag", "\"v1\"" },
	{ "x-many", "1" },
	{ "x-many", "2" },
};

static void
add_values(struct strbuf *out, const struct located *found)
{
	for (size_t i = 0; i < found->count; i++) {
		const struct value *value = found->values[i];

		if (i > 0)
			strbuf_putc(out, ' ');
		strbuf_puts(out,
			    value_is_scalar(value) ? value->text : value_kind_name(value->kind));
	}
}

static void
test_finds(struct arena *arena)
{
	struct operation op =
		operation(arena, "{\"email\":\"a@example.com\",\"tags\":[\"p\",\"q\"]}");
	struct response response = {
		.fault = REASON_COUNT,
		.status = 200,
		.headers = headers,
		.headers_count = ARRAY_LEN(headers),
		.parsed = json(arena, document),
	};
	struct scene scene = { .arena = arena, .op = &op, .response = &response };

	for (size_t i = 0; i < ARRAY_LEN(finds); i++) {
		struct located found = locator_find(&scene, locator(arena, finds[i].text));
		struct strbuf out = { 0 };

		add_values(&out, &found);
		tap_str(strbuf_text(&out), finds[i].want, finds[i].text);
		tap_ok(found.several == finds[i].several, "%s: several or not", finds[i].text);
		tap_ok(found.reached == finds[i].reached, "%s: reached or not", finds[i].text);
		strbuf_finish(&out);
	}
}

static void
test_roots(struct arena *arena)
{
	struct response response = { .fault = REASON_TIMEOUT };
	struct scene scene = { .arena = arena };

	tap_int((long long)locator_find(&scene, locator(arena, "status")).count, 0,
		"no status without response");
	tap_int((long long)locator_find(&scene, locator(arena, "/a")).count, 0,
		"no item without response");
	tap_int((long long)locator_find(&scene, locator(arena, "op.version")).count, 0,
		"no field without operation");
	scene.response = &response;
	tap_int((long long)locator_find(&scene, locator(arena, "status")).count, 0,
		"no status after a fault");
	response.parsed = json(arena, "{\"k\":\"body\"}");
	scene.item = json(arena, "{\"k\":\"item\"}");
	tap_str(locator_find(&scene, locator(arena, "/k")).values[0]->text, "item",
		"pointers look into the item");
	tap_str(locator_find(&scene, locator(arena, "body./k")).values[0]->text, "body",
		"the body stays reachable");
}

static const struct {
	const char *text;
	const char *says; /* part of the message */
} refused[] = {
	{ "", "is no place" },
	{ "a", "is no place" },
	{ "Status", "is no place" },
	{ "statuscode", "allowed: status" },
	{ "header.", "lacks the name" },
	{ "header.x y", "no name of a header" },
	{ "body.", "is no place" },
	{ "body.a", "is no place" },
	{ "op.", "unknown field" },
	{ "op.busines_key", "the nearest is \"op.business_key\"" },
	{ "op.expected/x", "the nearest is \"op.expected\"" },
	{ "op./payload/x", "allowed: op./expected/name" },
	{ "op./expected", "allowed: op./expected/name" },
	{ "/a~", "allowed behind \"~\"" },
	{ "/a~2", "allowed behind \"~\"" },
	{ "/[a=b", "a bracket is not closed" },
	{ "/[a=b]]", "a bracket is not closed" },
	{ "/[]", "[name=value]" },
	{ "/[a]", "[name=value]" },
	{ "/[=b]", "[name=value]" },
	{ "/[a=]", "[name=value]" },
	{ "/[a=b]c", "[name=value]" },
	{ "/[a=b][c=d]", "[name=value]" },
	{ "/[a={busines_key}]", "the nearest is \"{business_key}\"" },
};

static void
test_refused(struct arena *arena)
{
	char *text = arena_alloc(arena, 100001);
	struct locator untouched = { .text = "old" };

	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		struct err err = { 0 };

		tap_ok(!locator_parse(arena, refused[i].text, &untouched, &err), "refused: \"%s\"",
		       refused[i].text);
		if (!tap_ok(strstr(err.text, refused[i].says) != NULL,
			    "\"%s\": the message says why", refused[i].text))
			printf("# got: %s\n", err.text);
	}
	memset(text, '[', 100000);
	text[0] = '/';

	struct err err = { 0 };

	tap_ok(!locator_parse(arena, text, &untouched, &err), "a pointer of 100,000 brackets");
	tap_str(untouched.text, "old", "what failed is not written");
}

int
main(void)
{
	struct arena *arena = arena_create();

	test_finds(arena);
	test_roots(arena);
	test_refused(arena);
	arena_destroy(arena);
	return tap_done();
}
