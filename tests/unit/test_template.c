/* SPDX-License-Identifier: Apache-2.0
 *
 * Placeholders: what is one, what stays literal, what is missing, how values are encoded.
 */
#include "scene.h"

static const struct {
	const char *text;
	enum template_encoding encoding;
	const char *want; /* NULL: something is missing */
} renders[] = {
	{ "", TEMPLATE_PLAIN, "" },
	{ "/v1/customers", TEMPLATE_SEGMENT, "/v1/customers" },
	{ "/v1/a b?c", TEMPLATE_SEGMENT, "/v1/a b?c" },
	{ "/v1/{operation_id}", TEMPLATE_SEGMENT, "/v1/op_00000001" },
	{ "{entity_type}:{entity_id}", TEMPLATE_PLAIN, "customer:42" },
	{ "{status}", TEMPLATE_PLAIN, "awaiting_confirmation" },
	{ "/x/{expected./path}", TEMPLATE_SEGMENT, "/x/a%2Fb%20c%23d%3Fe%25" },
	{ "/x/{expected./path|path}", TEMPLATE_SEGMENT, "/x/a/b%20c%23d%3Fe%25" },
	{ "/x/{expected./path}", TEMPLATE_PLAIN, "/x/a/b c#d?e%" },
	{ "{expected./safe}", TEMPLATE_SEGMENT, "aZ0-._~" },
	{ "{expected./city}", TEMPLATE_SEGMENT, "K%C3%B6ln" },
	{ "{expected./n}{expected./yes}", TEMPLATE_PLAIN, "10.50true" },
	{ "{expected./items/0/sku}", TEMPLATE_PLAIN, "s1" },
	{ "{expected./items/[sku=s2]/n}", TEMPLATE_PLAIN, "2" },
	{ "{expected./items/[sku={version}]/n}", TEMPLATE_PLAIN, "7" },
	{ "{expected./items/*/sku}", TEMPLATE_PLAIN, NULL },
	{ "{expected./items}", TEMPLATE_PLAIN, NULL },
	{ "{expected./nil}", TEMPLATE_PLAIN, NULL },
	{ "{expected./blank}", TEMPLATE_PLAIN, NULL },
	{ "{expected./odd}", TEMPLATE_PLAIN, NULL },
	{ "{expected./missing}", TEMPLATE_PLAIN, NULL },
	{ "a{remote_id}b", TEMPLATE_PLAIN, NULL },
	{ "{first_sent_at}", TEMPLATE_PLAIN, "2026-03-01T12:00:00Z" },
	{ "{first_sent_at-1h|rfc3339}", TEMPLATE_PLAIN, "2026-03-01T11:00:00Z" },
	{ "{sent_at+3d|rfc3339}", TEMPLATE_PLAIN, "2026-03-04T12:00:00Z" },
	{ "{sent_at|epoch}", TEMPLATE_PLAIN, "1772366400" },
	{ "{sent_at|epoch_ms}", TEMPLATE_PLAIN, "1772366400250" },
	{ "{created_at|epoch}", TEMPLATE_PLAIN, "1772366398" },
	{ "{first_sent_at-13h|date}", TEMPLATE_PLAIN, "2026-02-28" },
	{ "{first_sent_at-1h}", TEMPLATE_SEGMENT, "2026-03-01T11%3A00%3A00Z" },
	/* braces that open nothing */
	{ "{ id name }", TEMPLATE_PLAIN, "{ id name }" },
	{ "query($k: String!) { order(identifier: {customId: {key: \"operation_id\", value: $k}}) "
	  "{ id } }",
	  TEMPLATE_PLAIN,
	  "query($k: String!) { order(identifier: {customId: {key: \"operation_id\", value: $k}}) "
	  "{ id } }" },
	{ "{\"id\":\"{operation_id}\"}", TEMPLATE_PLAIN, "{\"id\":\"op_00000001\"}" },
	{ "{{version}}", TEMPLATE_PLAIN, "{7}" },
	{ "[0-9]{1,3} {} } {", TEMPLATE_PLAIN, "[0-9]{1,3} {} } {" },
	{ "metadata[\"operation_id\"]:\"{operation_id}\"", TEMPLATE_PLAIN,
	  "metadata[\"operation_id\"]:\"op_00000001\"" },
};

static void
test_renders(struct arena *arena)
{
	struct operation op = operation(
		arena, "{\"path\":\"a/b "
		       "c#d?e%\",\"safe\":\"aZ0-._~\",\"city\":\"K\xc3\xb6ln\",\"n\":10.50,"
		       "\"yes\":true,\"nil\":null,\"blank\":\"\",\"odd\":\"x\\u0000y\","
		       "\"items\":[{\"sku\":\"s1\",\"n\":1},{\"sku\":\"s2\",\"n\":2},"
		       "{\"sku\":\"7\",\"n\":7}]}");
	struct scene scene = { .arena = arena, .op = &op };

	for (size_t i = 0; i < ARRAY_LEN(renders); i++) {
		struct template parsed = template(arena, renders[i].text);

		tap_str(template_render(&scene, &parsed, renders[i].encoding), renders[i].want,
			renders[i].text);
		tap_str(parsed.text, renders[i].text, "the text is kept as it was written");
	}
}

static void
test_missing(struct arena *arena)
{
	struct template field = template(arena, "{version}"), literal = template(arena, "a");
	struct template expected = template(arena, "{expected./a}");
	struct template sent = template(arena, "{sent_at}");
	struct operation op = operation(arena, NULL);
	struct scene scene = { .arena = arena };

	tap_str(template_render(&scene, &literal, TEMPLATE_PLAIN), "a",
		"literal without operation");
	tap_str(template_render(&scene, &field, TEMPLATE_PLAIN), NULL, "field without operation");
	scene.op = &op;
	op.sent_at_us = TIME_NONE;
	tap_str(template_render(&scene, &expected, TEMPLATE_PLAIN), NULL, "nothing is expected");
	tap_str(template_render(&scene, &sent, TEMPLATE_PLAIN), NULL, "never sent");
}

static const struct {
	const char *text, *says;
} refused[] = {
	{ "{busines_key}", "the nearest is \"{business_key}\"" },
	{ "{Business_key}", "the nearest is \"{business_key}\"" },
	{ "{operationId}", "the nearest is \"{operation_id}\"" },
	{ "{versions}", "the nearest is \"{version}\"" },
	{ "{remote_id2}", "the nearest is \"{remote_id}\"" },
	{ "{sentat|epoch}", "the nearest is \"{sent_at}\"" },
	{ "x{id}", "unknown placeholder \"{id}\"" },
	{ "{batch}", "unknown placeholder" },
	{ "{batch|each id=business_key}", "allowed here: {batch|join ,}" },
	{ "{batch|join }", "{batch|join ,}" },
	{ "{batch|join}", "{batch|join ,}" },
	{ "{version|}", "allowed: |path" },
	{ "{version|epoch}", "allowed: |path" },
	{ "{version+1h}", "allowed: |path" },
	{ "{version.x}", "allowed: |path" },
	{ "{version|path", "is not closed" },
	{ "{expected}", "{expected./name}" },
	{ "{expected.x}", "{expected./name}" },
	{ "{expected./x|date}", "allowed: |path" },
	{ "{expected./x~}", "allowed behind \"~\"" },
	{ "{expected./[x]}", "[name=value]" },
	{ "{sent_at|path}", "rfc3339, epoch, epoch_ms, date" },
	{ "{sent_at|}", "rfc3339, epoch, epoch_ms, date" },
	{ "{sent_at-1w|date}", "is no duration" },
	{ "{sent_at-|date}", "is no duration" },
	{ "{sent_at.x|date}", "an offset like -1h" },
};

static void
test_refused(struct arena *arena)
{
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		struct template untouched = { .text = "old" };
		struct err err = { 0 };

		tap_ok(!template_parse(arena, refused[i].text, &untouched, &err), "refused: %s",
		       refused[i].text);
		if (!tap_ok(strstr(err.text, refused[i].says) != NULL, "%s: the message says why",
			    refused[i].text))
			printf("# got: %s\n", err.text);
		tap_str(untouched.text, "old", "what failed is not written");
	}
}

/* What joins the operations of a batch is no value of one of them. */
static void
test_join(struct arena *arena)
{
	struct template parsed = template(arena, "ids:{batch|join  OR }!");
	struct operation op = operation(arena, NULL);
	struct scene scene = { .arena = arena, .op = &op };

	tap_int((long long)parsed.count, 3, "a literal, the batch, a literal");
	tap_str(parsed.parts[1].batch_join, " OR ", "the separator");
	tap_str(template_render(&scene, &parsed, TEMPLATE_PLAIN), NULL, "not for one operation");
}

int
main(void)
{
	struct arena *arena = arena_create();

	test_renders(arena);
	test_missing(arena);
	test_join(arena);
	test_refused(arena);
	arena_destroy(arena);
	return tap_done();
}
