/* SPDX-License-Identifier: Apache-2.0
 *
 * Accepts up to a limit, and says what is where. An answer that comes later finds its connection
 * through the request, or finds it gone.
 */
#include "reconciled/web/server.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/listener.h>

#include "connection.h"
#include "listener.h"
#include "reconciled/base/err.h"
#include "reconciled/base/log.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"
#include "request_head.h"

enum {
	CONNECTIONS_MAX = 64,
	PAUSE_SECONDS = 1, /* after an accept that failed: for want of descriptors, as a rule */
};

struct web_request {
	struct web_server *server;
	struct connection *connection; /* NULL: gone, and perhaps the server with it */
};

/* A connection, and the request that is answered later. */
struct seat {
	struct connection *connection;
	struct web_request *request;
};

struct web_server {
	struct web_handlers handlers;
	struct connection_owner owner;
	struct listener listener;
	struct evconnlistener *accepting;
	struct event *pause;
	struct seat seats[CONNECTIONS_MAX];
};

static struct seat *
seat_of(struct web_server *server, const struct connection *connection)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (server->seats[i].connection == connection)
			return &server->seats[i];
	return NULL;
}

static void
set_request(struct web_server *server, const struct connection *connection,
	    struct web_request *request)
{
	struct seat *seat = seat_of(server, connection);

	assert(seat != NULL);
	seat->request = request;
}

static void
answer_text(struct connection *connection, int status, const char *text)
{
	connection_answer(
		connection,
		&(struct answer){ .status = status, .body = text, .body_bytes = strlen(text) });
}

static void
serve_healthz(struct web_server *server, struct connection *connection)
{
	answer_text(connection, 200, "ok\n");
}

static void
serve_readyz(struct web_server *server, struct connection *connection)
{
	const char *why = server->handlers.not_ready(server->handlers.owner);
	struct strbuf line = { 0 };

	if (why == NULL) {
		answer_text(connection, 200, "ready\n");
		return;
	}
	strbuf_printf(&line, "%s\n", why);
	answer_text(connection, 503, strbuf_text(&line));
	strbuf_finish(&line);
}

static void
serve_metrics(struct web_server *server, struct connection *connection)
{
	struct web_request *request = xcalloc(1, sizeof(*request));

	request->server = server;
	request->connection = connection;
	set_request(server, connection, request);
	server->handlers.metrics(server->handlers.owner, request);
}

static const struct route {
	const char *path;
	void (*serve)(struct web_server *server, struct connection *connection);
} routes[] = {
	{ "/healthz", serve_healthz },
	{ "/readyz", serve_readyz },
	{ "/metrics", serve_metrics },
};

static bool
is_text(const char *bytes, size_t len, const char *text)
{
	return strlen(text) == len && memcmp(bytes, text, len) == 0;
}

static const struct route *
find_route(const struct request_head *head)
{
	for (size_t i = 0; i < ARRAY_LEN(routes); i++)
		if (is_text(head->path, head->path_len, routes[i].path))
			return &routes[i];
	return NULL;
}

static void
on_request(void *owner, struct connection *connection, const struct request_head *head)
{
	const struct route *route = find_route(head);

	if (route == NULL) {
		answer_text(connection, 404, "nothing is here\n");
		return;
	}
	if (!is_text(head->method, head->method_len, "GET") &&
	    !is_text(head->method, head->method_len, "HEAD")) {
		connection_answer(connection, &(struct answer){ .status = 405,
								.fields = "Allow: GET, HEAD\r\n",
								.body = "GET or HEAD\n",
								.body_bytes = 12 });
		return;
	}
	route->serve(owner, connection);
}

void
web_answer_metrics(struct web_request *request, const struct strbuf *text)
{
	struct connection *connection = request->connection;
	struct web_server *server;

	if (connection == NULL) {
		free(request);
		return;
	}
	server = request->server;
	set_request(server, connection, NULL);
	free(request);
	if (text == NULL)
		answer_text(connection, 503, "no numbers\n");
	else
		connection_answer(connection,
				  &(struct answer){ .status = 200,
						    .type = "text/plain; version=0.0.4; "
							    "charset=utf-8",
						    .body = strbuf_text(text),
						    .body_bytes = text->len });
}

static void
on_close(void *owner, struct connection *connection)
{
	struct seat *seat = seat_of(owner, connection);

	if (seat == NULL)
		return;
	if (seat->request != NULL)
		seat->request->connection = NULL;
	*seat = (struct seat){ 0 };
}

static void
on_accept(struct evconnlistener *accepting, evutil_socket_t fd, struct sockaddr *from, int from_len,
	  void *arg)
{
	struct web_server *server = arg;
	struct seat *seat = seat_of(server, NULL);

	if (seat == NULL)
		close(fd);
	else
		seat->connection = connection_create(&server->owner, fd);
}

static void
on_accept_failed(struct evconnlistener *accepting, void *arg)
{
	struct web_server *server = arg;

	log_warning("could not accept a connection; trying again in a second",
		    F_STR("error", strerror(errno)));
	evconnlistener_disable(accepting);
	timer_set(server->pause, PAUSE_SECONDS * SECOND);
}

static void
on_pause_over(evutil_socket_t fd, short what, void *arg)
{
	struct web_server *server = arg;

	evconnlistener_enable(server->accepting);
}

struct web_server *
web_server_create(struct event_base *base, const struct web_address *address,
		  const struct web_handlers *handlers, struct err *err)
{
	struct listener listener;
	struct web_server *server;

	if (!listener_open(&listener, address, err))
		return NULL;
	server = xcalloc(1, sizeof(*server));
	server->handlers = *handlers;
	server->listener = listener;
	server->owner = (struct connection_owner){
		.base = base, .on_request = on_request, .on_close = on_close, .owner = server
	};
	server->pause = evtimer_new(base, on_pause_over, server);
	server->accepting =
		evconnlistener_new(base, on_accept, server, LEV_OPT_CLOSE_ON_EXEC, 0, listener.fd);
	evconnlistener_set_error_cb(server->accepting, on_accept_failed);
	return server;
}

void
web_server_destroy(struct web_server *server)
{
	if (server == NULL)
		return;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (server->seats[i].connection != NULL)
			connection_destroy(server->seats[i].connection);
	evconnlistener_free(server->accepting);
	event_free(server->pause);
	listener_finish(&server->listener);
	free(server);
}

int
web_server_port(const struct web_server *server)
{
	return listener_port(&server->listener);
}
