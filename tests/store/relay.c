/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes are copied as they come; when one side ends, both do.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>

#include "relay.h"
#include "store_test.h"

struct relay {
	struct evconnlistener *listener;
	const char *socket_path; /* NULL: takes what comes and hands nothing on */
	int port;
};

static void
on_relayed(struct bufferevent *from, void *to)
{
	bufferevent_write_buffer(to, bufferevent_get_input(from));
}

static void
on_dropped(struct bufferevent *from, void *arg)
{
	evbuffer_drain(bufferevent_get_input(from),
		       evbuffer_get_length(bufferevent_get_input(from)));
}

static void
on_over(struct bufferevent *from, short what, void *to)
{
	if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
		return;
	bufferevent_free(from);
	if (to)
		bufferevent_free(to);
}

static void
hand_on(struct bufferevent *client, const char *socket_path)
{
	struct bufferevent *server = bufferevent_socket_new(test_base(), -1, BEV_OPT_CLOSE_ON_FREE);
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	snprintf(to.sun_path, sizeof(to.sun_path), "%s/.s.PGSQL.5432", socket_path);
	bufferevent_socket_connect(server, (struct sockaddr *)&to, sizeof(to));
	bufferevent_setcb(client, on_relayed, NULL, on_over, server);
	bufferevent_setcb(server, on_relayed, NULL, on_over, client);
	bufferevent_enable(server, EV_READ | EV_WRITE);
}

static void
on_accepted(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int len,
	    void *arg)
{
	const struct relay *relay = arg;
	struct bufferevent *client = bufferevent_socket_new(test_base(), fd, BEV_OPT_CLOSE_ON_FREE);

	if (relay->socket_path)
		hand_on(client, relay->socket_path);
	else
		bufferevent_setcb(client, on_dropped, NULL, on_over, NULL);
	bufferevent_enable(client, EV_READ | EV_WRITE);
}

struct relay *
relay_create(const char *socket_path, const char *address, int port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	socklen_t len = sizeof(at);
	struct relay *relay = calloc(1, sizeof(*relay));

	inet_pton(AF_INET, address, &at.sin_addr);
	relay->socket_path = socket_path;
	relay->listener = evconnlistener_new_bind(test_base(), on_accepted, relay,
						  LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE, 8,
						  (struct sockaddr *)&at, sizeof(at));
	if (!relay->listener) {
		perror("relay");
		abort();
	}
	getsockname(evconnlistener_get_fd(relay->listener), (struct sockaddr *)&at, &len);
	relay->port = ntohs(at.sin_port);
	return relay;
}

struct relay *
relay_create_silent(const char *address, int port)
{
	return relay_create(NULL, address, port);
}

int
relay_port(const struct relay *relay)
{
	return relay->port;
}

void
relay_destroy(struct relay *relay)
{
	evconnlistener_free(relay->listener);
	free(relay);
}

int
relay_closed_port(void)
{
	struct relay *relay = relay_create_silent("127.0.0.1", 0);
	int port = relay->port;

	relay_destroy(relay);
	return port;
}
