/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTTP server: listens on loopback or a unix socket, takes requests apart, hands them to the
 * object or the admin API. It may refuse connections for a while, by closing its socket.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"
#include "sim.h"

enum { BODY_BYTES_MAX = 16 << 20, HEADER_BYTES_MAX = 32 << 10, IDLE_SECONDS = 900, BACKLOG = 512 };

union address {
	struct sockaddr any;
	struct sockaddr_in ip4;
	struct sockaddr_in6 ip6;
	struct sockaddr_un local;
};

static const struct {
	enum evhttp_cmd_type command;
	const char *name;
} methods[] = {
	{ EVHTTP_REQ_GET, "GET" }, { EVHTTP_REQ_HEAD, "HEAD" },	    { EVHTTP_REQ_POST, "POST" },
	{ EVHTTP_REQ_PUT, "PUT" }, { EVHTTP_REQ_DELETE, "DELETE" },
};

static const char *
method_of(const struct evhttp_request *request)
{
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		if (methods[i].command == evhttp_request_get_command(request))
			return methods[i].name;
	}
	return "";
}

static void
take_query(struct call *call, const struct evhttp_uri *uri)
{
	struct evkeyvalq pairs;
	const char *text = evhttp_uri_get_query(uri);
	call->query = json_object();
	if (!text || evhttp_parse_query_str(text, &pairs) != 0)
		return;
	for (const struct evkeyval *pair = pairs.tqh_first; pair; pair = pair->next.tqe_next)
		json_object_set_new(call->query, pair->key, json_string(pair->value));
	evhttp_clear_headers(&pairs);
}

/* More segments than there is room for: counted, not kept. */
static void
take_path(struct call *call, const struct evhttp_uri *uri)
{
	const char *at = evhttp_uri_get_path(uri);
	while (at && *at == '/') {
		size_t len = strcspn(++at, "/");
		if (call->segments_count < SEGMENTS_MAX && len) {
			char *raw = xstrndup(at, len);
			call->segments[call->segments_count] = evhttp_uridecode(raw, 0, NULL);
			free(raw);
		}
		call->segments_count += len > 0;
		at += len;
	}
	if (call->segments_count > SEGMENTS_MAX)
		call->segments_count = 0;
}

static void
take_body(struct call *call)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(call->request);
	size_t len = evbuffer_get_length(in);
	if (len)
		call->body = json_loadb((const char *)evbuffer_pullup(in, -1), len,
					JSON_REJECT_DUPLICATES, NULL);
}

static void
call_finish(struct call *call)
{
	for (size_t i = 0; i < SEGMENTS_MAX; i++)
		free(call->segments[i]);
	json_decref(call->query);
	json_decref(call->body);
}

static void
on_request(struct evhttp_request *request, void *arg)
{
	struct sim *sim = arg;
	struct call call = { .sim = sim, .request = request, .method = method_of(request) };
	struct answer answer = { 0 };
	struct plan plan = { 0 };
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	call.now_us = clock_monotonic_us();
	take_path(&call, uri);
	take_query(&call, uri);
	take_body(&call);
	if (call.now_us < sim->refusing_us)
		plan.lose = DELIVERY_CLOSE;
	else if (call.segments_count && strcmp(call.segments[0], "_sim") == 0)
		admin_serve(&call, &answer);
	else
		api_serve(&call, &answer, &plan);
	deliver(sim, request, &answer, &plan);
	call_finish(&call);
}

static bool
is_loopback(const union address *address)
{
	if (address->any.sa_family == AF_INET)
		return ntohl(address->ip4.sin_addr.s_addr) >> 24 == 127;
	return address->any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&address->ip6.sin6_addr);
}

static bool
unix_address(const char *path, union address *ret, int *ret_len, struct err *err)
{
	if (strlen(path) >= sizeof(ret->local.sun_path))
		return err_set(err, ERR_INVALID, "socket path \"%s\" is too long", path);
	ret->local.sun_family = AF_UNIX;
	memcpy(ret->local.sun_path, path, strlen(path) + 1);
	*ret_len = sizeof(ret->local);
	unlink(path);
	return true;
}

static bool
numeric_address(char *host, const char *port, union address *ret, int *ret_len)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
					.ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	size_t len = strlen(host);
	if (host[0] == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		host++;
	}
	if (getaddrinfo(strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, port, &hints,
			&found) != 0)
		return false;
	memcpy(ret, found->ai_addr, found->ai_addrlen);
	*ret_len = (int)found->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

static bool
address_of(const char *text, union address *ret, int *ret_len, struct err *err)
{
	char host[80];
	const char *colon = strrchr(text, ':');
	if (strncmp(text, "unix:", 5) == 0)
		return unix_address(text + 5, ret, ret_len, err);
	if (!colon || colon == text || colon - text >= (ptrdiff_t)sizeof(host))
		return err_set(err, ERR_INVALID, "\"%s\" is no HOST:PORT or unix:PATH", text);
	memcpy(host, text, (size_t)(colon - text));
	host[colon - text] = '\0';
	if (!numeric_address(host, colon + 1, ret, ret_len))
		return err_set(err, ERR_INVALID, "\"%s\" is no HOST:PORT or unix:PATH", text);
	if (!is_loopback(ret))
		return err_set(err, ERR_INVALID, "\"%s\" is not loopback", text);
	return true;
}

static char *
address_text(evutil_socket_t fd)
{
	union address bound = { 0 };
	socklen_t len = sizeof(bound);
	char host[INET6_ADDRSTRLEN];
	struct strbuf text = { 0 };
	getsockname(fd, &bound.any, &len);
	if (bound.any.sa_family == AF_INET)
		strbuf_printf(&text, "%s:%d",
			      inet_ntop(AF_INET, &bound.ip4.sin_addr, host, sizeof(host)),
			      ntohs(bound.ip4.sin_port));
	else
		strbuf_printf(&text, "[%s]:%d",
			      inet_ntop(AF_INET6, &bound.ip6.sin6_addr, host, sizeof(host)),
			      ntohs(bound.ip6.sin6_port));
	return strbuf_take(&text);
}

static bool
open_socket(struct sim *sim, struct err *err)
{
	union address address = { 0 };
	int len = 0;
	if (!address_of(sim->listen, &address, &len, err))
		return false;
	unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE;
	struct evconnlistener *listener =
		evconnlistener_new_bind(sim->base, NULL, NULL, flags, BACKLOG, &address.any, len);
	if (!listener)
		return err_set(err, ERR_TRANSIENT, "could not listen on \"%s\": %s", sim->listen,
			       strerror(errno));
	sim->bound = evhttp_bind_listener(sim->http, listener);
	if (address.any.sa_family != AF_UNIX) {
		free(sim->listen);
		sim->listen = address_text(evconnlistener_get_fd(listener));
	}
	return true;
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct sim *sim = arg;
	books_flush(sim->books);
	deliver_drop_hanging(sim, false);
	if (sim->stopping && !sim->pending)
		event_base_loopexit(sim->base, NULL);
}

static void
close_socket(struct sim *sim)
{
	if (sim->bound)
		evhttp_del_accept_socket(sim->http, sim->bound);
	sim->bound = NULL;
}

static void
on_reopen(evutil_socket_t fd, short what, void *arg)
{
	struct sim *sim = arg;
	struct err err = { 0 };
	if (sim->stopping)
		return;
	if (open_socket(sim, &err))
		sim->refusing_us = 0;
	else
		timer_set(sim->reopen, SECOND / 10);
}

bool
server_refuse(struct sim *sim, int64_t for_us, struct err *err)
{
	if (for_us <= 0 || for_us > HOUR)
		return err_set(err, ERR_INVALID, "refusing is for more than 0s and at most 1h");
	sim->refusing_us = clock_monotonic_us() + for_us;
	close_socket(sim);
	timer_set(sim->reopen, for_us);
	return true;
}

static void
on_stop(evutil_socket_t signal, short what, void *arg)
{
	server_stop(arg);
}

void
server_stop(struct sim *sim)
{
	const struct timeval grace = { .tv_sec = 2 };
	sim->stopping = true;
	close_socket(sim);
	deliver_drop_hanging(sim, true);
	event_base_loopexit(sim->base, sim->pending ? &grace : NULL);
}

bool
server_start(struct sim *sim, struct err *err)
{
	sim->http = evhttp_new(sim->base);
	evhttp_set_allowed_methods(sim->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST |
						      EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE);
	evhttp_set_default_content_type(sim->http, NULL);
	evhttp_set_max_body_size(sim->http, BODY_BYTES_MAX);
	evhttp_set_max_headers_size(sim->http, HEADER_BYTES_MAX);
	evhttp_set_timeout(sim->http, IDLE_SECONDS);
	evhttp_set_gencb(sim->http, on_request, sim);
	sim->tick = event_new(sim->base, -1, EV_PERSIST, on_tick, sim);
	sim->reopen = evtimer_new(sim->base, on_reopen, sim);
	sim->stop[0] = evsignal_new(sim->base, SIGTERM, on_stop, sim);
	sim->stop[1] = evsignal_new(sim->base, SIGINT, on_stop, sim);
	timer_set(sim->tick, SECOND / 5);
	event_add(sim->stop[0], NULL);
	event_add(sim->stop[1], NULL);
	return open_socket(sim, err);
}

void
server_finish(struct sim *sim)
{
	struct event *events[] = { sim->tick, sim->reopen, sim->stop[0], sim->stop[1] };
	deliver_all_now(sim);
	if (sim->http)
		evhttp_free(sim->http);
	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		if (events[i])
			event_free(events[i]);
	}
	if (sim->listen && strncmp(sim->listen, "unix:", 5) == 0)
		unlink(sim->listen + 5);
}
