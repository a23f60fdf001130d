/* SPDX-License-Identifier: Apache-2.0
 *
 * The base URL of a target: its parts, and whether we may go there. The address where we listen
 * ourselves.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/base/attributes.h"

struct arena;
struct err;

/*
 * https://HOST[:PORT][/PATH]; http only with insecure or for loopback. Refused: user info, query,
 * fragment, addresses of cloud metadata services in any spelling. *ret_base has no trailing "/".
 * Messages do not repeat the URL, which may hold a password.
 */
bool address_check(struct arena *arena, const char *url, bool insecure, const char **ret_base,
		   struct err *err) MUST_CHECK;

/* http://HOST[:PORT], or with https, socks5, socks5h. Refused: user info, a path, a query. *ret_url has
 * no trailing "/". Messages do not repeat the URL. */
bool address_check_proxy(struct arena *arena, const char *url, const char **ret_url,
			 struct err *err) MUST_CHECK;

/* Either a host with its port, or a socket. */
struct listen_address {
	const char *host; /* "127.0.0.1", "::1", "localhost"; NULL: none */
	int port;
	const char *socket; /* NULL: none */
};

/*
 * HOST:PORT, where the host is a loopback address or "localhost" and IPv6 stands in brackets, or
 * unix:PATH. Texts of the result are in the arena.
 */
bool address_listen(struct arena *arena, const char *text, struct listen_address *ret_address,
		    struct err *err) MUST_CHECK;
