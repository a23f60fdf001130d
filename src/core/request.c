/* SPDX-License-Identifier: Apache-2.0
 *
 * From a probe and an operation to what is sent. The guard stands before it: a value that is
 * missing makes the probe not apply, and one that could mean something else at the target is never
 * sent.
 */
#include "reconciled/core/reading.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "fold.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/percent.h"
#include "template_value.h"

/* Everything of a probe that may hold placeholders, one after the other; false stops. */
typedef bool visit_fn(const struct template *template, void *arg);

static bool
visit_json(const struct json_template *json, visit_fn *visit, void *arg)
{
	if (json->kind == VALUE_TEXT && !visit(&json->text, arg))
		return false;
	for (size_t i = 0; i < json->count; i++)
		if (!visit_json(&json->children[i], visit, arg))
			return false;
	return true;
}

static bool
visit_named(const struct named_template *list, size_t count, visit_fn *visit, void *arg)
{
	for (size_t i = 0; i < count; i++)
		if (!visit(&list[i].value, arg))
			return false;
	return true;
}

static bool
visit_body(const struct probe *probe, visit_fn *visit, void *arg)
{
	switch (probe->body) {
	case BODY_NONE:
		return true;
	case BODY_JSON:
		return visit_json(probe->json, visit, arg);
	case BODY_FORM:
		return visit_named(probe->form, probe->form_count, visit, arg);
	case BODY_TEXT:
		return visit(&probe->text, arg);
	}
	return true;
}

static bool
visit_templates(const struct probe *probe, visit_fn *visit, void *arg)
{
	return visit(&probe->path, arg) &&
	       visit_named(probe->query, probe->query_count, visit, arg) &&
	       visit_named(probe->headers, probe->headers_count, visit, arg) &&
	       visit_body(probe, visit, arg);
}

struct guard {
	struct scene scene;
	const struct policy *policy;
};

static bool
is_present(const struct operation *op, enum operation_field field)
{
	if (field == OP_EXPECTED)
		return op->expected != NULL && op->expected->count > 0;
	return operation_text(op, field) != NULL || operation_time(op, field) != TIME_NONE;
}

static bool
has_values(const struct template *template, void *arg)
{
	const struct guard *guard = arg;
	const char *text;
	size_t len;

	for (size_t i = 0; i < template->count; i++)
		if (template->parts[i].literal == NULL &&
		    !template_part_value(&guard->scene, &template->parts[i], &text, &len))
			return false;
	return true;
}

/* The policy's own pattern is for the references that we made up ourselves; NULL: the default. */
static const regex_t *
pattern_of(const struct policy *policy, enum operation_field field)
{
	bool own =
		field == OP_OPERATION_ID || field == OP_IDEMPOTENCY_KEY || field == OP_BUSINESS_KEY;

	return own ? policy->reference : NULL;
}

/* What passes where no pattern was given. */
static bool
is_default_reference(const char *text)
{
	enum { REFERENCE_MAX = 200 };
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "._:@+=~-");

	return text[len] == '\0' && len <= REFERENCE_MAX;
}

static bool
matches_whole(const regex_t *pattern, const char *text)
{
	regmatch_t match = { .rm_so = -1, .rm_eo = -1 };

	return regexec(pattern, text, 1, &match, 0) == 0 && match.rm_so == 0 &&
	       (size_t)match.rm_eo == strlen(text);
}

static bool
has_control_character(const char *text)
{
	for (const char *at = text; *at != '\0'; at++)
		if (iscntrl((unsigned char)*at))
			return true;
	return false;
}

static bool
is_safe_segment(const regex_t *pattern, const char *segment)
{
	if (*segment == '\0' || strcmp(segment, ".") == 0 || strcmp(segment, "..") == 0)
		return false;
	if (pattern == NULL)
		return is_default_reference(segment);
	return !has_control_character(segment) && matches_whole(pattern, segment);
}

static bool
is_safe_part(const struct guard *guard, const struct template_part *part)
{
	const regex_t *pattern = pattern_of(guard->policy, part->field);
	char *copy, *segment;
	const char *text;
	size_t len;

	if (part->literal != NULL || operation_field_is_time(part->field))
		return true;
	if (!template_part_value(&guard->scene, part, &text, &len) ||
	    memchr(text, '\0', len) != NULL)
		return false;
	if (!part->keep_slashes)
		return is_safe_segment(pattern, text);
	copy = arena_strndup(guard->scene.arena, text, len);
	while ((segment = strsep(&copy, "/")) != NULL)
		if (!is_safe_segment(pattern, segment))
			return false;
	return true;
}

static bool
is_safe(const struct template *template, void *arg)
{
	for (size_t i = 0; i < template->count; i++)
		if (!is_safe_part(arg, &template->parts[i]))
			return false;
	return true;
}

enum applies
probe_applies(const struct policy *policy, const struct probe *probe, const struct operation *op,
	      struct arena *arena)
{
	struct guard guard = { .scene = { .arena = arena, .op = op }, .policy = policy };

	for (size_t i = 0; i < probe->needs_count; i++)
		if (!is_present(op, probe->needs[i]))
			return APPLIES_NOT;
	if (!visit_templates(probe, has_values, &guard))
		return APPLIES_NOT;
	return visit_templates(probe, is_safe, &guard) ? APPLIES : APPLIES_BAD_REFERENCE;
}

/* The caller asked whether the probe applies, so no field is missing. */
static const char *
render(const struct scene *scene, const struct template *template, enum template_encoding encoding)
{
	const char *text = template_render(scene, template, encoding);

	assert(text != NULL);
	return text;
}

/* name=value&name=value, all of it encoded; also what a form is. */
static const char *
render_pairs(const struct scene *scene, const struct named_template *pairs, size_t count)
{
	CLEANUP(strbuf_finish) struct strbuf out = { 0 };

	for (size_t i = 0; i < count; i++) {
		const char *value = render(scene, &pairs[i].value, TEMPLATE_PLAIN);

		if (i > 0)
			strbuf_putc(&out, '&');
		percent_add(&out, pairs[i].name, strlen(pairs[i].name), false);
		strbuf_putc(&out, '=');
		percent_add(&out, value, strlen(value), false);
	}
	return arena_strdup(scene->arena, strbuf_text(&out));
}

static const char *
url_template(struct arena *arena, const struct probe *probe)
{
	CLEANUP(strbuf_finish) struct strbuf out = { 0 };

	strbuf_puts(&out, probe->path.text);
	for (size_t i = 0; i < probe->query_count; i++) {
		strbuf_putc(&out, i == 0 ? '?' : '&');
		strbuf_puts(&out, probe->query[i].name);
		strbuf_putc(&out, '=');
		strbuf_puts(&out, probe->query[i].value.text);
	}
	return arena_strdup(arena, strbuf_text(&out));
}

static void
add_json_text(struct strbuf *out, const char *text)
{
	strbuf_putc(out, '"');
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < 0x20)
			strbuf_printf(out, "\\u%04x", (unsigned)*text);
		else if (*text == '"' || *text == '\\')
			strbuf_add(out, (char[]){ '\\', *text }, 2);
		else
			strbuf_putc(out, *text);
	}
	strbuf_putc(out, '"');
}

static void add_json(const struct scene *scene, const struct json_template *json,
		     struct strbuf *out);

static void
add_json_children(const struct scene *scene, const struct json_template *json, struct strbuf *out)
{
	bool is_object = json->kind == VALUE_OBJECT;

	strbuf_putc(out, is_object ? '{' : '[');
	for (size_t i = 0; i < json->count; i++) {
		if (i > 0)
			strbuf_putc(out, ',');
		if (is_object) {
			add_json_text(out, json->children[i].name);
			strbuf_putc(out, ':');
		}
		add_json(scene, &json->children[i], out);
	}
	strbuf_putc(out, is_object ? '}' : ']');
}

static void
add_json(const struct scene *scene, const struct json_template *json, struct strbuf *out)
{
	switch (json->kind) {
	case VALUE_NULL:
		strbuf_puts(out, "null");
		return;
	case VALUE_BOOL:
	case VALUE_NUMBER:
		strbuf_puts(out, json->text.text);
		return;
	case VALUE_TEXT:
		add_json_text(out, render(scene, &json->text, TEMPLATE_PLAIN));
		return;
	case VALUE_LIST:
	case VALUE_OBJECT:
		add_json_children(scene, json, out);
		return;
	}
}

static const char *
render_json(const struct scene *scene, const struct json_template *json)
{
	CLEANUP(strbuf_finish) struct strbuf out = { 0 };

	add_json(scene, json, &out);
	return arena_strdup(scene->arena, strbuf_text(&out));
}

static const char *
render_body(const struct scene *scene, const struct probe *probe)
{
	switch (probe->body) {
	case BODY_NONE:
		return NULL;
	case BODY_JSON:
		return render_json(scene, probe->json);
	case BODY_FORM:
		return render_pairs(scene, probe->form, probe->form_count);
	case BODY_TEXT:
		return render(scene, &probe->text, TEMPLATE_PLAIN);
	}
	return NULL;
}

static const char *
content_type_of(enum body_kind body)
{
	static const char *const types[] = {
		[BODY_NONE] = NULL,
		[BODY_JSON] = "application/json",
		[BODY_FORM] = "application/x-www-form-urlencoded",
		[BODY_TEXT] = "text/plain; charset=utf-8",
	};

	return types[body];
}

/* Ours asks for an uncached answer; a content type of the policy replaces the default one. */
static void
render_headers(const struct scene *scene, const struct probe *probe, struct request *request)
{
	struct header *headers = arena_array(scene->arena, struct header, probe->headers_count + 1);
	size_t n = 0;

	headers[n++] = (struct header){ "cache-control", "no-cache" };
	for (size_t i = 0; i < probe->headers_count; i++) {
		struct header header = {
			.name = lower_ascii(scene->arena, probe->headers[i].name,
					    strlen(probe->headers[i].name)),
			.value = render(scene, &probe->headers[i].value, TEMPLATE_PLAIN),
		};

		if (strcmp(header.name, "cache-control") == 0)
			continue;
		if (strcmp(header.name, "content-type") == 0 && request->body != NULL)
			request->content_type = header.value;
		else
			headers[n++] = header;
	}
	request->headers = headers;
	request->headers_count = n;
}

const struct request *
request_render(struct arena *arena, const struct question *question)
{
	const struct probe *probe = question->probe;
	struct scene scene = { .arena = arena,
			       .op = question->ops_count > 0 ? question->ops[0] : NULL };
	struct request *request = arena_new(arena, struct request);

	request->method = probe->method;
	request->path = render(&scene, &probe->path, TEMPLATE_SEGMENT);
	if (probe->query_count > 0)
		request->query = render_pairs(&scene, probe->query, probe->query_count);
	request->body = render_body(&scene, probe);
	if (request->body != NULL) {
		request->body_len = strlen(request->body);
		request->content_type = content_type_of(probe->body);
	}
	render_headers(&scene, probe, request);
	request->url_template = url_template(arena, probe);
	return request;
}
