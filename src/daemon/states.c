/* SPDX-License-Identifier: Apache-2.0
 *
 * The states of the daemon. Nothing changes inside a callback: state_go() notes where to, and an event
 * of its own leaves the old state, so that whoever called may still be on the stack.
 */
#include <stdio.h>

#include <event2/event.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/log.h"
#include "reconciled/base/random.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/timer.h"
#include "reconciled/config/config.h"
#include "reconciled/core/backoff.h"
#include "reconciled/daemon/daemon.h"
#include "reconciled/net/curl_loop.h"
#include "reconciled/store/instances.h"
#include "reconciled/store/work.h"

#include "connections.h"
#include "notify.h"
#include "pulse.h"
#include "state_file.h"
#include "states.h"
#include "takeover.h"

/* A failure after so long a time of work is a new one. */
#define SETTLED_US (10 * SECOND)

static const struct backoff away = {
	.first_us = SECOND / 2,
	.max_us = 24 * SECOND,
	.factor = "2",
	.factor_milli = 2000,
	.jitter_percent = 25,
};

static void enter_connecting(struct daemon *daemon);
static void enter_checking(struct daemon *daemon);
static void enter_arriving(struct daemon *daemon);
static void enter_publishing(struct daemon *daemon);
static void enter_joining(struct daemon *daemon);
static void enter_serving(struct daemon *daemon);
static void enter_switching(struct daemon *daemon);
static void enter_backing_off(struct daemon *daemon);
static void enter_draining(struct daemon *daemon);
static void enter_leaving(struct daemon *daemon);
static void enter_over(struct daemon *daemon);

/* limit 0: the state sets its own deadline, or leaves at once. late: where the deadline leads. */
static const struct {
	const char *name;
	int64_t limit_us;
	enum state late;
	void (*enter)(struct daemon *daemon);
	const char *status; /* NULL: enter tells it */
} states[] = {
	[STATE_STARTING] = { "starting", 0, STATE_OVER, NULL, NULL },
	/* three connections, each past all addresses that keep silent before it */
	[STATE_CONNECTING] = { "connecting", 10 * MINUTE, STATE_BACKING_OFF, enter_connecting,
			       NULL },
	[STATE_CHECKING] = { "checking", 30 * SECOND, STATE_BACKING_OFF, enter_checking,
			     "checking the schema" },
	[STATE_ARRIVING] = { "arriving", 30 * SECOND, STATE_BACKING_OFF, enter_arriving,
			     "looking for other instances" },
	[STATE_PUBLISHING] = { "publishing", 10 * MINUTE, STATE_BACKING_OFF, enter_publishing,
			       "publishing the policies" },
	[STATE_JOINING] = { "joining", 0, STATE_PUBLISHING, enter_joining,
			    "joining other instances" },
	[STATE_SERVING] = { "serving", 0, STATE_SERVING, enter_serving, NULL },
	/* targets are waited for no longer than that: it is a statement that has no answer */
	[STATE_SWITCHING] = { "switching", 7 * SECOND, STATE_BACKING_OFF, enter_switching,
			      "changing to another configuration" },
	[STATE_BACKING_OFF] = { "backing off", 0, STATE_CONNECTING, enter_backing_off, NULL },
	[STATE_DRAINING] = { "draining", 7 * SECOND, STATE_LEAVING, enter_draining, "stopping" },
	[STATE_LEAVING] = { "leaving", 1 * SECOND, STATE_OVER, enter_leaving, "stopping" },
	[STATE_OVER] = { "over", 0, STATE_OVER, enter_over, "stopping" },
};

/* Nothing leads back from the end. */
void
state_go(struct daemon *daemon, enum state state)
{
	if (daemon->changing && daemon->wanted == STATE_OVER)
		return;
	daemon->wanted = state;
	daemon->changing = true;
	timer_set(daemon->change, 0);
}

void
state_on_change(int fd, short what, void *owner)
{
	struct daemon *daemon = owner;

	log_debug("state", F_STR("from", states[daemon->state].name),
		  F_STR("to", states[daemon->wanted].name));
	daemon->changing = false;
	daemon->state = daemon->wanted;
	event_del(daemon->deadline);
	if (states[daemon->state].limit_us > 0)
		timer_set(daemon->deadline, states[daemon->state].limit_us);
	if (states[daemon->state].status)
		notify_status(daemon->notify, states[daemon->state].status);
	if (!daemon->ready)
		notify_more_time(states[daemon->state].limit_us);
	states[daemon->state].enter(daemon);
}

bool
state_is(const struct daemon *daemon, enum state state)
{
	return !daemon->changing && daemon->state == state;
}

static void
tell_ready(struct daemon *daemon)
{
	if (!daemon->ready)
		notify_ready();
	daemon->ready = true;
}

static bool
is_hopeless(const struct err *err)
{
	return err->code == ERR_FATAL || err->code == ERR_INVALID;
}

void
state_give_up(struct daemon *daemon, const struct err *err)
{
	if (daemon->stopping) {
		state_go(daemon, STATE_OVER);
	} else if (!daemon->ready && is_hopeless(err)) {
		fprintf(stderr, "reconciled: %s\n", err->text);
		daemon->failed = true;
		state_go(daemon, STATE_OVER);
	} else {
		daemon->trouble = *err;
		state_go(daemon, STATE_BACKING_OFF);
	}
}

void
state_on_deadline(int fd, short what, void *owner)
{
	struct daemon *daemon = owner;
	struct err err = { 0 };

	if (daemon->changing)
		return;
	if (states[daemon->state].late != STATE_BACKING_OFF) {
		state_go(daemon, states[daemon->state].late);
		return;
	}
	err_fill(&err, ERR_TRANSIENT, "%s took too long", states[daemon->state].name);
	state_give_up(daemon, &err);
}

static void
enter_connecting(struct daemon *daemon)
{
	if (!daemon->ready)
		notify_status(daemon->notify, "connecting to the database");
	connections_open(daemon->connections, daemon->at_start->database,
			 serving_config(daemon->serving)->database_password);
}

void
state_on_opened(void *owner, const struct err *err)
{
	struct daemon *daemon = owner;

	if (!state_is(daemon, STATE_CONNECTING))
		return;
	if (err)
		state_give_up(daemon, err);
	else
		state_go(daemon, STATE_CHECKING);
}

void
state_on_lost(void *owner, const struct err *err)
{
	state_give_up(owner, err);
}

static void
on_checked(void *owner, const struct err *err)
{
	struct daemon *daemon = owner;

	if (!state_is(daemon, STATE_CHECKING))
		return;
	if (err)
		state_give_up(daemon, err);
	else
		state_go(daemon, STATE_ARRIVING);
}

static void
enter_checking(struct daemon *daemon)
{
	store_check_schema(connections_read(daemon->connections), on_checked, daemon);
}

static void
on_took_own(void *owner, int count, const struct err *err)
{
	struct daemon *daemon = owner;

	if (!state_is(daemon, STATE_ARRIVING))
		return;
	if (err) {
		state_give_up(daemon, err);
		return;
	}
	if (count > 0)
		log_warning("this instance ended while operations were in flight, they wait half a "
			    "minute",
			    F_INT("count", count));
	daemon->took_own = true;
	pulse_start(daemon->pulse, connections_watch(daemon->connections));
}

/* What an earlier process left goes first; then the first heartbeat leads on. */
static void
enter_arriving(struct daemon *daemon)
{
	if (clock_monotonic_us() - daemon->standing.answered_us > standing_silence_us())
		takeover_announce(daemon, false);
	if (daemon->took_own)
		pulse_start(daemon->pulse, connections_watch(daemon->connections));
	else
		store_bury(connections_write(daemon->connections), strbuf_text(&daemon->actor),
			   state_file_instance_id(daemon->state_file), true, on_took_own, daemon);
}

/* The next heartbeat knows what is published, and leads on. */
static void
look_around(struct daemon *daemon)
{
	daemon->published_us = clock_monotonic_us();
	pulse_now(daemon->pulse);
}

static void
on_published(void *owner, const struct err *err)
{
	struct daemon *daemon = owner;

	if (!state_is(daemon, STATE_PUBLISHING))
		return;
	if (err) {
		state_give_up(daemon, err);
		return;
	}
	serving_note_published(daemon->serving);
	look_around(daemon);
}

void
state_publish(struct daemon *daemon)
{
	const struct config *config = serving_config(daemon->serving);

	daemon->published_us = INT64_MAX;
	store_publish_policies(connections_write(daemon->connections), config->policies,
			       config->policies_count, on_published, daemon);
}

/*
 * Only when it can take over: until then those with other policies go on. A set is published when
 * it is new, not after each interruption: of two instances with different policies the one that
 * comes back last would win.
 */
static void
enter_publishing(struct daemon *daemon)
{
	takeover_run(daemon);
	if (serving_is_published(daemon->serving))
		look_around(daemon);
	else
		state_publish(daemon);
}

static void
enter_joining(struct daemon *daemon)
{
	int64_t wait_us = standing_join_us(&daemon->standing, clock_monotonic_us());

	tell_ready(daemon);
	takeover_announce(daemon, false);
	log_info("waiting for what other instances have under way, before the first question",
		 F_INT("seconds", wait_us / SECOND));
	timer_set(daemon->deadline, wait_us);
}

void
state_tell_serving(struct daemon *daemon)
{
	struct strbuf text = { 0 };

	strbuf_puts(&text, "serving");
	if (daemon->rewound)
		strbuf_puts(&text, ", rewind guard tripped");
	if (daemon->reload_failed)
		strbuf_puts(&text, ", last reload failed");
	strbuf_puts(&text, "; operation types: ");
	serving_tell(daemon->serving, &text);
	strbuf_printf(&text, ", instances alive: %zu", daemon->instances);
	notify_status(daemon->notify, strbuf_text(&text));
	strbuf_finish(&text);
}

static void
enter_serving(struct daemon *daemon)
{
	tell_ready(daemon);
	takeover_announce(daemon, true);
	daemon->serving_us = clock_monotonic_us();
	serving_start(daemon->serving, connections_read(daemon->connections),
		      connections_write(daemon->connections));
	pulse_now(daemon->pulse);
	state_tell_serving(daemon);
	log_info("serving");
}

static void
enter_switching(struct daemon *daemon)
{
	if (serving_is_running(daemon->serving))
		serving_stop(daemon->serving);
	else
		state_go(daemon, STATE_PUBLISHING);
}

void
state_on_over(void *owner, const struct err *err)
{
	struct daemon *daemon = owner;

	if (err)
		state_give_up(daemon, err);
	else if (state_is(daemon, STATE_SWITCHING))
		state_go(daemon, STATE_PUBLISHING);
	else if (state_is(daemon, STATE_DRAINING))
		state_go(daemon, STATE_LEAVING);
}

static void
enter_backing_off(struct daemon *daemon)
{
	int64_t pause_us;
	struct strbuf text = { 0 };

	if (daemon->serving_us != 0 && clock_monotonic_us() - daemon->serving_us > SETTLED_US)
		daemon->failures = 0;
	daemon->serving_us = 0;
	daemon->burying = false;
	pause_us = backoff_delay_us(&away, daemon->failures++, random_seed());
	serving_drop(daemon->serving);
	pulse_stop(daemon->pulse);
	connections_close(daemon->connections);
	log_warning("no work with the database, trying again", F_STR("error", daemon->trouble.text),
		    F_INT("after_ms", pause_us / MILLISECOND));
	strbuf_printf(&text, "no work with the database: %s", daemon->trouble.text);
	notify_status(daemon->notify, strbuf_text(&text));
	strbuf_finish(&text);
	tell_ready(daemon);
	timer_set(daemon->deadline, pause_us);
	takeover_run(daemon);
}

static void
enter_draining(struct daemon *daemon)
{
	if (serving_is_running(daemon->serving))
		serving_stop(daemon->serving);
	else
		state_go(daemon, STATE_LEAVING);
}

static void
on_left(void *owner, const struct err *err)
{
	state_go(owner, STATE_OVER);
}

static void
enter_leaving(struct daemon *daemon)
{
	struct db *watch;

	serving_drop(daemon->serving);
	pulse_stop(daemon->pulse);
	connections_keep_watch(daemon->connections); /* the others may owe the pass an answer */
	watch = connections_watch(daemon->connections);
	if (watch)
		store_leave(watch, state_file_instance_id(daemon->state_file), on_left, daemon);
	else
		state_go(daemon, STATE_OVER);
}

static void
enter_over(struct daemon *daemon)
{
	event_base_loopexit(daemon->base, NULL);
}

/* Between two configurations it is as ready as before. */
static bool
is_serving(const struct daemon *daemon)
{
	return daemon->state == STATE_SERVING || daemon->state == STATE_SWITCHING ||
	       (daemon->state == STATE_PUBLISHING && daemon->serving_us != 0);
}

const char *
state_not_ready(const struct daemon *daemon)
{
	if (is_serving(daemon))
		return NULL;
	if (daemon->state == STATE_BACKING_OFF ||
	    (daemon->state == STATE_CONNECTING && daemon->failures > 0))
		return daemon->trouble.text;
	return states[daemon->state].status ? states[daemon->state].status
					    : states[daemon->state].name;
}
