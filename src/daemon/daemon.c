/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts and ends the daemon: what lives as long as the process, and its signals.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/log.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/config/config.h"
#include "reconciled/daemon/daemon.h"
#include "reconciled/net/curl_loop.h"
#include "reconciled/web/metrics.h"

#include "beats.h"
#include "connections.h"
#include "descriptors.h"
#include "exposure.h"
#include "notify.h"
#include "pulse.h"
#include "reload.h"
#include "state_file.h"
#include "states.h"
#include "takeover.h"

/* From the first signal to the end, whatever hangs. */
#define STOP_PATIENCE_US (9 * SECOND)

/* Beside the questions: connections, files, the HTTP server. */
static void
on_terminate(evutil_socket_t fd, short what, void *owner)
{
	struct daemon *daemon = owner;

	if (daemon->stopping) {
		event_base_loopbreak(daemon->base);
		return;
	}
	daemon->stopping = true;
	notify_stopping();
	log_info("stopping");
	timer_set(daemon->stop, STOP_PATIENCE_US);
	state_go(daemon, STATE_DRAINING);
}

static void
on_notified(void *owner, const char *operation_type)
{
	struct daemon *daemon = owner;

	if (state_is(daemon, STATE_SERVING))
		serving_wake(daemon->serving, *operation_type ? operation_type : NULL);
}

static void
refresh(void *owner, struct metrics *metrics)
{
	struct daemon *daemon = owner;

	metrics_set_instances(metrics, (int)daemon->instances);
	metrics_set_rewind(metrics, daemon->rewound);
	metrics_set_database(metrics, connections_watch(daemon->connections) != NULL);
	serving_show(daemon->serving);
}

static bool
has_database(void *owner)
{
	const struct daemon *daemon = owner;

	return connections_watch(daemon->connections) != NULL;
}

static const char *
not_ready(void *owner)
{
	return state_not_ready(owner);
}

static const struct serving *
serving_now(void *owner)
{
	const struct daemon *daemon = owner;

	return daemon->serving;
}

static struct event *
on_signal(struct daemon *daemon, int number, event_callback_fn callback)
{
	struct event *event = evsignal_new(daemon->base, number, callback, daemon);

	event_add(event, NULL);
	return event;
}

static void
make_events(struct daemon *daemon)
{
	daemon->base = event_base_new();
	daemon->on_terminate[0] = on_signal(daemon, SIGTERM, on_terminate);
	daemon->on_terminate[1] = on_signal(daemon, SIGINT, on_terminate);
	daemon->on_hangup = on_signal(daemon, SIGHUP, reload_on_hangup);
	daemon->stop = evtimer_new(daemon->base, on_terminate, daemon);
	daemon->change = evtimer_new(daemon->base, state_on_change, daemon);
	daemon->deadline = evtimer_new(daemon->base, state_on_deadline, daemon);
	daemon->notify = notify_create(daemon->base);
}

static void
make_parts(struct daemon *daemon)
{
	const struct connections_callbacks connections = { state_on_opened, state_on_lost,
							   on_notified, daemon };
	const struct pulse_callbacks pulse = { beats_on_answered, beats_on_silent, daemon };
	const char *name = daemon->at_start->instance_name;

	strbuf_printf(&daemon->actor, "reconciled:%s", name);
	daemon->connections = connections_create(daemon->base, &connections);
	daemon->pulse = pulse_create(daemon->base, daemon->state_file, name, &pulse);
	daemon->curl = curl_loop_create(daemon->base);
	daemon->context = (struct serving_context){
		.base = daemon->base,
		.curl = daemon->curl,
		.options = daemon->options,
		.instance_id = state_file_instance_id(daemon->state_file),
		.actor = strbuf_text(&daemon->actor),
		.metrics = exposure_metrics(daemon->exposure),
		.over = state_on_over,
		.owner = daemon,
	};
	daemon->serving = serving_create(&daemon->context, config_ref(daemon->at_start));
	serving_label(daemon->serving);
	takeover_announce(daemon, false);
}

static void
finish(struct daemon *daemon)
{
	serving_destroy(daemon->serving);
	serving_destroy(daemon->next);
	exposure_destroy(daemon->exposure);
	pulse_destroy(daemon->pulse);
	connections_destroy(daemon->connections);
	curl_loop_destroy(daemon->curl);
	strbuf_finish(&daemon->actor);
	notify_destroy(daemon->notify);
	for (size_t i = 0; i < ARRAY_LEN(daemon->on_terminate); i++)
		event_free(daemon->on_terminate[i]);
	event_free(daemon->on_hangup);
	event_free(daemon->stop);
	event_free(daemon->change);
	event_free(daemon->deadline);
	event_base_free(daemon->base);
	state_file_close(daemon->state_file);
	config_unref(daemon->at_start);
}

static bool
open_state(struct daemon *daemon, struct err *err)
{
	daemon->state_file = state_file_open(daemon->at_start->state_directory, err);
	if (!daemon->state_file)
		return false;
	if (!state_file_is_kept(daemon->state_file))
		log_warning(
			"without state_directory this instance is a new one at each start: what "
			"it had in flight waits until others find it dead");
	return true;
}

/* What the machine may refuse. */
static bool
make(struct daemon *daemon, struct err *err)
{
	const struct exposure_sources sources = { refresh, has_database, not_ready, serving_now,
						  daemon };

	make_events(daemon);
	if (!open_state(daemon, err))
		return false;
	daemon->exposure = exposure_create(daemon->base, daemon->at_start, &sources, err);
	if (!daemon->exposure)
		return false;
	make_parts(daemon);
	return true;
}

enum exit_code
daemon_run(struct config *config, const struct daemon_options *options)
{
	struct daemon daemon = { .options = options, .at_start = config };
	struct err err = { 0 };

	if (make(&daemon, &err)) {
		descriptors_provide(config->max_in_flight);
		log_info("starting", F_STR("version", RECONCILED_VERSION),
			 F_STR("instance", config->instance_name));
		state_go(&daemon, STATE_CONNECTING);
		event_base_dispatch(daemon.base);
		log_info("stopped");
	} else {
		fprintf(stderr, "reconciled: %s\n", err.text);
		daemon.failed = true;
	}
	finish(&daemon);
	return daemon.failed ? EXIT_FAILED : EXIT_DONE;
}
