/* SPDX-License-Identifier: Apache-2.0
 *
 * The multi handle on libevent: sockets and one timer in, completions out. A transfer is on one of
 * two lists of its peer, running or idle; it is idle again only after its callback returned,
 * because the result lives in it.
 */
#include "reconciled/net/curl_loop.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"
#include "transfer.h"

static void release_peer(struct curl_peer *peer);

static void
deliver(struct transfer *transfer, CURLcode code)
{
	struct curl_peer *peer = transfer->peer;
	struct transfer_result result = transfer_outcome(transfer, code);

	curl_multi_remove_handle(peer->loop->multi, transfer->easy);
	TAILQ_REMOVE(&peer->running, transfer, link);
	peer->delivering++;
	transfer->done(transfer->owner, &result);
	peer->delivering--;
	TAILQ_INSERT_HEAD(&peer->idle, transfer, link);
	if (peer->doomed && peer->delivering == 0)
		release_peer(peer);
}

static void
collect(struct curl_loop *loop)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(loop->multi, &left)) != NULL) {
		CURLcode code = message->data.result;
		struct transfer *transfer = NULL;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
		deliver(transfer, code);
	}
}

static void
on_socket(void *owner, curl_socket_t fd, int select)
{
	struct curl_loop *loop = owner;
	int running;

	curl_multi_socket_action(loop->multi, fd, select, &running);
	collect(loop);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct curl_loop *loop = arg;
	int running;

	curl_multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	collect(loop);
}

static int
on_timeout_change(CURLM *multi, long timeout_ms, void *arg)
{
	struct curl_loop *loop = arg;

	if (timeout_ms < 0)
		event_del(&loop->timer);
	else
		timer_set(&loop->timer, timeout_ms * MILLISECOND);
	return 0;
}

struct curl_loop *
curl_loop_create(struct event_base *base)
{
	struct curl_loop *loop = xcalloc(1, sizeof(*loop));

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		abort();
	loop->multi = curl_multi_init();
	if (loop->multi == NULL)
		abort();
	evtimer_assign(&loop->timer, base, on_timer, loop);
	sockets_init(&loop->sockets, base, on_socket, loop);
	curl_multi_setopt(loop->multi, CURLMOPT_SOCKETFUNCTION, sockets_on_want);
	curl_multi_setopt(loop->multi, CURLMOPT_SOCKETDATA, &loop->sockets);
	curl_multi_setopt(loop->multi, CURLMOPT_TIMERFUNCTION, on_timeout_change);
	curl_multi_setopt(loop->multi, CURLMOPT_TIMERDATA, loop);
	curl_multi_setopt(loop->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
	return loop;
}

void
curl_loop_destroy(struct curl_loop *loop)
{
	if (loop == NULL)
		return;
	assert(loop->connections == 0);
	curl_multi_cleanup(loop->multi);
	sockets_finish(&loop->sockets);
	event_del(&loop->timer);
	free(loop);
	curl_global_cleanup();
}

/* As many idle connections as all peers together may use at once. */
static void
count_connections(struct curl_loop *loop, long more)
{
	loop->connections += more;
	curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS,
			  loop->connections > 0 ? loop->connections : 1L);
}

static void
each_text(struct curl_peer *peer, void (*call)(const char **text))
{
	struct curl_peer_options *options = &peer->options;

	call(&options->ca_file);
	call(&options->cert_file);
	call(&options->key_file);
	call(&options->key_text);
	call(&options->unix_socket);
	call(&options->proxy);
}

static void
copy_text(const char **text)
{
	if (*text != NULL)
		*text = xstrdup(*text);
}

/* One of them is secret. */
static void
free_text(const char **text)
{
	char *own;

	if (*text == NULL)
		return;
	memcpy(&own, text, sizeof(own)); /* ours since copy_text */
	explicit_bzero(own, strlen(own));
	free(own);
}

struct curl_peer *
curl_peer_create(struct curl_loop *loop, const struct curl_peer_options *options)
{
	struct curl_peer *peer = xcalloc(1, sizeof(*peer));

	peer->loop = loop;
	peer->options = *options;
	peer->options.headers = NULL;
	each_text(peer, copy_text);
	TAILQ_INIT(&peer->running);
	TAILQ_INIT(&peer->idle);
	for (size_t i = 0; i < options->headers_count; i++) {
		struct curl_slist *list = curl_slist_append(peer->headers, options->headers[i]);

		if (list == NULL)
			abort();
		peer->headers = list;
		if (!transfer_header_is_safe(options->headers[i]))
			peer->unusable = true;
	}
	count_connections(loop, options->connections);
	return peer;
}

/* The lines may hold credentials. */
static void
wipe(struct curl_slist *list)
{
	for (struct curl_slist *line = list; line != NULL; line = line->next)
		explicit_bzero(line->data, strlen(line->data));
	curl_slist_free_all(list);
}

static void
release_peer(struct curl_peer *peer)
{
	struct transfer *transfer;

	while ((transfer = TAILQ_FIRST(&peer->idle)) != NULL) {
		TAILQ_REMOVE(&peer->idle, transfer, link);
		transfer_destroy(transfer);
	}
	count_connections(peer->loop, -peer->options.connections);
	wipe(peer->headers);
	each_text(peer, free_text);
	free(peer);
}

void
curl_peer_destroy(struct curl_peer *peer)
{
	struct transfer *transfer;

	if (peer == NULL)
		return;
	while ((transfer = TAILQ_FIRST(&peer->running)) != NULL)
		transfer_cancel(transfer);
	peer->doomed = true;
	if (peer->delivering == 0)
		release_peer(peer);
}

static struct transfer *
take_idle(struct curl_peer *peer)
{
	struct transfer *transfer = TAILQ_FIRST(&peer->idle);

	if (transfer == NULL)
		return transfer_create(peer);
	TAILQ_REMOVE(&peer->idle, transfer, link);
	return transfer;
}

struct transfer *
transfer_start(struct curl_peer *peer, const struct transfer_request *request,
	       transfer_done_fn *done, void *owner)
{
	struct transfer *transfer = take_idle(peer);

	assert(!peer->doomed);
	transfer->done = done;
	transfer->owner = owner;
	transfer_prepare(transfer, request);
	TAILQ_INSERT_TAIL(&peer->running, transfer, link);
	/* Only asks for the timer: the transfer itself begins in the loop. */
	if (curl_multi_add_handle(peer->loop->multi, transfer->easy) != CURLM_OK)
		abort(); /* out of memory */
	return transfer;
}

void
transfer_cancel(struct transfer *transfer)
{
	struct curl_peer *peer = transfer->peer;

	curl_multi_remove_handle(peer->loop->multi, transfer->easy);
	TAILQ_REMOVE(&peer->running, transfer, link);
	TAILQ_INSERT_HEAD(&peer->idle, transfer, link);
}
