/* SPDX-License-Identifier: Apache-2.0
 *
 * At most one question to the database in 15 seconds, shared by whoever asks meanwhile. Who asks
 * gets an answer in time, if need be with what was known before.
 */
#include <stdlib.h>

#include <event2/event.h>
#include <systemd/sd-daemon.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/log.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/config/config.h"
#include "reconciled/store/db.h"
#include "reconciled/store/measure.h"
#include "reconciled/web/metrics.h"
#include "reconciled/web/server.h"

#include "exposure.h"
#include "serving.h"

#define MEASURE_EVERY_US (15 * SECOND)
#define CONNECT_TIMEOUT_US (3 * SECOND)

/* A large table takes its time; the next one who asks gets the result. */
#define STATEMENT_TIMEOUT_US MINUTE

/* The longest that somebody waits for the database. */
#define PATIENCE_US (5 * SECOND)

struct waiting_request {
	struct web_request *request;
	struct waiting_request *next;
};

struct exposure {
	struct event_base *base;
	const struct config *at_start;
	struct exposure_sources sources;
	struct metrics *metrics;
	struct web_server *server; /* NULL: nothing is served */
	struct db *db;		   /* made when it is needed first */
	bool connecting, measuring;
	int64_t measured_us; /* when the database was asked last; 0: never */
	struct waiting_request *waiting;
	struct event *impatient;
};

static void
answer(struct exposure *exposure, struct web_request *request)
{
	struct strbuf text = { 0 };

	exposure->sources.refresh(exposure->sources.owner, exposure->metrics);
	metrics_print(exposure->metrics, &text);
	web_answer_metrics(request, &text);
	strbuf_finish(&text);
}

static void
answer_waiting(struct exposure *exposure)
{
	struct waiting_request *waiting = TAKE(exposure->waiting);

	event_del(exposure->impatient);
	while (waiting) {
		struct waiting_request *next = waiting->next;

		answer(exposure, waiting->request);
		free(waiting);
		waiting = next;
	}
}

static void
on_impatient(evutil_socket_t fd, short what, void *owner)
{
	answer_waiting(owner);
}

static void
on_measured(void *owner, const struct measured *values, size_t count, const struct err *err)
{
	struct exposure *exposure = owner;

	exposure->measuring = false;
	if (err)
		log_debug("the database was not measured", F_STR("error", err->text));
	else
		metrics_set_measured(exposure->metrics, values, count);
	answer_waiting(exposure);
}

static void
measure(struct exposure *exposure)
{
	size_t count;
	const struct policy *policies =
		serving_policies(exposure->sources.serving(exposure->sources.owner), &count);
	const char **types = xcalloc(count, sizeof(*types));

	for (size_t i = 0; i < count; i++)
		types[i] = policies[i].operation_type;
	exposure->measuring = true;
	exposure->measured_us = clock_monotonic_us();
	store_measure(exposure->db, types, count, on_measured, exposure);
	free(types);
}

static void
on_connected(void *owner, const struct err *err)
{
	struct exposure *exposure = owner;

	exposure->connecting = false;
	if (!err) {
		measure(exposure);
		return;
	}
	log_debug("no connection for the metrics", F_STR("error", err->text));
	answer_waiting(exposure);
}

static void
connect_database(struct exposure *exposure)
{
	const struct config *now =
		serving_config(exposure->sources.serving(exposure->sources.owner));

	db_destroy(exposure->db);
	exposure->db =
		db_create(exposure->base, &(struct db_options){
						  .conninfo = exposure->at_start->database,
						  .password = now->database_password,
						  .application_name = "reconciled metrics",
						  .connect_timeout_us = CONNECT_TIMEOUT_US,
						  .statement_timeout_us = STATEMENT_TIMEOUT_US,
					  });
	exposure->connecting = true;
	db_connect(exposure->db, on_connected, exposure);
}

static bool
is_fresh(const struct exposure *exposure)
{
	return exposure->measured_us != 0 &&
	       clock_monotonic_us() - exposure->measured_us < MEASURE_EVERY_US;
}

static void
wait_for_numbers(struct exposure *exposure, struct web_request *request)
{
	struct waiting_request *waiting = xcalloc(1, sizeof(*waiting));

	waiting->request = request;
	waiting->next = exposure->waiting;
	if (!exposure->waiting)
		timer_set(exposure->impatient, PATIENCE_US);
	exposure->waiting = waiting;
	if (exposure->measuring || exposure->connecting)
		return;
	if (exposure->db && db_is_connected(exposure->db))
		measure(exposure);
	else
		connect_database(exposure);
}

static void
on_metrics(void *owner, struct web_request *request)
{
	struct exposure *exposure = owner;
	bool under_way = exposure->measuring || exposure->connecting;

	if ((is_fresh(exposure) && !under_way) ||
	    !exposure->sources.has_database(exposure->sources.owner))
		answer(exposure, request);
	else
		wait_for_numbers(exposure, request);
}

static const char *
on_not_ready(void *owner)
{
	struct exposure *exposure = owner;

	return exposure->sources.not_ready(exposure->sources.owner);
}

/* One socket from the service manager, in place of the address in the settings. */
static bool
listen_somewhere(struct exposure *exposure, struct err *err)
{
	const struct config *config = exposure->at_start;
	const struct web_handlers handlers = { on_metrics, on_not_ready, exposure };
	int passed = sd_listen_fds(1);
	const struct web_address address = {
		.host = config->http_host,
		.port = config->http_port,
		.socket = config->http_socket,
		.fd = passed > 0 ? SD_LISTEN_FDS_START : -1,
	};

	if (passed > 1)
		return err_set(err, ERR_FATAL,
			       "the service manager passed %d sockets, expected one", passed);
	if (passed <= 0 && !config->http_host && !config->http_socket)
		return true;
	exposure->server = web_server_create(exposure->base, &address, &handlers, err);
	return exposure->server != NULL;
}

struct exposure *
exposure_create(struct event_base *base, const struct config *at_start,
		const struct exposure_sources *sources, struct err *err)
{
	struct exposure *exposure = xcalloc(1, sizeof(*exposure));

	exposure->base = base;
	exposure->at_start = at_start;
	exposure->sources = *sources;
	exposure->metrics = metrics_create();
	metrics_set_reload(exposure->metrics, true);
	exposure->impatient = evtimer_new(base, on_impatient, exposure);
	if (listen_somewhere(exposure, err))
		return exposure;
	exposure_destroy(exposure);
	return NULL;
}

void
exposure_destroy(struct exposure *exposure)
{
	if (!exposure)
		return;
	db_destroy(exposure->db);
	while (exposure->waiting) {
		struct waiting_request *waiting = exposure->waiting;

		exposure->waiting = waiting->next;
		web_answer_metrics(waiting->request, NULL);
		free(waiting);
	}
	web_server_destroy(exposure->server);
	event_free(exposure->impatient);
	metrics_destroy(exposure->metrics);
	free(exposure);
}

struct metrics *
exposure_metrics(const struct exposure *exposure)
{
	return exposure->metrics;
}
