/* SPDX-License-Identifier: Apache-2.0
 *
 * The descriptors of libcurl as libevent events. A connection keeps its read event from the first
 * use to its end, also while it is idle, so that a request on it needs no epoll_ctl. Never an event
 * on a closed descriptor: sockets are opened and closed through here.
 */
#pragma once

#include <stddef.h>

#include <curl/curl.h>

struct event_base;
struct watch;

/* libcurl asked about fd: CURL_CSELECT_… */
typedef void sockets_ready_fn(void *owner, curl_socket_t fd, int select);

struct sockets {
	struct event_base *base;
	sockets_ready_fn *ready;
	void *owner;
	struct watch **by_fd;
	size_t size;
};

void sockets_init(struct sockets *sockets, struct event_base *base, sockets_ready_fn *ready,
		  void *owner);
void sockets_finish(struct sockets *sockets); /* after curl_multi_cleanup */

/* CURLMOPT_SOCKETDATA, CURLOPT_OPENSOCKETDATA and CURLOPT_CLOSESOCKETDATA are the struct sockets.
 */
int sockets_on_want(CURL *easy, curl_socket_t fd, int want, void *sockets, void *unused);
curl_socket_t sockets_on_open(void *sockets, curlsocktype purpose, struct curl_sockaddr *address);
int sockets_on_close(void *sockets, curl_socket_t fd);
