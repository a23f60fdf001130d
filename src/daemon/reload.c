/* SPDX-License-Identifier: Apache-2.0
 *
 * All or nothing: a set with one problem is not taken. What was loaded waits until nothing of the
 * old one is under way; takeover.c puts it in use.
 */
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/attributes.h"
#include "reconciled/base/log.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/config/config.h"
#include "reconciled/config/problems.h"
#include "reconciled/daemon/daemon.h"
#include "reconciled/web/metrics.h"

#include "exposure.h"
#include "notify.h"
#include "reload.h"
#include "states.h"
#include "takeover.h"

static void
log_problems(const struct problems *problems)
{
	for (size_t i = 0; i < problems_count(problems); i++) {
		const struct problem *problem = problems_at(problems, i);
		struct strbuf place = { 0 };

		strbuf_printf(&place, "%s:%d:%d", problem->file, problem->line, problem->column);
		if (problem->warning)
			log_warning("the configuration is doubtful",
				    F_STR("place", strbuf_text(&place)),
				    F_STR("warning", problem->text));
		else
			log_error("the configuration has a problem",
				  F_STR("place", strbuf_text(&place)),
				  F_STR("error", problem->text));
		strbuf_finish(&place);
	}
}

static bool
types_are_known(const struct config *config, const struct daemon_options *options)
{
	bool ok = true;

	for (size_t i = 0; i < options->types_count; i++) {
		if (config_policy(config, options->types[i]))
			continue;
		log_error("a type that --type names has no policy",
			  F_STR("operation_type", options->types[i]));
		ok = false;
	}
	return ok;
}

/* NULL: everything that is wrong with it was logged with its place. */
static struct config *
load(const struct daemon_options *options)
{
	struct problems *problems = problems_create();
	struct config *config = config_load(options->file, CONFIG_ALL | CONFIG_SECRETS, problems);

	log_problems(problems);
	problems_destroy(problems);
	if (config && !types_are_known(config, options)) {
		config_unref(config);
		config = NULL;
	}
	return config;
}

static bool
differ(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a != b : strcmp(a, b) != 0;
}

/* What differs from the start and is only read there. */
static void
warn_of_restarts(const struct config *at_start, const struct config *next)
{
	const struct {
		const char *key;
		bool changed;
	} settings[] = {
		{ "database", differ(at_start->database, next->database) },
		{ "instance_name", differ(at_start->instance_name, next->instance_name) },
		{ "state_directory", differ(at_start->state_directory, next->state_directory) },
		{ "http", differ(at_start->http_host, next->http_host) ||
				  differ(at_start->http_socket, next->http_socket) ||
				  at_start->http_port != next->http_port },
		{ "log.format", at_start->log_format != next->log_format },
	};

	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		if (settings[i].changed)
			log_warning("a changed setting takes effect at the next start",
				    F_STR("key", settings[i].key));
}

/* Where the new set waits for what the old one has under way, and where it need not. */
static void
place_next(struct daemon *daemon)
{
	switch (daemon->changing ? daemon->wanted : daemon->state) {
	case STATE_SERVING:
		state_go(daemon, STATE_SWITCHING);
		break;
	case STATE_STARTING:
	case STATE_CONNECTING:
	case STATE_CHECKING:
	case STATE_ARRIVING:
	case STATE_JOINING:
		takeover_run(daemon);
		break;
	case STATE_BACKING_OFF:
		if (!daemon->changing)
			takeover_run(daemon);
		break;
	case STATE_PUBLISHING:
	case STATE_SWITCHING:
	case STATE_DRAINING:
	case STATE_LEAVING:
	case STATE_OVER:
		break;
	}
}

static void
begin_reload(struct daemon *daemon)
{
	struct config *config;

	notify_reloading();
	config = load(daemon->options);
	metrics_set_reload(exposure_metrics(daemon->exposure), config != NULL);
	daemon->reload_failed = config == NULL;
	if (!config) {
		log_error("the configuration was not loaded, the one before stays",
			  F_STR("file", daemon->options->file));
		takeover_over(daemon);
		return;
	}
	warn_of_restarts(daemon->at_start, config);
	daemon->next = serving_create(&daemon->context, config);
	place_next(daemon);
}

void
reload_on_hangup(int fd, short what, void *owner)
{
	struct daemon *daemon = owner;

	if (daemon->stopping)
		return;
	if (daemon->next)
		daemon->reload_again = true;
	else
		begin_reload(daemon);
}
