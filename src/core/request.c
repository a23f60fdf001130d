/* SPDX-License-Identifier: Apache-2.0
 *
 * From a question to what is sent: the probe's templates, the values of the operations that it is
 * about, and the parameter that says which page of a list is asked for.
 */
#include "reconciled/core/reading.h"

#include <assert.h>
#include <string.h>

#include "batch_values.h"
#include "fold.h"
#include "page_value.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/number.h"
#include "reconciled/core/percent.h"
#include "template_value.h"

const char *
http_method_name(enum http_method method)
{
	switch (method) {
	case METHOD_GET:
		return "GET";
	case METHOD_HEAD:
		return "HEAD";
	case METHOD_POST:
		return "POST";
	}
	return "";
}

/* One question on its way to a request. */
struct rendering {
	const struct probe *probe;
	struct scene scene; /* of the first operation */
	struct batch_values batch;
	struct page_value page;
};

static bool
joins_batch(const struct template *template)
{
	for (size_t i = 0; i < template->count; i++)
		if (template->parts[i].batch_join != NULL)
			return true;
	return false;
}

static void
add_encoded(struct strbuf *out, const char *text, enum template_encoding encoding)
{
	if (encoding == TEMPLATE_SEGMENT)
		percent_add(out, text, strlen(text), false);
	else
		strbuf_puts(out, text);
}

static void
add_batch(const struct rendering *of, const char *separator, enum template_encoding encoding,
	  struct strbuf *out)
{
	for (size_t i = 0; i < of->batch.count; i++) {
		if (i > 0)
			strbuf_puts(out, separator);
		add_encoded(out, of->batch.texts[i], encoding);
	}
}

static const char *
render_joined(const struct rendering *of, const struct template *template,
	      enum template_encoding encoding)
{
	CLEANUP(strbuf_finish) struct strbuf out = { 0 };

	for (size_t i = 0; i < template->count; i++) {
		const struct template one = { .parts = &template->parts[i], .count = 1 };

		if (one.parts->batch_join != NULL)
			add_batch(of, one.parts->batch_join, encoding, &out);
		else
			strbuf_puts(&out, template_render(&of->scene, &one, encoding));
	}
	return arena_strdup(of->scene.arena, strbuf_text(&out));
}

/* The caller asked whether the probe applies, so no field is missing. */
static const char *
render(const struct rendering *of, const struct template *template, enum template_encoding encoding)
{
	const char *text = joins_batch(template) ? render_joined(of, template, encoding)
						 : template_render(&of->scene, template, encoding);

	assert(text != NULL);
	return text;
}

static void
add_pair(struct strbuf *out, const char *name, const char *value)
{
	if (out->len > 0)
		strbuf_putc(out, '&');
	percent_add(out, name, strlen(name), false);
	strbuf_putc(out, '=');
	percent_add(out, value, strlen(value), false);
}

/* name=value&name=value, all of it encoded; also what a form is. NULL without any. */
static const char *
render_pairs(const struct rendering *of, const struct named_template *pairs, size_t count,
	     enum page_place place)
{
	CLEANUP(strbuf_finish) struct strbuf out = { 0 };
	const struct page_value *page = of->page.place == place ? &of->page : NULL;

	for (size_t i = 0; i < count; i++)
		if (page == NULL || strcmp(pairs[i].name, page->name) != 0)
			add_pair(&out, pairs[i].name, render(of, &pairs[i].value, TEMPLATE_PLAIN));
	if (page != NULL)
		add_pair(&out, page->name, page->text);
	return out.len == 0 ? NULL : arena_strdup(of->scene.arena, out.data);
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

/* One object for each value. */
static void
add_json_batch(const struct rendering *of, const char *name, struct strbuf *out)
{
	strbuf_putc(out, '[');
	for (size_t i = 0; i < of->batch.count; i++) {
		strbuf_puts(out, i == 0 ? "{" : ",{");
		add_json_text(out, name);
		strbuf_putc(out, ':');
		add_json_text(out, of->batch.texts[i]);
		strbuf_putc(out, '}');
	}
	strbuf_putc(out, ']');
}

static void add_json(const struct rendering *of, const struct json_template *json,
		     struct strbuf *out);

static void
add_json_children(const struct rendering *of, const struct json_template *json, struct strbuf *out)
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
		add_json(of, &json->children[i], out);
	}
	strbuf_putc(out, is_object ? '}' : ']');
}

static void
add_json(const struct rendering *of, const struct json_template *json, struct strbuf *out)
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
		add_json_text(out, render(of, &json->text, TEMPLATE_PLAIN));
		return;
	case VALUE_LIST:
	case VALUE_OBJECT:
		if (json->batch_name != NULL)
			add_json_batch(of, json->batch_name, out);
		else
			add_json_children(of, json, out);
		return;
	}
}

static void
add_page_member(const struct page_value *page, struct strbuf *out)
{
	add_json_text(out, page->name);
	strbuf_putc(out, ':');
	if (page->is_number && number_is_valid(page->text, strlen(page->text)))
		strbuf_puts(out, page->text);
	else
		add_json_text(out, page->text);
}

/* The members of an object, with one of them replaced by the page. */
static void
add_paged_object(const struct rendering *of, const struct json_template *json, struct strbuf *out)
{
	strbuf_putc(out, '{');
	for (size_t i = 0; i < json->count; i++) {
		if (strcmp(json->children[i].name, of->page.name) == 0)
			continue;
		add_json_text(out, json->children[i].name);
		strbuf_putc(out, ':');
		add_json(of, &json->children[i], out);
		strbuf_putc(out, ',');
	}
	add_page_member(&of->page, out);
	strbuf_putc(out, '}');
}

static const char *
render_json(const struct rendering *of, const struct json_template *json)
{
	CLEANUP(strbuf_finish) struct strbuf out = { 0 };

	if (of->page.place == PAGE_IN_JSON)
		add_paged_object(of, json, &out);
	else
		add_json(of, json, &out);
	return arena_strdup(of->scene.arena, strbuf_text(&out));
}

static const char *
render_form(const struct rendering *of)
{
	const char *text = render_pairs(of, of->probe->form, of->probe->form_count, PAGE_IN_FORM);

	return text != NULL ? text : "";
}

static const char *
render_body(const struct rendering *of)
{
	switch (of->probe->body) {
	case BODY_NONE:
		return NULL;
	case BODY_JSON:
		return render_json(of, of->probe->json);
	case BODY_FORM:
		return render_form(of);
	case BODY_TEXT:
		return render(of, &of->probe->text, TEMPLATE_PLAIN);
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
render_headers(const struct rendering *of, struct request *request)
{
	const struct probe *probe = of->probe;
	struct arena *arena = of->scene.arena;
	struct header *headers = arena_array(arena, struct header, probe->headers_count + 1);
	size_t n = 0;

	headers[n++] = (struct header){ "cache-control", "no-cache" };
	for (size_t i = 0; i < probe->headers_count; i++) {
		struct header header = {
			.name = lower_ascii(arena, probe->headers[i].name,
					    strlen(probe->headers[i].name)),
			.value = render(of, &probe->headers[i].value, TEMPLATE_PLAIN),
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

/* What of the question needs more than one template. */
static struct rendering
rendering_of(struct arena *arena, const struct question *question)
{
	const struct probe *probe = question->probe;
	struct rendering of = {
		.probe = probe,
		.scene = { .arena = arena,
			   .op = question->ops_count > 0 ? question->ops[0] : NULL },
		.page = page_value(arena, probe, &question->page),
	};

	if (probe->batch_max > 0)
		of.batch = batch_values(arena, question);
	return of;
}

const struct request *
request_render(struct arena *arena, const struct question *question)
{
	const struct probe *probe = question->probe;
	const struct rendering of = rendering_of(arena, question);
	struct request *request = arena_new(arena, struct request);

	request->method = probe->method;
	request->path = render(&of, &probe->path, TEMPLATE_SEGMENT);
	request->link = question->page.link;
	if (request->link == NULL)
		request->query = render_pairs(&of, probe->query, probe->query_count, PAGE_IN_QUERY);
	request->body = render_body(&of);
	if (request->body != NULL) {
		request->body_len = strlen(request->body);
		request->content_type = content_type_of(probe->body);
	}
	render_headers(&of, request);
	request->url_template = url_template(arena, probe);
	return request;
}
