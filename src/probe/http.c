/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything sent goes to the target's base: the address is base, path and query put one after the
 * other, and a path that would climb out is not sent. Redirects are not followed (net), so that
 * credentials reach this origin only.
 */
#include "http.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <openssl/evp.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/log.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/net/curl_loop.h"

struct http_peer {
	struct curl_peer *curl;
	const struct target_rules *rules;
	const char *base;
	struct strbuf url; /* reused from request to request */
};

/* Lines under construction; they hold credentials and are wiped. */
struct lines {
	char **text;
	size_t count;
};

static void
lines_add(struct lines *lines, const char *name, const char *prefix, const char *value)
{
	struct strbuf line = { 0 };

	strbuf_printf(&line, "%s: %s%s", name, prefix, value);
	lines->text = xrealloc(lines->text, lines->count + 1, sizeof(*lines->text));
	lines->text[lines->count++] = strbuf_take(&line);
}

static void
lines_finish(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++) {
		explicit_bzero(lines->text[i], strlen(lines->text[i]));
		free(lines->text[i]);
	}
	free(lines->text);
}

static void
add_basic(struct lines *lines, const char *user, const char *password)
{
	struct strbuf plain = { 0 };
	unsigned char *coded;

	strbuf_printf(&plain, "%s:%s", user, password);
	coded = xcalloc(plain.len / 3 * 4 + 8, 1);
	EVP_EncodeBlock(coded, (const unsigned char *)plain.data, (int)plain.len);
	lines_add(lines, "authorization", "Basic ", (const char *)coded);
	explicit_bzero(coded, plain.len / 3 * 4 + 8);
	explicit_bzero(plain.data, plain.len);
	free(coded);
	strbuf_finish(&plain);
}

static void
add_credentials(struct lines *lines, const struct probe_target_options *options)
{
	switch (options->auth) {
	case AUTH_SCHEME_NONE:
		break;
	case AUTH_SCHEME_BEARER:
		lines_add(lines, "authorization", "Bearer ", options->auth_secret);
		break;
	case AUTH_SCHEME_BASIC:
		add_basic(lines, options->auth_user, options->auth_secret);
		break;
	case AUTH_SCHEME_HEADER:
		lines_add(lines, options->auth_header, "", options->auth_secret);
		break;
	}
}

static bool
is_given(const struct probe_target_options *options, const char *name)
{
	for (size_t i = 0; i < options->headers_count; i++)
		if (strcasecmp(options->headers[i].name, name) == 0)
			return true;
	return false;
}

static void
add_headers(struct lines *lines, const struct probe_target_options *options)
{
	if (!is_given(options, "accept"))
		lines_add(lines, "accept", "", "application/json");
	for (size_t i = 0; i < options->headers_count; i++)
		lines_add(lines, options->headers[i].name, "", options->headers[i].value);
}

struct http_peer *
http_peer_create(struct curl_loop *curl, const struct probe_target_options *options)
{
	struct http_peer *peer = xcalloc(1, sizeof(*peer));
	struct lines lines = { 0 };

	add_headers(&lines, options);
	add_credentials(&lines, options);
	peer->rules = options->rules;
	peer->base = options->base;
	peer->curl =
		curl_peer_create(curl, &(struct curl_peer_options){
					       .connections = options->concurrent,
					       .connect_timeout_us = options->connect_timeout_us,
					       .total_timeout_us = options->total_timeout_us,
					       .max_body_bytes = options->max_body_bytes,
					       .ca_file = options->ca_file,
					       .headers = (const char *const *)lines.text,
					       .headers_count = lines.count,
				       });
	lines_finish(&lines);
	return peer;
}

void
http_peer_destroy(struct http_peer *peer)
{
	if (peer == NULL)
		return;
	curl_peer_destroy(peer->curl);
	strbuf_finish(&peer->url);
	free(peer);
}

/* Length of a "." at the text, plain or percent-encoded; 0: none. */
static size_t
dot(const char *text)
{
	if (*text == '.')
		return 1;
	return strncasecmp(text, "%2e", 3) == 0 ? 3 : 0;
}

static bool
is_dot_segment(const char *segment)
{
	size_t first = dot(segment), second;

	if (first == 0)
		return false;
	second = dot(segment + first);
	return strchr("/", segment[first + second]) != NULL;
}

static bool
stays_below(const struct request *request)
{
	if (request->path[0] != '/' || strpbrk(request->path, "?#\\") != NULL)
		return false;
	for (const char *slash = request->path; slash != NULL; slash = strchr(slash + 1, '/'))
		if (is_dot_segment(slash + 1))
			return false;
	return request->query == NULL || strchr(request->query, '#') == NULL;
}

/* "" when it may not be sent; net reports that like any other request that fails. */
static const char *
address(struct http_peer *peer, const struct http_query *query)
{
	const struct request *request = query->request;

	if (!stays_below(request)) {
		log_error("request not sent, its path leaves the base of the target",
			  F_STR("target", peer->rules->target), F_STR("probe", query->probe->name));
		return "";
	}
	strbuf_reset(&peer->url);
	strbuf_puts(&peer->url, peer->base);
	strbuf_puts(&peer->url, request->path);
	if (request->query != NULL && request->query[0] != '\0') {
		strbuf_putc(&peer->url, '?');
		strbuf_puts(&peer->url, request->query);
	}
	return strbuf_text(&peer->url);
}

static const char *
header_line(struct arena *arena, const char *name, const char *value)
{
	size_t name_len = strlen(name), value_len = strlen(value);
	char *line = arena_alloc(arena, name_len + 2 + value_len + 1);

	memcpy(line, name, name_len);
	memcpy(line + name_len, ": ", 2);
	memcpy(line + name_len + 2, value, value_len);
	return line;
}

static const char *const *
header_lines(struct arena *arena, const struct request *request, size_t *ret_count)
{
	size_t count = 0;
	const char **lines = arena_array(arena, const char *, request->headers_count + 1);

	for (size_t i = 0; i < request->headers_count; i++)
		lines[count++] =
			header_line(arena, request->headers[i].name, request->headers[i].value);
	if (request->body != NULL && request->content_type != NULL)
		lines[count++] = header_line(arena, "content-type", request->content_type);
	*ret_count = count;
	return lines;
}

static const enum transfer_method methods[] = {
	[METHOD_GET] = TRANSFER_GET,
	[METHOD_HEAD] = TRANSFER_HEAD,
	[METHOD_POST] = TRANSFER_POST,
};

static const enum reason reasons[] = {
	[TRANSFER_OK] = REASON_COUNT,
	[TRANSFER_TIMEOUT] = REASON_TIMEOUT,
	[TRANSFER_REFUSED] = REASON_REFUSED,
	[TRANSFER_DNS] = REASON_DNS,
	[TRANSFER_TLS] = REASON_TLS,
	[TRANSFER_TRUNCATED] = REASON_TRUNCATED,
	[TRANSFER_TOO_LARGE] = REASON_TOO_LARGE,
	[TRANSFER_FAILED] = REASON_TRANSPORT,
};

static const struct header *
copy_headers(struct arena *arena, const struct transfer_result *result)
{
	struct header *headers = arena_array(arena, struct header, result->headers_count);

	for (size_t i = 0; i < result->headers_count; i++) {
		headers[i].name = arena_strdup(arena, result->headers[i].name);
		headers[i].value = arena_strdup(arena, result->headers[i].value);
	}
	return headers;
}

static struct response *
copy_response(struct arena *arena, const struct transfer_result *result)
{
	struct response *response = arena_new(arena, struct response);

	*response = (struct response){
		.fault = reasons[result->fault],
		.status = result->status,
		.headers = copy_headers(arena, result),
		.headers_count = result->headers_count,
		.body = result->body,
		.body_len = result->body_len,
		.elapsed_us = result->elapsed_us,
	};
	return response;
}

static const struct reading *
judge(const struct http_query *query, const struct response *response)
{
	struct exchange *page = arena_new(query->arena, struct exchange);
	const struct answer answer = { .rules = query->peer->rules,
				       .probe = query->probe,
				       .op = query->op,
				       .pages = page,
				       .count = 1 };

	*page = (struct exchange){ query->request, response };
	return reading_judge(query->arena, &answer);
}

static const struct request *
render(const struct http_query *query)
{
	const struct question question = { .probe = query->probe,
					   .ops = &query->op,
					   .ops_count = query->op != NULL };

	return request_render(query->arena, &question);
}

static void
on_transfer(void *owner, const struct transfer_result *result)
{
	struct http_query *query = owner;
	struct response *response = copy_response(query->arena, result);

	response_read(query->arena, query->probe, response);
	response->body = NULL; /* the bytes belong to the transfer */
	query->transfer = NULL;
	query->done(query->owner, judge(query, response));
}

void
http_start(struct http_peer *peer, struct http_query *query)
{
	struct transfer_request sent = { 0 };

	query->peer = peer;
	query->request = render(query);
	sent.method = methods[query->request->method];
	sent.url = address(peer, query);
	sent.headers = header_lines(query->arena, query->request, &sent.headers_count);
	sent.body = query->request->body;
	sent.body_len = query->request->body_len;
	query->transfer = transfer_start(peer->curl, &sent, on_transfer, query);
}

const struct reading *
http_unasked(struct http_peer *peer, struct http_query *query, enum reason reason)
{
	struct response *response = arena_new(query->arena, struct response);

	*response = (struct response){ .fault = reason };
	query->peer = peer;
	query->request = render(query);
	response_read(query->arena, query->probe, response);
	return judge(query, response);
}

void
http_cancel(struct http_query *query)
{
	if (query->transfer != NULL)
		transfer_cancel(query->transfer);
	query->transfer = NULL;
}
