/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers on their way out: at once, late, cut short, or never. A request that waits is owned here;
 * one whose client has left is freed by evhttp when the answer is sent into nothing.
 */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"
#include "sim.h"

/* A client that waits for ever is let go after this. */
static const int64_t hang_us = 10 * MINUTE;

struct pending {
	struct sim *sim;
	struct pending *next, **link;
	struct event *timer;
	struct evhttp_request *request;
	enum delivery how;
	struct answer answer;
	char *type; /* of the answer: a behaviour may be gone before it is sent */
};

void
deliver_json(struct answer *answer, int status, json_t *body)
{
	char *text = json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(15));
	answer->status = status;
	answer->type = "application/json";
	strbuf_puts(&answer->body, text);
	free(text);
	json_decref(body);
}

void
deliver_error(struct answer *answer, int status, const char *word, const char *message)
{
	json_t *body = json_pack("{s:s}", "error", word);
	if (message)
		json_object_set_new(body, "message", json_string(message));
	deliver_json(answer, status, body);
}

static void
close_connection(struct evhttp_request *request)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(request);
	if (connection)
		evhttp_connection_free(connection);
	else
		evhttp_request_free(request);
}

static void
header_number(struct evhttp_request *request, const char *name, int64_t number)
{
	char text[24];
	snprintf(text, sizeof(text), "%" PRId64, number);
	evhttp_add_header(evhttp_request_get_output_headers(request), name, text);
}

static void
put_headers(struct evhttp_request *request, const struct answer *answer)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	if (answer->type)
		evhttp_add_header(headers, "Content-Type", answer->type);
	if (answer->replayed)
		evhttp_add_header(headers, "Idempotent-Replayed", "true");
	if (answer->retry_after_us)
		header_number(request, "Retry-After",
			      (answer->retry_after_us + SECOND - 1) / SECOND);
	header_number(request, "Content-Length", (int64_t)answer->body.len);
}

static void
on_cut(struct evhttp_connection *connection, void *arg)
{
	evhttp_connection_free(connection);
}

/* Promises the whole length, sends half, closes. */
static void
send_half(struct evhttp_request *request, const struct answer *answer, struct evbuffer *out)
{
	evbuffer_add(out, answer->body.data, answer->body.len / 2);
	evhttp_send_reply_start(request, answer->status, NULL);
	evhttp_send_reply_chunk_with_cb(request, out, on_cut, NULL);
}

static void
send_whole(struct evhttp_request *request, const struct answer *answer, struct evbuffer *out)
{
	if (evhttp_request_get_command(request) != EVHTTP_REQ_HEAD && answer->body.len)
		evbuffer_add(out, answer->body.data, answer->body.len);
	evhttp_send_reply(request, answer->status, NULL, out);
}

static void
send_now(struct evhttp_request *request, const struct answer *answer, enum delivery how)
{
	if (how == DELIVERY_CLOSE || how == DELIVERY_HANG ||
	    !evhttp_request_get_connection(request)) {
		close_connection(request);
		return;
	}
	struct evbuffer *out = evbuffer_new();
	put_headers(request, answer);
	if (how == DELIVERY_TRUNCATE && answer->body.len)
		send_half(request, answer, out);
	else
		send_whole(request, answer, out);
	evbuffer_free(out);
}

static void
pending_over(struct pending *pending)
{
	pending->sim->owed--;
	*pending->link = pending->next;
	if (pending->next)
		pending->next->link = pending->link;
	send_now(pending->request, &pending->answer, pending->how);
	event_free(pending->timer);
	strbuf_finish(&pending->answer.body);
	free(pending->type);
	free(pending);
}

static void
on_due(evutil_socket_t fd, short what, void *arg)
{
	pending_over(arg);
}

static void
wait_for(struct sim *sim, struct pending *pending, int64_t us)
{
	pending->timer = evtimer_new(sim->base, on_due, pending);
	timer_set(pending->timer, us);
	pending->next = sim->pending;
	pending->link = &sim->pending;
	if (sim->pending)
		sim->pending->link = &pending->next;
	sim->pending = pending;
	if (++sim->owed > sim->most_owed)
		sim->most_owed = sim->owed;
}

void
deliver(struct sim *sim, struct evhttp_request *request, struct answer *answer,
	const struct plan *plan)
{
	if (!plan->latency_us && plan->lose == DELIVERY_SEND) {
		send_now(request, answer, DELIVERY_SEND);
		strbuf_finish(&answer->body);
		return;
	}
	struct pending *pending = xcalloc(1, sizeof(*pending));
	pending->sim = sim;
	pending->request = request;
	pending->how = plan->lose;
	pending->answer = *answer;
	if (answer->type)
		pending->answer.type = pending->type = xstrdup(answer->type);
	wait_for(sim, pending, plan->lose == DELIVERY_HANG ? hang_us : plan->latency_us);
}

/* evhttp does not read while an answer is owed, so it does not see a client leave. */
static bool
client_left(struct evhttp_request *request)
{
	char byte;
	struct evhttp_connection *connection = evhttp_request_get_connection(request);
	if (!connection)
		return true;
	int fd = bufferevent_getfd(evhttp_connection_get_bufferevent(connection));
	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void
deliver_drop_hanging(struct sim *sim, bool all)
{
	for (struct pending *pending = sim->pending, *next; pending; pending = next) {
		next = pending->next;
		if (pending->how == DELIVERY_HANG && (all || client_left(pending->request)))
			pending_over(pending);
	}
}

void
deliver_all_now(struct sim *sim)
{
	while (sim->pending)
		pending_over(sim->pending);
}
