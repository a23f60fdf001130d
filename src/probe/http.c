/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything sent goes below the target's base, see address.h. Redirects are not followed (net), so
 * that credentials reach this origin only.
 */
#include "http.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "address.h"
#include "lines.h"
#include "login.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/log.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/net/curl_loop.h"

struct http_peer {
	struct curl_peer *curl;
	const struct target_rules *rules;
	struct origin origin;
	struct login *login;
	struct lines lines; /* of one request, reused */
};

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

static struct curl_peer_options
peer_options(const struct probe_target_options *options)
{
	return (struct curl_peer_options){
		.connections = options->concurrent,
		.connect_timeout_us = options->connect_timeout_us,
		.total_timeout_us = options->total_timeout_us,
		.max_body_bytes = options->max_body_bytes,
		.ca_file = options->ca_file,
		.cert_file = options->cert_file,
		.key_file = options->key_file,
		.key_text = options->key_text,
		.tls_min = options->tls_min,
		.unix_socket = options->unix_socket,
		.proxy = options->proxy,
	};
}

struct http_peer *
http_peer_create(struct curl_loop *curl, const struct probe_target_options *options)
{
	struct http_peer *peer = xcalloc(1, sizeof(*peer));
	struct curl_peer_options of_curl = peer_options(options);
	struct lines lines = { 0 };

	peer->rules = options->rules;
	origin_init(&peer->origin, options->base);
	peer->login = login_create(curl, options, &of_curl);
	add_headers(&lines, options);
	login_add_fixed(peer->login, &lines);
	of_curl.headers = (const char *const *)lines.text;
	of_curl.headers_count = lines.count;
	peer->curl = curl_peer_create(curl, &of_curl);
	lines_finish(&lines);
	return peer;
}

void
http_peer_destroy(struct http_peer *peer)
{
	if (peer == NULL)
		return;
	curl_peer_destroy(peer->curl);
	login_destroy(peer->login);
	lines_finish(&peer->lines);
	free(peer);
}

void
http_peer_inherit(struct http_peer *peer, const struct http_peer *before)
{
	login_inherit(peer->login, before->login);
}

/* False: it must not be sent. */
static bool
find_address(const struct http_query *query, struct address *ret_address)
{
	const struct request *request = query->request;
	const struct http_peer *peer = query->peer;
	bool below;

	if (request->link != NULL)
		below = query->url != NULL &&
			address_follow(query->arena, &peer->origin, query->url, request->link,
				       ret_address);
	else
		below = address_of(query->arena, &peer->origin, request, ret_address);
	if (!below)
		log_error(request->link != NULL
				  ? "next page not asked, its link leaves the base of the target"
				  : "request not sent, its path leaves the base of the target",
			  F_STR("target", peer->rules->target), F_STR("probe", query->probe->name));
	return below;
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

/* The last page is this one. */
static void
keep_page(struct http_query *query, struct response *response)
{
	size_t index = (size_t)query->page.index;
	struct exchange *pages = arena_array(query->arena, struct exchange, index + 1);

	assert(index <= query->pages_count);
	response_read(query->arena, query->probe, response);
	response->body = NULL; /* the bytes belong to the transfer */
	for (size_t i = 0; i < index; i++)
		pages[i] = query->pages[i];
	pages[index] = (struct exchange){ query->request, response };
	query->pages = pages;
	query->pages_count = index + 1;
}

static void
keep_fault(struct http_query *query, enum reason reason)
{
	struct response *response = arena_new(query->arena, struct response);

	*response = (struct response){ .fault = reason };
	keep_page(query, response);
}

/* A token that the target does not take is replaced once; before the answer is judged, as nothing
 * of it is about the question. */
static bool
is_worth_a_login(struct http_query *query, const struct transfer_result *result)
{
	if (result->fault != TRANSFER_OK || result->status != 401 || query->login_renewed)
		return false;
	return login_refused(query->peer->login, query->login_number);
}

static void
on_transfer(void *owner, const struct transfer_result *result)
{
	struct http_query *query = owner;
	struct response *response;

	query->transfer = NULL;
	if (is_worth_a_login(query, result)) {
		query->login_renewed = true;
		query->done(query->owner, HTTP_AGAIN);
		return;
	}
	response = copy_response(query->arena, result);
	if (query->strays && query->request->link != NULL)
		response->fault = REASON_INCOMPLETE; /* there is more, and we do not go there */
	keep_page(query, response);
	query->done(query->owner, HTTP_ANSWERED);
}

static void
render(struct http_query *query)
{
	const struct question question = { .probe = query->probe,
					   .ops = query->ops,
					   .ops_count = query->ops_count,
					   .page = query->page };

	query->request = request_render(query->arena, &question);
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

/* What the question says, and what the login adds, which does not go into the arena. */
static const char *const *
header_lines(const struct http_query *query, size_t *ret_count)
{
	const struct request *request = query->request;
	const struct lines *login = &query->peer->lines;
	size_t count = 0;
	const char **lines =
		arena_array(query->arena, const char *, request->headers_count + 1 + login->count);

	for (size_t i = 0; i < request->headers_count; i++)
		lines[count++] = header_line(query->arena, request->headers[i].name,
					     request->headers[i].value);
	if (request->body != NULL && request->content_type != NULL)
		lines[count++] = header_line(query->arena, "content-type", request->content_type);
	for (size_t i = 0; i < login->count; i++)
		lines[count++] = login->text[i];
	*ret_count = count;
	return lines;
}

static void
sign(struct http_query *query, const struct address *address)
{
	const struct request *request = query->request;
	const struct outgoing out = {
		.method = http_method_name(request->method),
		.host = query->peer->origin.host,
		.path = address->path,
		.query = address->query,
		.headers = request->headers,
		.headers_count = request->headers_count,
		.content_type = request->body != NULL ? request->content_type : NULL,
		.body = request->body != NULL ? request->body : "",
		.body_len = request->body_len,
	};

	query->login_number = login_sign(query->peer->login, &out, &query->peer->lines);
}

/* An empty address fails in the loop like any other request that cannot be sent. */
static void
send_request(struct http_query *query)
{
	struct http_peer *peer = query->peer;
	const struct request *request = query->request;
	struct address address = { .url = "" };
	struct transfer_request sent = { .method = methods[request->method],
					 .body = request->body,
					 .body_len = request->body_len };

	query->strays = !find_address(query, &address);
	if (!query->strays)
		sign(query, &address);
	if (query->probe->pages.kind == PAGING_LINK)
		query->url = address.url;
	sent.url = address.url;
	sent.headers = header_lines(query, &sent.headers_count);
	query->transfer = transfer_start(peer->curl, &sent, on_transfer, query);
	lines_reset(&peer->lines);
}

static void
on_token(void *owner, enum reason fault)
{
	struct http_query *query = owner;

	query->waits = false;
	if (fault == REASON_COUNT && !login_is_ready(query->peer->login))
		fault = REASON_TRANSPORT; /* it was not valid for long enough to be used */
	if (fault == REASON_COUNT) {
		send_request(query);
		return;
	}
	keep_fault(query, fault);
	query->done(query->owner, HTTP_ANSWERED);
}

void
http_start(struct http_peer *peer, struct http_query *query)
{
	query->peer = peer;
	render(query);
	query->waits = !login_is_ready(peer->login);
	if (!query->waits) {
		send_request(query);
		return;
	}
	query->waiter = (struct token_waiter){ .done = on_token, .owner = query };
	login_wait(peer->login, &query->waiter);
}

void
http_leave(struct http_peer *peer, struct http_query *query, enum reason reason)
{
	query->peer = peer;
	render(query);
	keep_fault(query, reason);
}

const struct reading *
http_reading(const struct http_query *query, struct arena *arena, const struct operation *op)
{
	const struct answer answer = { .rules = query->peer->rules,
				       .probe = query->probe,
				       .op = op,
				       .pages = query->pages,
				       .count = query->pages_count };

	return reading_judge(arena, &answer);
}

void
http_cancel(struct http_query *query)
{
	if (query->waits)
		login_unwait(query->peer->login, &query->waiter);
	if (query->transfer != NULL)
		transfer_cancel(query->transfer);
	query->waits = false;
	query->transfer = NULL;
}
