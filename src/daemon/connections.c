/* SPDX-License-Identifier: Apache-2.0
 *
 * Three connections, opened one after the other so that a server that is away is told once.
 */
#include <stdlib.h>

#include <event2/event.h>

#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/store/db.h"

#include "connections.h"

enum link { LINK_READ, LINK_WRITE, LINK_WATCH, LINK_COUNT };

/* A heartbeat must be known to have failed before others take over. */
static const struct {
	const char *application_name;
	int64_t statement_timeout_us;
} links[LINK_COUNT] = {
	[LINK_READ] = { "reconciled read", MINUTE },
	[LINK_WRITE] = { "reconciled write", MINUTE },
	[LINK_WATCH] = { "reconciled watch", 8 * SECOND },
};

#define CONNECT_TIMEOUT_US (5 * SECOND)

struct connections {
	struct event_base *base;
	struct connections_callbacks callbacks;
	struct db *db[LINK_COUNT];
	int opened; /* so many; LINK_COUNT: all */
	bool lost;
};

struct connections *
connections_create(struct event_base *base, const struct connections_callbacks *callbacks)
{
	struct connections *connections = xcalloc(1, sizeof(*connections));

	connections->base = base;
	connections->callbacks = *callbacks;
	return connections;
}

void
connections_destroy(struct connections *connections)
{
	if (!connections)
		return;
	connections_close(connections);
	free(connections);
}

void
connections_close(struct connections *connections)
{
	for (int i = 0; i < LINK_COUNT; i++)
		db_destroy(TAKE(connections->db[i]));
	connections->opened = 0;
	connections->lost = false;
}

void
connections_keep_watch(struct connections *connections)
{
	db_destroy(TAKE(connections->db[LINK_READ]));
	db_destroy(TAKE(connections->db[LINK_WRITE]));
}

static void
on_connected(void *owner, const struct err *err)
{
	struct connections *connections = owner;

	if (connections->lost)
		return;
	if (!err)
		connections->opened++;
	if (err || connections->opened == LINK_COUNT)
		connections->callbacks.opened(connections->callbacks.owner, err);
	else
		db_connect(connections->db[connections->opened], on_connected, connections);
}

/* One of those that were open already, perhaps while the next is being made. */
static void
on_lost(void *owner, const struct err *err)
{
	struct connections *connections = owner;
	const struct connections_callbacks *callbacks = &connections->callbacks;

	if (connections->lost)
		return;
	connections->lost = true;
	if (connections->opened == LINK_COUNT)
		callbacks->lost(callbacks->owner, err);
	else
		callbacks->opened(callbacks->owner, err);
}

static void
on_notified(void *owner, const char *payload)
{
	struct connections *connections = owner;

	connections->callbacks.notified(connections->callbacks.owner, payload);
}

void
connections_open(struct connections *connections, const char *conninfo,
		 const struct secret *password)
{
	connections_close(connections);
	for (int i = 0; i < LINK_COUNT; i++) {
		connections->db[i] =
			db_create(connections->base,
				  &(struct db_options){
					  .conninfo = conninfo,
					  .password = password,
					  .application_name = links[i].application_name,
					  .connect_timeout_us = CONNECT_TIMEOUT_US,
					  .statement_timeout_us = links[i].statement_timeout_us,
				  });
		db_on_lost(connections->db[i], on_lost, connections);
	}
	db_on_notified(connections->db[LINK_WATCH], on_notified, connections);
	db_connect(connections->db[0], on_connected, connections);
}

static struct db *
get(const struct connections *connections, enum link link)
{
	return connections->opened == LINK_COUNT ? connections->db[link] : NULL;
}

struct db *
connections_read(const struct connections *connections)
{
	return get(connections, LINK_READ);
}

struct db *
connections_write(const struct connections *connections)
{
	return get(connections, LINK_WRITE);
}

struct db *
connections_watch(const struct connections *connections)
{
	return get(connections, LINK_WATCH);
}
