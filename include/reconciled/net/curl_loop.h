/* SPDX-License-Identifier: Apache-2.0
 *
 * libcurl's multi interface on a libevent base: the only file that knows curl multi. Takes a
 * request as plain data, gives back status, headers and a bounded body, or what went wrong.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/base/attributes.h"

struct event_base;
struct err;

struct curl_loop;
struct transfer;

/* A host that is asked: its own pool of connections and easy handles. */
struct curl_peer;

enum transfer_method { TRANSFER_GET, TRANSFER_HEAD, TRANSFER_POST };

enum transfer_fault {
	TRANSFER_OK,
	TRANSFER_TIMEOUT,
	TRANSFER_REFUSED,
	TRANSFER_DNS,
	TRANSFER_TLS,
	TRANSFER_TRUNCATED, /* shorter than announced */
	TRANSFER_TOO_LARGE, /* decoded body beyond the limit, or headers beyond 64 KiB */
	TRANSFER_FAILED,    /* anything else on the wire */
};

enum tls_floor { TLS_FLOOR_DEFAULT, TLS_FLOOR_1_2, TLS_FLOOR_1_3 };

struct curl_peer_options {
	int connections; /* most at once, also the pool of handles */
	int64_t connect_timeout_us, total_timeout_us;
	int64_t max_body_bytes; /* decoded */
	const char *ca_file;	/* or NULL */
	/* Our own certificate, PEM: a file; its key in a file or as text (wiped). NULL: none, or for
	 * the key: in the file of the certificate. */
	const char *cert_file, *key_file, *key_text;
	enum tls_floor tls_min;
	const char *unix_socket; /* spoken to instead of host and port, or NULL */
	/* URL, or NULL: none. The environment is never looked at. Behind it https is a tunnel, and
	 * what is sent to the peer never stands in a request to the proxy. */
	const char *proxy;
	/* "Name: value" sent with every request, secrets included; copied. With a control character
	 * in one of them every transfer fails. */
	const char *const *headers;
	size_t headers_count;
};

struct transfer_header {
	const char *name; /* lower case */
	const char *value;
};

/* All is copied but the body, which is borrowed until done was called or the transfer cancelled. */
struct transfer_request {
	enum transfer_method method;
	const char *url;
	const char *const *headers; /* "name: value" beside the peer's; the same name replaces it */
	size_t headers_count;
	const char *body;
	size_t body_len;
};

/* Valid until the callback returns. */
struct transfer_result {
	enum transfer_fault fault;
	int status;
	const struct transfer_header *headers;
	size_t headers_count;
	const char *body;
	size_t body_len;
	int64_t elapsed_us;
};

/* Exactly once per transfer that was not cancelled, from the loop, never from inside
 * transfer_start. */
typedef void transfer_done_fn(void *owner, const struct transfer_result *result);

/* The process ignores SIGPIPE. */
struct curl_loop *curl_loop_create(struct event_base *base);
void curl_loop_destroy(struct curl_loop *loop); /* after all peers */

struct curl_peer *curl_peer_create(struct curl_loop *loop, const struct curl_peer_options *options);
void curl_peer_destroy(struct curl_peer *peer); /* cancels what runs */

/* Needs a free connection (the caller counts). What goes wrong is reported to done. Redirects are
 * not followed. */
struct transfer *transfer_start(struct curl_peer *peer, const struct transfer_request *request,
				transfer_done_fn *done, void *owner);
void transfer_cancel(struct transfer *transfer); /* done will not be called */
