/* SPDX-License-Identifier: Apache-2.0
 *
 * A state machine on a bufferevent. Requests that follow at once wait in the input buffer, whose
 * size is limited, until the answer before them is written: one for each turn of the loop.
 */
#include "connection.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

#include "reconciled/base/attributes.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"
#include "request_head.h"

enum state {
	READING,   /* head and body */
	ANSWERING, /* somebody else is at it */
	WRITING,
	LINGERING, /* our side is shut: what the client still sends is thrown away */
};

enum { REQUEST_SECONDS = 10, LINGER_SECONDS = 1 };

struct connection {
	const struct connection_owner *owner;
	struct bufferevent *stream;
	struct event *deadline;
	enum state state;
	size_t scanned;		       /* bytes of the input without the end of a line */
	size_t expected;	       /* bytes of head and body; 0: not known yet */
	bool keep_alive, without_body; /* of the answer */
	bool ended;		       /* the client sends nothing more */
};

static const struct {
	int status;
	const char *words;
} statuses[] = {
	{ 200, "OK" },
	{ 400, "Bad Request" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 408, "Request Timeout" },
	{ 411, "Length Required" },
	{ 413, "Content Too Large" },
	{ 417, "Expectation Failed" },
	{ 431, "Request Header Fields Too Large" },
	{ 503, "Service Unavailable" },
	{ 505, "HTTP Version Not Supported" },
};

static const char *
words_of(int status)
{
	for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
		if (statuses[i].status == status)
			return statuses[i].words;
	return "Error";
}

static void
set_deadline(struct connection *connection, int seconds)
{
	timer_set(connection->deadline, seconds * SECOND);
}

static void
put_date(struct evbuffer *out)
{
	time_t now = time(NULL);
	char text[40];
	struct tm at;

	if (gmtime_r(&now, &at) != NULL &&
	    strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &at) > 0)
		evbuffer_add_printf(out, "Date: %s\r\n", text);
}

static void
put_answer(struct connection *connection, const struct answer *answer)
{
	struct evbuffer *out = bufferevent_get_output(connection->stream);

	evbuffer_add_printf(out, "HTTP/1.1 %d %s\r\n", answer->status, words_of(answer->status));
	put_date(out);
	evbuffer_add_printf(out,
			    "Content-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
			    "X-Content-Type-Options: nosniff\r\n%s%s\r\n",
			    answer->type ? answer->type : "text/plain; charset=utf-8",
			    answer->body_bytes, answer->fields ? answer->fields : "",
			    connection->keep_alive ? "" : "Connection: close\r\n");
	if (!connection->without_body)
		evbuffer_add(out, answer->body, answer->body_bytes);
}

void
connection_answer(struct connection *connection, const struct answer *answer)
{
	assert(connection->state == ANSWERING);
	connection->state = WRITING;
	put_answer(connection, answer);
}

/* The connection ends with this answer. */
static void
refuse(struct connection *connection, int status, const char *why)
{
	connection->state = ANSWERING;
	connection->keep_alive = false;
	connection_answer(
		connection,
		&(struct answer){ .status = status, .body = why, .body_bytes = strlen(why) });
}

/*
 * A socket that is closed while input waits in it is reset, and the client may lose the answer. So
 * only our side is shut, and the client has a moment to see that.
 */
static void
linger(struct connection *connection)
{
	struct evbuffer *in = bufferevent_get_input(connection->stream);

	connection->state = LINGERING;
	shutdown(bufferevent_getfd(connection->stream), SHUT_WR);
	evbuffer_drain(in, evbuffer_get_length(in));
	set_deadline(connection, LINGER_SECONDS);
}

static void
take_request(struct connection *connection, const struct request_head *head)
{
	struct evbuffer *in = bufferevent_get_input(connection->stream);
	size_t bytes = connection->expected;

	connection->state = ANSWERING;
	connection->keep_alive = head->keep_alive;
	connection->without_body = head->method_len == 4 && memcmp(head->method, "HEAD", 4) == 0;
	connection->owner->on_request(connection->owner->owner, connection, head);
	evbuffer_drain(in, bytes);
	connection->scanned = 0;
	connection->expected = 0;
}

/* Parsing begins anew with each line that came: there is a limit to their number. */
static bool
has_new_line(struct connection *connection, const char *bytes, size_t len)
{
	size_t from = connection->scanned;

	connection->scanned = len;
	return memchr(bytes + from, '\n', len - from) != NULL;
}

static void
read_request(struct connection *connection)
{
	struct evbuffer *in = bufferevent_get_input(connection->stream);
	size_t len = evbuffer_get_length(in);
	struct request_head head;
	const char *bytes;

	if (len == 0 || len < connection->expected)
		return;
	bytes = (const char *)evbuffer_pullup(in, -1);
	if (!has_new_line(connection, bytes, len) && connection->expected == 0 &&
	    len < REQUEST_HEAD_MAX)
		return;
	switch (request_head_parse(&head, bytes, len)) {
	case HEAD_INCOMPLETE:
		return;
	case HEAD_REFUSED:
		refuse(connection, head.status, head.why);
		return;
	case HEAD_COMPLETE:
		break;
	}
	connection->expected = head.head_bytes + head.body_bytes;
	if (len >= connection->expected)
		take_request(connection, &head);
}

static void
on_read(struct bufferevent *stream, void *arg)
{
	struct connection *connection = arg;
	struct evbuffer *in = bufferevent_get_input(stream);

	if (connection->state == READING)
		read_request(connection);
	else if (connection->state == LINGERING)
		evbuffer_drain(in, evbuffer_get_length(in));
}

static void
end(struct connection *connection)
{
	if (connection->ended)
		connection_destroy(connection);
	else
		linger(connection);
}

/* The answer has left. */
static void
on_written(struct bufferevent *stream, void *arg)
{
	struct connection *connection = arg;

	if (connection->state != WRITING || evbuffer_get_length(bufferevent_get_output(stream)) > 0)
		return;
	if (!connection->keep_alive) {
		end(connection);
		return;
	}
	connection->state = READING;
	connection->without_body = false;
	set_deadline(connection, REQUEST_SECONDS);
	read_request(connection);
	if (connection->ended && connection->state == READING)
		connection_destroy(connection);
}

/* A client that shuts its side still gets the answers to what it asked. */
static void
on_event(struct bufferevent *stream, short what, void *arg)
{
	struct connection *connection = arg;
	bool asked = connection->state == ANSWERING || connection->state == WRITING;

	connection->ended = true;
	if ((what & BEV_EVENT_ERROR) != 0 || !asked)
		connection_destroy(connection);
}

static void
on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct connection *connection = arg;
	size_t waiting = evbuffer_get_length(bufferevent_get_input(connection->stream));

	if (connection->state != READING || waiting == 0) {
		connection_destroy(connection);
		return;
	}
	set_deadline(connection, LINGER_SECONDS);
	refuse(connection, 408, "the request takes too long\n");
}

struct connection *
connection_create(const struct connection_owner *owner, int fd)
{
	struct bufferevent *stream = bufferevent_socket_new(owner->base, fd, BEV_OPT_CLOSE_ON_FREE);
	struct connection *connection;

	if (stream == NULL) {
		close(fd);
		return NULL;
	}
	connection = xcalloc(1, sizeof(*connection));
	connection->owner = owner;
	connection->stream = stream;
	connection->deadline = evtimer_new(owner->base, on_deadline, connection);
	bufferevent_setwatermark(stream, EV_READ, 0, REQUEST_HEAD_MAX + REQUEST_BODY_MAX);
	bufferevent_setcb(stream, on_read, on_written, on_event, connection);
	bufferevent_enable(stream, EV_READ | EV_WRITE);
	set_deadline(connection, REQUEST_SECONDS);
	return connection;
}

void
connection_destroy(struct connection *connection)
{
	connection->owner->on_close(connection->owner->owner, connection);
	event_free(connection->deadline);
	bufferevent_free(connection->stream);
	free(connection);
}
