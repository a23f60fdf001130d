/* SPDX-License-Identifier: Apache-2.0
 *
 * The servers that a connection string names, one by one, because libpq's asynchronous connect
 * neither skips a silent host nor knows a deadline.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <libpq-fe.h>

#include "reconciled/base/attributes.h"

struct db_options;
struct err;
struct strbuf;

struct host {
	char *host, *hostaddr, *port; /* NULL: libpq's default */
};

/* Zeroed is empty. */
struct hosts {
	PQconninfoOption *options;
	struct host *list;
	size_t count; /* at least one when parsed */
};

bool hosts_parse(struct hosts *ret_hosts, const char *conninfo, struct err *err) MUST_CHECK;
void hosts_finish(struct hosts *hosts);

/*
 * Begins to connect to host i, at that address of its name (NULL: as the connection string says;
 * then looking up a name blocks). Several hosts: only one that accepts writes, unless the
 * connection string says otherwise.
 */
PGconn *hosts_connect_start(const struct hosts *hosts, size_t i, const char *address,
			    const struct db_options *options);

/* The same, until connected or failed, with libpq's own timeout for each address. */
PGconn *hosts_connect_wait(const struct hosts *hosts, size_t i, const struct db_options *options);

/* "connection to server at …, port …" for an address that gave no answer. */
void hosts_describe(const struct hosts *hosts, size_t i, const char *address, struct strbuf *out);
