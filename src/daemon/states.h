/* SPDX-License-Identifier: Apache-2.0
 *
 * The daemon as its files share it: states.c moves it from state to state, beats.c learns from
 * heartbeats, reload.c loads another configuration, takeover.c puts it in use, daemon.c starts and
 * ends it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"

#include "serving.h"
#include "standing.h"

struct connections;
struct event;
struct exposure;
struct notify;
struct pulse;
struct state_file;

enum state {
	STATE_STARTING,
	STATE_CONNECTING,
	STATE_CHECKING,
	STATE_ARRIVING,
	STATE_JOINING,
	STATE_PUBLISHING,
	STATE_SERVING,
	STATE_SWITCHING, /* to another configuration: what is under way ends first */
	STATE_BACKING_OFF,
	STATE_DRAINING,
	STATE_LEAVING,
	STATE_OVER,
};

struct daemon {
	const struct daemon_options *options;
	struct config *at_start;
	struct event_base *base;
	struct event *on_terminate[2], *on_hangup, *stop;
	struct event *change, *deadline;
	struct notify *notify;
	struct state_file *state_file;
	struct strbuf actor;
	struct exposure *exposure;
	struct connections *connections;
	struct pulse *pulse;
	struct curl_loop *curl;
	struct serving_context context;
	struct serving *serving;
	struct serving *next; /* loaded, takes over when nothing is under way */
	struct standing standing;
	enum state state, wanted;
	bool changing; /* wanted is entered next */
	bool ready;    /* the service manager knows */
	bool took_own; /* what this instance had in flight when it ended last */
	bool announced, burying, stopping, reload_again, failed;
	bool rewound;
	bool reload_failed;   /* the last one */
	int64_t published_us; /* a heartbeat that left later knows what is published */
	int64_t serving_us;
	size_t instances;
	int failures;
	struct err trouble;
};

/* To another state, from the loop: whoever calls may still be on the stack. The last word counts. */
void state_go(struct daemon *daemon, enum state state);
/* False also when it is about to be left: what comes then is too late. */
bool state_is(const struct daemon *daemon, enum state state);
/* The database cannot be worked with; at the start that may be final. */
void state_give_up(struct daemon *daemon, const struct err *err);
void state_publish(struct daemon *daemon); /* in STATE_PUBLISHING */
void state_tell_serving(struct daemon *daemon);
/* NULL when it is serving; else why not. */
const char *state_not_ready(const struct daemon *daemon);

/* Callbacks; owner is the daemon. */
void state_on_change(int fd, short what, void *owner);
void state_on_deadline(int fd, short what, void *owner);
void state_on_opened(void *owner, const struct err *err);
void state_on_lost(void *owner, const struct err *err);
void state_on_over(void *owner, const struct err *err);
