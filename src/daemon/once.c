/* SPDX-License-Identifier: Apache-2.0
 *
 * Wires one pass: connections, engine, targets, heartbeat, the pass itself, summary. A list of
 * steps that follow each other; each waits for one answer.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/hash.h"
#include "reconciled/base/secret.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/config/config.h"
#include "reconciled/daemon/once.h"
#include "reconciled/net/curl_loop.h"
#include "reconciled/probe/engine.h"
#include "reconciled/reconcile/pass.h"
#include "reconciled/store/db.h"
#include "reconciled/store/work.h"
#include "reconciled/wiring/targets.h"

#include "choice.h"
#include "guest.h"
#include "membership.h"
#include "progress.h"
#include "summary.h"

#define CONNECT_TIMEOUT_US (5 * SECOND)
#define STATEMENT_TIMEOUT_US (60 * SECOND)

/* For what an interrupted pass still has to write; longer than its targets are given. */
#define PATIENCE_US (8 * SECOND)

enum { COUNTED_MAX = 100000 };

/* What the last heartbeat told about a type. */
struct standing {
	bool elsewhere; /* its target belongs to another instance */
	bool guarded;
};

struct once {
	const struct config *config;
	const struct once_options *options;
	struct event_base *base;
	struct event *on_signal[2], *patience;
	struct db *read, *write;
	struct curl_loop *curl;
	struct probe_engine *engine;
	struct targets *targets;
	struct pass_type *types;
	struct standing *standings; /* of each type */
	size_t types_count;
	struct guest *guest;
	struct pass *pass;
	struct strbuf actor;
	struct summary *summary;
	struct hmac *evidence_key;
	struct progress *progress;
	size_t step;
	int64_t without_policy;
	bool failed, interrupted;
};

typedef void step_fn(struct once *once);

static void connect_read(struct once *once);
static void check_schema(struct once *once);
static void connect_write(struct once *once);
static void publish_policies(struct once *once);
static void count_without_policy(struct once *once);
static void count_due(struct once *once);
static void join(struct once *once);
static void run_pass(struct once *once);
static void leave(struct once *once);

static step_fn *const steps[] = {
	connect_read,
	check_schema,
	connect_write,
	publish_policies,
	count_without_policy,
	count_due,
	join,
	run_pass,
	leave,
};

static void
stop(struct once *once)
{
	event_base_loopexit(once->base, NULL);
}

static void
fail(struct once *once, const struct err *err)
{
	once->failed = true;
	fprintf(stderr, "reconciled: %s\n", err->text);
	stop(once);
}

/* Goes on with the next step; ends the loop after the last. When interrupted only the last one is
 * left. */
static void
next(struct once *once)
{
	if (once->interrupted && once->step < ARRAY_LEN(steps))
		once->step = ARRAY_LEN(steps) - 1;
	if (once->step == ARRAY_LEN(steps))
		stop(once);
	else
		steps[once->step++](once);
}

static void
on_step_done(void *owner, const struct err *err)
{
	if (err)
		fail(owner, err);
	else
		next(owner);
}

static void
connect_read(struct once *once)
{
	db_connect(once->read, on_step_done, once);
}

static void
check_schema(struct once *once)
{
	store_check_schema(once->read, on_step_done, once);
}

static void
connect_write(struct once *once)
{
	db_connect(once->write, on_step_done, once);
}

static void
publish_policies(struct once *once)
{
	store_publish_policies(once->write, once->config->policies, once->config->policies_count,
			       on_step_done, once);
}

static void
on_without_policy(void *owner, int64_t count, const struct err *err)
{
	struct once *once = owner;

	once->without_policy = count;
	on_step_done(once, err);
}

static void
count_without_policy(struct once *once)
{
	const struct config *config = once->config;
	const char **names = xcalloc(config->policies_count, sizeof(*names));

	for (size_t i = 0; i < config->policies_count; i++)
		names[i] = config->policies[i].operation_type;
	store_count_without_policy(once->read, names, config->policies_count, on_without_policy,
				   once);
	free(names);
}

static void
on_count_due(void *owner, int64_t count, const struct err *err)
{
	struct once *once = owner;

	progress_set_total(once->progress, count > COUNTED_MAX ? COUNTED_MAX : count,
			   count > COUNTED_MAX);
	on_step_done(once, err);
}

/* Only the bar wants to know. */
static void
count_due(struct once *once)
{
	const char **names = xcalloc(once->types_count, sizeof(*names));

	if (!progress_is_shown(once->progress) || once->options->operations_count > 0) {
		progress_set_total(once->progress, (int64_t)once->options->operations_count, false);
		next(once);
	} else {
		for (size_t i = 0; i < once->types_count; i++)
			names[i] = once->types[i].policy->operation_type;
		store_count_due(once->read, names, once->types_count, COUNTED_MAX + 1, on_count_due,
				once);
	}
	free(names);
}

static void
divide(struct once *once, const struct membership *membership, const struct target *target)
{
	const char *name = target->rules.target;
	struct part part = membership_of_target(membership, target);

	probe_target_set_part(targets_get(once->targets, name), part.part, part.parts);
	for (size_t i = 0; i < once->types_count; i++)
		if (strcmp(once->types[i].policy->target, name) == 0)
			once->standings[i].elsewhere = part.parts == 0;
}

static void
tell_pass(struct once *once)
{
	for (size_t i = 0; i < once->types_count; i++) {
		const struct standing *standing = &once->standings[i];
		struct pass_share share = { 0, standing->elsewhere ? 0 : 1 };

		pass_set_share(once->pass, i, share);
		pass_set_guarded(once->pass, i, standing->guarded);
	}
}

static void
on_learnt(void *owner, const struct cluster_view *view)
{
	struct once *once = owner;
	const struct membership membership = { view, once->config, guest_id(once->guest) };

	for (size_t i = 0; i < once->types_count; i++)
		once->standings[i].guarded =
			membership_of_type(&membership, once->types[i].policy).guarded;
	for (size_t i = 0; i < once->config->targets_count; i++)
		divide(once, &membership, &once->config->targets[i]);
	if (once->pass)
		tell_pass(once);
	else
		next(once);
}

static void
on_beat_failed(void *owner, const struct err *err)
{
	fail(owner, err);
}

static void
join(struct once *once)
{
	guest_join(once->guest);
}

/* An instance that does not say so is missed after a few seconds: its failure is none of ours. */
static void
on_left(void *owner, const struct err *err)
{
	next(owner);
}

static void
leave(struct once *once)
{
	if (!guest_leave(once->guest, on_left, once))
		next(once);
}

static void
on_outcome(void *owner, const struct pass_outcome *outcome)
{
	struct once *once = owner;

	summary_add(once->summary, outcome);
	progress_update(once->progress, summary_checked(once->summary));
}

static void
on_skipped(void *owner, const char *operation_id, const char *operation_type, enum pass_skip why)
{
	struct once *once = owner;

	fprintf(stderr, "reconciled: operation \"%s\" ", operation_id);
	switch (why) {
	case PASS_UNKNOWN:
		fputs("is unknown\n", stderr);
		break;
	case PASS_NO_POLICY:
		fprintf(stderr, "has the type \"%s\", which %s\n", operation_type,
			once->options->types_count > 0 ? "--type leaves out"
						       : "has no policy here");
		break;
	case PASS_PAUSED:
		fprintf(stderr, "has the type \"%s\", which is paused\n", operation_type);
		break;
	}
	once->failed |= why != PASS_PAUSED;
}

static void
on_ready(void *owner, struct probe_target *target)
{
	struct once *once = owner;

	if (once->pass)
		pass_ready(once->pass);
}

static void
run_pass(struct once *once)
{
	const struct config *config = once->config;
	const struct once_options *options = once->options;
	const struct pass_options pass_options = {
		.base = once->base,
		.read = once->read,
		.write = once->write,
		.types = once->types,
		.types_count = once->types_count,
		.ids = options->operations_count > 0 ? options->operations : NULL,
		.ids_count = options->operations_count,
		.limit = options->limit,
		.batch = config->batch,
		.max_in_flight = config->max_in_flight,
		.observe = options->observe || config->observe,
		.max_verdict_age_us = config->max_verdict_age_us,
		.evidence_key = once->evidence_key,
		.actor = strbuf_text(&once->actor),
		.instance_id = strbuf_text(&once->actor),
	};
	const struct pass_observer observer = { on_outcome, on_skipped, on_step_done, once };

	once->pass = pass_create(&pass_options, &observer);
	tell_pass(once);
	pass_start(once->pass);
}

/* Ends the pass; a second signal, or the end of the patience, does not wait for that. */
static void
on_interrupt(evutil_socket_t fd, short what, void *owner)
{
	struct once *once = owner;
	bool again = once->interrupted;

	once->interrupted = true;
	timer_set(once->patience, PATIENCE_US);
	if (!once->pass || again)
		stop(once);
	else
		pass_stop(once->pass);
}

static void
choose_types(struct once *once)
{
	const struct config *config = once->config;

	once->types = xcalloc(config->policies_count, sizeof(*once->types));
	once->standings = xcalloc(config->policies_count, sizeof(*once->standings));
	for (size_t i = 0; i < config->policies_count; i++) {
		const struct policy *policy = &config->policies[i];

		if (choice_has(once->options->types, once->options->types_count,
			       policy->operation_type))
			once->types[once->types_count++] = (struct pass_type){
				policy,
				targets_get(once->targets, policy->target),
			};
	}
}

static void
once_init(struct once *once)
{
	const struct db_options db = {
		.conninfo = once->config->database,
		.password = once->config->database_password,
		.application_name = "reconciled",
		.connect_timeout_us = CONNECT_TIMEOUT_US,
		.statement_timeout_us = STATEMENT_TIMEOUT_US,
	};
	static const int signals[] = { SIGINT, SIGTERM };
	const struct guest_callbacks of_guest = { on_learnt, on_beat_failed, once };

	once->base = event_base_new();
	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		once->on_signal[i] = evsignal_new(once->base, signals[i], on_interrupt, once);
		event_add(once->on_signal[i], NULL);
	}
	once->patience = evtimer_new(once->base, on_interrupt, once);
	once->read = db_create(once->base, &db);
	once->write = db_create(once->base, &db);
	once->guest = guest_create(once->base, once->read, once->config->instance_name, &of_guest);
	once->curl = curl_loop_create(once->base);
	once->engine = probe_engine_create(once->base, once->curl);
	once->targets = targets_create(once->engine, once->config);
	probe_engine_on_ready(once->engine, on_ready, once);
	strbuf_printf(&once->actor, "reconciled:%s", once->config->instance_name);
	once->evidence_key = hmac_create(secret_reveal(once->config->evidence_hash_key),
					 secret_len(once->config->evidence_hash_key));
	choose_types(once);
	once->summary = summary_create(stdout, once->options->json, once->types, once->types_count);
	once->progress = progress_create(once->options->progress);
}

static void
once_finish(struct once *once)
{
	db_destroy(once->read);
	db_destroy(once->write);
	guest_destroy(once->guest);
	pass_destroy(once->pass);
	summary_destroy(once->summary);
	hmac_destroy(once->evidence_key);
	free(once->types);
	free(once->standings);
	strbuf_finish(&once->actor);
	probe_engine_destroy(once->engine);
	targets_destroy(once->targets);
	curl_loop_destroy(once->curl);
	for (size_t i = 0; i < ARRAY_LEN(once->on_signal); i++)
		event_free(once->on_signal[i]);
	event_free(once->patience);
	event_base_free(once->base);
}

static void
report_left(const struct once *once)
{
	for (size_t i = 0; i < once->types_count; i++)
		if (pass_left_type(once->pass, i))
			fprintf(stderr,
				"reconciled: operations of type \"%s\" were left: target \"%s\" "
				"%s\n",
				once->types[i].policy->operation_type,
				once->types[i].policy->target,
				once->standings[i].elsewhere
					? "belongs to another instance, it takes too few questions "
					  "at a time for all"
					: "lets nothing be asked for a while");
}

static enum exit_code
outcome_of(const struct once *once)
{
	if (once->failed || once->interrupted || summary_refused(once->summary))
		return EXIT_FAILED;
	if (summary_unavailable(once->summary) || pass_left_unasked(once->pass))
		return EXIT_UNAVAILABLE;
	return EXIT_DONE;
}

enum exit_code
once_run(const struct config *config, const struct once_options *options)
{
	struct once once = { .config = config, .options = options };
	enum exit_code code;

	once_init(&once);
	next(&once);
	event_base_dispatch(once.base);
	progress_destroy(once.progress);
	if (once.pass) {
		summary_print(once.summary, once.without_policy);
		report_left(&once);
	}
	if (once.interrupted)
		fputs("reconciled: interrupted; what was not looked at stays due\n", stderr);
	code = outcome_of(&once);
	once_finish(&once);
	return code;
}
