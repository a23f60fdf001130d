/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference guard and what is sent.
 */
#include "reconciled/core/reading.h"
#include "scene.h"

static regex_t *
pattern(const char *text)
{
	static regex_t compiled[8];
	static size_t count;
	struct err err = { .text = "the pattern does not compile" };

	must(regcomp(&compiled[count], text, REG_EXTENDED) == 0, &err);
	return &compiled[count++];
}

static const char *
applies_name(enum applies applies)
{
	static const char *const names[] = { "applies", "not", "bad_reference" };

	return names[applies];
}

#define TEN "0123456789"

/* H04: values that would address something else. */
static const struct {
	const char *value;
	enum applies in_path, as_segments; /* {business_key}, {business_key|path} */
} references[] = {
	{ "o1", APPLIES, APPLIES },
	{ "o1#x", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "o1?x=1", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "../o2", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "..", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ ".", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "", APPLIES_NOT, APPLIES_NOT },
	{ "a/b", APPLIES_BAD_REFERENCE, APPLIES },
	{ "a//b", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "/a", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "a/", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "a/./b", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "a/../b", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "a/b#c", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "o1%2F", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "o1\"", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "o1'", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "o1 x", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "o1\n", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "o1\r\nX: y", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "\xc3\xa9", APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
	{ "a.b", APPLIES, APPLIES },
	{ "...", APPLIES, APPLIES },
	{ "azAZ09._:@+=~-", APPLIES, APPLIES },
	{ TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN, APPLIES,
	  APPLIES },
	{ TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "x",
	  APPLIES_BAD_REFERENCE, APPLIES_BAD_REFERENCE },
};

/* The name of a case must not break the line. */
static const char *
one_line(struct arena *arena, const char *value)
{
	char *line = arena_printf(arena, "\"%s\"", value);

	for (char *at = line; *at != '\0'; at++)
		if (*at == '\r' || *at == '\n')
			*at = '_';
		else if (*at == '#')
			*at = '%'; /* means a directive in TAP */
	return line;
}

static void
test_references(struct arena *arena)
{
	struct operation op = operation(arena, "{}");
	struct policy policy = { 0 };
	struct probe segment = { .path = template(arena, "/orders/{business_key}") };
	struct probe path = { .path = template(arena, "/{business_key|path}") };

	for (size_t i = 0; i < ARRAY_LEN(references); i++) {
		op.business_key = references[i].value;
		tap_str(applies_name(probe_applies(&policy, &segment, &op, arena)),
			applies_name(references[i].in_path), one_line(arena, references[i].value));
		tap_str(applies_name(probe_applies(&policy, &path, &op, arena)),
			applies_name(references[i].as_segments), "the same, keeping slashes");
	}
}

/* A value that the guard refuses, in each place that is sent. */
static void
test_places(struct arena *arena)
{
	struct operation op = operation(arena, "{\"x\":\"a b\",\"ok\":\"a\",\"odd\":\"a\\u0000\"}");
	struct policy policy = { 0 };
	struct named_template named = { "n", template(arena, "{expected./x}") };
	struct json_template text = { .kind = VALUE_TEXT, .text = named.value };
	struct json_template list = { .kind = VALUE_LIST, .children = &text, .count = 1 };
	struct template slash = template(arena, "/");
	const struct {
		const char *name;
		struct probe probe;
	} places[] = {
		{ "path", { .path = template(arena, "/{expected./x}") } },
		{ "query", { .path = slash, .query = &named, .query_count = 1 } },
		{ "header", { .path = slash, .headers = &named, .headers_count = 1 } },
		{ "form", { .path = slash, .body = BODY_FORM, .form = &named, .form_count = 1 } },
		{ "json", { .path = slash, .body = BODY_JSON, .json = &list } },
		{ "text", { .path = slash, .body = BODY_TEXT, .text = named.value } },
		{ "NUL", { .path = template(arena, "/{expected./odd}") } },
	};

	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		tap_str(applies_name(probe_applies(&policy, &places[i].probe, &op, arena)),
			"bad_reference", places[i].name);
	op.expected = json(arena, "{\"x\":\"a\",\"odd\":\"b\"}");
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		tap_str(applies_name(probe_applies(&policy, &places[i].probe, &op, arena)),
			"applies", places[i].name);
	op.expected = json(arena, "{\"x\":\"\",\"odd\":null}");
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		tap_str(applies_name(probe_applies(&policy, &places[i].probe, &op, arena)), "not",
			places[i].name);
}

static enum applies
applies_with(struct arena *arena, const struct policy *policy, const struct operation *op,
	     const char *path)
{
	struct probe probe = { .path = template(arena, path) };

	return probe_applies(policy, &probe, op, arena);
}

/* The policy's own pattern is for our references only, and must match as a whole. */
static void
test_own_pattern(struct arena *arena)
{
	struct operation op = operation(arena, "{\"x\":\"EUR\"}");
	struct policy policy = { .reference = pattern("op_[0-9]{4}|[a-z]-42|.*/.*") };

	tap_str(applies_name(applies_with(arena, &policy, &op, "/{operation_id}")), "bad_reference",
		"a part that matches is not the whole");
	tap_str(applies_name(applies_with(arena, &policy, &op, "/{business_key}")), "applies",
		"the policy's pattern");
	tap_str(applies_name(applies_with(arena, &policy, &op, "/{idempotency_key}")),
		"bad_reference", "the policy's pattern, refused");
	tap_str(applies_name(applies_with(arena, &policy, &op, "/{entity_id}/{expected./x}")),
		"applies", "others follow the default");
	tap_str(applies_name(applies_with(arena, &policy, &op, "/x?t={sent_at}")), "applies",
		"times are no references");
	op.business_key = "a/../b";
	tap_str(applies_name(applies_with(arena, &policy, &op, "/{business_key}")), "applies",
		"a pattern may allow slashes: they are encoded");
	tap_str(applies_name(applies_with(arena, &policy, &op, "/{business_key|path}")),
		"bad_reference", "but not as segments");
	op.business_key = "a/\n";
	tap_str(applies_name(applies_with(arena, &policy, &op, "/{business_key}")), "bad_reference",
		"a control character never passes");
}

static void
test_needs(struct arena *arena)
{
	static const enum operation_field needs[] = { OP_REMOTE_ID, OP_SENT_AT, OP_EXPECTED };
	struct operation op = operation(arena, "{\"a\":1}");
	struct policy policy = { 0 };
	struct probe probe = { .path = template(arena, "/x"), .needs = needs, .needs_count = 3 };

	tap_str(applies_name(probe_applies(&policy, &probe, &op, arena)), "not", "no remote id");
	op.remote_id = "r1";
	tap_str(applies_name(probe_applies(&policy, &probe, &op, arena)), "applies",
		"all is there");
	op.sent_at_us = TIME_NONE;
	tap_str(applies_name(probe_applies(&policy, &probe, &op, arena)), "not", "never sent");
	op.sent_at_us = SENT_US;
	op.expected = json(arena, "{}");
	tap_str(applies_name(probe_applies(&policy, &probe, &op, arena)), "not",
		"nothing expected");
	op.business_key = "..";
	probe.path = template(arena, "/{business_key}");
	tap_str(applies_name(probe_applies(&policy, &probe, &op, arena)), "not",
		"what does not apply is not refused either");
}

static const char *
header_value(const struct request *request, const char *name)
{
	for (size_t i = 0; i < request->headers_count; i++)
		if (strcmp(request->headers[i].name, name) == 0)
			return request->headers[i].value;
	return NULL;
}

static const struct request *
render(struct arena *arena, const struct probe *probe, const struct operation *op)
{
	const struct question question = { .probe = probe, .ops = &op, .ops_count = op != NULL };

	return request_render(arena, &question);
}

static void
test_get(struct arena *arena)
{
	struct operation op = operation(arena, "{}");
	struct named_template query[] = {
		{ "query", template(arena, "metadata[\"operation_id\"]:\"{operation_id}\"") },
		{ "limit", template(arena, "20") },
		{ "since[gt]", template(arena, "{first_sent_at-1h|rfc3339}") },
	};
	struct named_template headers[] = {
		{ "X-Operation", template(arena, "{operation_id}") },
		{ "Cache-Control", template(arena, "only-if-cached") },
	};
	struct probe probe = {
		.method = METHOD_HEAD,
		.path = template(arena, "/v1/a{business_key|path}/{operation_id}"),
		.query = query,
		.query_count = ARRAY_LEN(query),
		.headers = headers,
		.headers_count = ARRAY_LEN(headers),
	};
	const struct request *request;

	op.business_key = "/b/c\xc3\xa9";
	request = render(arena, &probe, &op);
	tap_int(request->method, METHOD_HEAD, "method");
	tap_str(request->path, "/v1/a/b/c%C3%A9/op_00000001", "path");
	tap_str(request->query,
		"query=metadata%5B%22operation_id%22%5D%3A%22op_00000001%22&limit=20"
		"&since%5Bgt%5D=2026-03-01T11%3A00%3A00Z",
		"query");
	tap_str(request->url_template,
		"/v1/a{business_key|path}/"
		"{operation_id}?query=metadata[\"operation_id\"]:\"{operation_id}\""
		"&limit=20&since[gt]={first_sent_at-1h|rfc3339}",
		"the URL as the policy writes it");
	tap_str(header_value(request, "cache-control"), "no-cache",
		"an uncached answer is asked for");
	tap_str(header_value(request, "x-operation"), "op_00000001", "names are lower case");
	tap_int((long long)request->headers_count, 2, "no other headers");
	tap_str(request->body, NULL, "no body");
	tap_str(request->content_type, NULL, "no content type");
}

static void
test_json(struct arena *arena)
{
	struct operation op = operation(arena, "{\"x\":\"q\\\"\\\\\\n\\u001f\xc3\xa9\"}");
	struct json_template variables[] = {
		{ .kind = VALUE_TEXT, .name = "k", .text = template(arena, "{operation_id}") },
		{ .kind = VALUE_NUMBER, .name = "n", .text = template(arena, "1.50") },
		{ .kind = VALUE_BOOL, .name = "b", .text = template(arena, "true") },
		{ .kind = VALUE_NULL, .name = "z" },
		{ .kind = VALUE_TEXT, .name = "empty", .text = template(arena, "") },
	};
	struct json_template list[] = {
		{ .kind = VALUE_TEXT, .text = template(arena, "{ id } {expected./x}") },
		{ .kind = VALUE_LIST },
		{ .kind = VALUE_OBJECT },
	};
	struct json_template members[] = {
		{ .kind = VALUE_OBJECT, .name = "va\"rs", .children = variables, .count = 5 },
		{ .kind = VALUE_LIST, .name = "list", .children = list, .count = 3 },
	};
	struct json_template root = { .kind = VALUE_OBJECT, .children = members, .count = 2 };
	struct probe probe = {
		.method = METHOD_POST,
		.path = template(arena, "/graphql"),
		.body = BODY_JSON,
		.json = &root,
	};
	const struct request *request = render(arena, &probe, &op);
	const char *want =
		"{\"va\\\"rs\":{\"k\":\"op_00000001\",\"n\":1.50,\"b\":true,\"z\":null,"
		"\"empty\":\"\"},\"list\":[\"{ id } q\\\"\\\\\\u000a\\u001f\xc3\xa9\",[],{}]}";

	tap_str(request->body, want, "body");
	tap_int((long long)request->body_len, (long long)strlen(want), "its length");
	tap_str(request->content_type, "application/json", "its type");
	tap_str(request->query, NULL, "no query");
	tap_str(request->url_template, "/graphql", "the URL as the policy writes it");
}

static void
test_other_bodies(struct arena *arena)
{
	struct operation op = operation(arena, "{}");
	struct named_template form[] = {
		{ "id", template(arena, "{business_key}") },
		{ "q", template(arena, "a b&c=d") },
	};
	struct named_template type = { "Content-Type", template(arena, "application/xml") };
	struct probe probe = {
		.method = METHOD_POST,
		.path = template(arena, "/search"),
		.body = BODY_FORM,
		.form = form,
		.form_count = 2,
	};
	const struct request *request = render(arena, &probe, &op);

	tap_str(request->body, "id=c-42&q=a%20b%26c%3Dd", "form");
	tap_str(request->content_type, "application/x-www-form-urlencoded", "type of a form");
	probe.body = BODY_TEXT;
	probe.text = template(arena, "<id>{entity_id}</id>");
	request = render(arena, &probe, &op);
	tap_str(request->body, "<id>42</id>", "text");
	tap_str(request->content_type, "text/plain; charset=utf-8", "type of a text");
	probe.headers = &type;
	probe.headers_count = 1;
	request = render(arena, &probe, &op);
	tap_str(request->content_type, "application/xml", "a type that the policy gives");
	tap_str(header_value(request, "content-type"), NULL, "is sent once");
}

static void
test_control(struct arena *arena)
{
	struct named_template query = { "idProperty", template(arena, "source_id") };
	struct probe probe = {
		.path = template(arena, "/contacts/reconcile-control"),
		.query = &query,
		.query_count = 1,
	};
	const struct request *request = render(arena, &probe, NULL);

	tap_str(request->path, "/contacts/reconcile-control", "control: path");
	tap_str(request->query, "idProperty=source_id", "control: query");
}

/* Several operations, two of them about the same object. */
static const struct operation *const *
operations(struct arena *arena, size_t count)
{
	static const char *const keys[] = { "k1", "a/b \"c\"", "k1", "k2" };
	const struct operation **ops = arena_array(arena, const struct operation *, count);

	for (size_t i = 0; i < count; i++) {
		struct operation *op = arena_new(arena, struct operation);

		*op = operation(arena, "{}");
		op->business_key = keys[i];
		ops[i] = op;
	}
	return ops;
}

static void
test_batch(struct arena *arena)
{
	struct named_template query = { "ids", template(arena, "[{batch|join , }]") };
	struct named_template header = { "x-ids", template(arena, "{batch|join  OR }") };
	struct json_template members[] = {
		{ .kind = VALUE_TEXT, .name = "by", .text = template(arena, "id") },
		{ .kind = VALUE_LIST,
		  .name = "inputs",
		  .batch_name = "i\"d",
		  .batch_field = OP_BUSINESS_KEY },
	};
	struct json_template root = { .kind = VALUE_OBJECT, .children = members, .count = 2 };
	struct probe probe = {
		.method = METHOD_POST,
		.path = template(arena, "/b/{batch|join ;}"),
		.query = &query,
		.query_count = 1,
		.headers = &header,
		.headers_count = 1,
		.body = BODY_JSON,
		.json = &root,
		.batch_max = 100,
		.batch_field = OP_BUSINESS_KEY,
	};
	struct question question = { .probe = &probe, .ops = operations(arena, 4), .ops_count = 4 };
	const struct request *request = request_render(arena, &question);

	tap_str(request->body,
		"{\"by\":\"id\",\"inputs\":[{\"i\\\"d\":\"k1\"},{\"i\\\"d\":\"a/b \\\"c\\\"\"},"
		"{\"i\\\"d\":\"k2\"}]}",
		"batch: an object for each value, each once");
	tap_str(request->query, "ids=%5Bk1%2C%20a%2Fb%20%22c%22%2C%20k2%5D", "batch: query");
	tap_str(request->path, "/b/k1;a%2Fb%20%22c%22;k2", "batch: path");
	tap_str(header_value(request, "x-ids"), "k1 OR a/b \"c\" OR k2", "batch: header");
	question.ops_count = 1;
	request = request_render(arena, &question);
	tap_str(request->query, "ids=%5Bk1%5D", "batch of one: query");
	tap_str(request->body, "{\"by\":\"id\",\"inputs\":[{\"i\\\"d\":\"k1\"}]}",
		"batch of one: body");
}

/* What an operation adds to a batch is guarded like any other value. */
static void
test_batch_guard(struct arena *arena)
{
	struct operation op = operation(arena, "{}");
	struct policy policy = { 0 };
	struct named_template query = { "ids", template(arena, "{batch|join ,}") };
	struct probe probe = {
		.path = template(arena, "/b"),
		.query = &query,
		.query_count = 1,
		.batch_max = 100,
		.batch_field = OP_BUSINESS_KEY,
	};

	tap_str(applies_name(probe_applies(&policy, &probe, &op, arena)), "applies", "batch: safe");
	op.business_key = "a,b";
	tap_str(applies_name(probe_applies(&policy, &probe, &op, arena)), "bad_reference",
		"batch: what would be two");
	op.business_key = "";
	tap_str(applies_name(probe_applies(&policy, &probe, &op, arena)), "not", "batch: empty");
}

int
main(void)
{
	struct arena *arena = arena_create();

	test_references(arena);
	test_places(arena);
	test_own_pattern(arena);
	test_needs(arena);
	test_get(arena);
	test_json(arena);
	test_other_bodies(arena);
	test_control(arena);
	test_batch(arena);
	test_batch_guard(arena);
	arena_destroy(arena);
	return tap_done();
}
