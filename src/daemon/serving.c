/* SPDX-License-Identifier: Apache-2.0
 *
 * Wires policies, targets and the pass, and carries over to them what a heartbeat learned.
 */
#include <stdlib.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/hash.h"
#include "reconciled/base/log.h"
#include "reconciled/base/secret.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/config/config.h"
#include "reconciled/daemon/daemon.h"
#include "reconciled/net/curl_loop.h"
#include "reconciled/probe/engine.h"
#include "reconciled/reconcile/pass.h"
#include "reconciled/store/instances.h"
#include "reconciled/web/metrics.h"
#include "reconciled/wiring/targets.h"

#include "choice.h"
#include "membership.h"
#include "outcomes.h"
#include "serving.h"

/* What the last heartbeat knew of a type; a change is told once. */
struct told {
	bool guarded, outdated, paused;
};

struct serving {
	struct serving_context context;
	struct config *config;
	struct probe_engine *engine;
	struct targets *targets;
	struct policy *policies; /* shallow copies */
	struct pass_type *types;
	struct told *told;
	size_t count;
	struct hmac *evidence_key;
	struct pass *pass;
	bool published;
	bool over; /* the pass has ended, and waits to be dropped */
};

static void
choose_types(struct serving *serving)
{
	const struct config *config = serving->config;

	serving->policies = xcalloc(config->policies_count, sizeof(*serving->policies));
	serving->types = xcalloc(config->policies_count, sizeof(*serving->types));
	serving->told = xcalloc(config->policies_count, sizeof(*serving->told));
	for (size_t i = 0; i < config->policies_count; i++) {
		const struct policy *policy = &config->policies[i];

		if (!choice_has(serving->context.options->types,
				serving->context.options->types_count, policy->operation_type))
			continue;
		serving->policies[serving->count] = *policy;
		serving->types[serving->count++] = (struct pass_type){
			policy,
			targets_get(serving->targets, policy->target),
		};
	}
}

static void
on_ready(void *owner, struct probe_target *target)
{
	struct serving *serving = owner;

	if (serving->pass)
		pass_ready(serving->pass);
}

static void
on_answered(void *owner, const char *target, enum reason cause, int64_t elapsed_us)
{
	struct serving *serving = owner;

	metrics_count_probe(serving->context.metrics, target, cause, elapsed_us);
}

struct serving *
serving_create(const struct serving_context *context, struct config *config)
{
	struct serving *serving = xcalloc(1, sizeof(*serving));

	serving->context = *context;
	serving->config = config;
	serving->engine = probe_engine_create(context->base, context->curl);
	serving->targets = targets_create(serving->engine, config);
	probe_engine_on_ready(serving->engine, on_ready, serving);
	probe_engine_on_answered(serving->engine, on_answered, serving);
	serving->evidence_key = hmac_create(secret_reveal(config->evidence_hash_key),
					    secret_len(config->evidence_hash_key));
	choose_types(serving);
	return serving;
}

void
serving_destroy(struct serving *serving)
{
	if (!serving)
		return;
	serving_drop(serving);
	probe_engine_destroy(serving->engine);
	targets_destroy(serving->targets);
	hmac_destroy(serving->evidence_key);
	free(serving->policies);
	free(serving->types);
	free(serving->told);
	config_unref(serving->config);
	free(serving);
}

void
serving_inherit(struct serving *serving, const struct serving *before)
{
	for (size_t i = 0; i < serving->config->targets_count; i++) {
		const char *name = serving->config->targets[i].rules.target;

		if (config_target(before->config, name))
			probe_target_inherit(targets_get(serving->targets, name),
					     targets_get(before->targets, name));
	}
}

const struct config *
serving_config(const struct serving *serving)
{
	return serving->config;
}

const struct policy *
serving_policies(const struct serving *serving, size_t *ret_count)
{
	*ret_count = serving->count;
	return serving->policies;
}

bool
serving_is_published(const struct serving *serving)
{
	return serving->published;
}

void
serving_note_published(struct serving *serving)
{
	serving->published = true;
}

bool
serving_is_unknown_to(const struct serving *serving, const struct cluster_view *view)
{
	const struct membership membership = { view, serving->config,
					       serving->context.instance_id };

	for (size_t i = 0; i < serving->count; i++)
		if (membership_of_type(&membership, &serving->policies[i]).unpublished)
			return true;
	return false;
}

bool
serving_is_foreign_to(const struct serving *serving, const struct cluster_view *view)
{
	const struct membership membership = { view, serving->config,
					       serving->context.instance_id };

	for (size_t i = 0; i < serving->count; i++)
		if (membership_of_type(&membership, &serving->policies[i]).outdated)
			return view->rewound;
	return false;
}

/* One question, and the longest pause before it is asked again. */
int64_t
serving_longest_us(const struct serving *serving)
{
	int64_t longest_us = 0;

	for (size_t i = 0; i < serving->config->targets_count; i++) {
		const struct target *target = &serving->config->targets[i];
		int64_t takes_us = target->total_timeout_us + target->retry_max_us;

		if (takes_us > longest_us)
			longest_us = takes_us;
	}
	return longest_us;
}

static void
on_outcome(void *owner, const struct pass_outcome *outcome)
{
	struct serving *serving = owner;

	outcome_log(outcome);
	outcome_count(outcome, serving->context.metrics);
}

static void
on_over(void *owner, const struct err *err)
{
	struct serving *serving = owner;

	serving->over = true;
	serving->context.over(serving->context.owner, err);
}

void
serving_start(struct serving *serving, struct db *read, struct db *write)
{
	const struct config *config = serving->config;
	const struct serving_context *context = &serving->context;
	const struct pass_options options = {
		.base = context->base,
		.read = read,
		.write = write,
		.types = serving->types,
		.types_count = serving->count,
		.batch = config->batch,
		.max_in_flight = config->max_in_flight,
		.observe = context->options->observe || config->observe,
		.max_verdict_age_us = config->max_verdict_age_us,
		.interval_us = config->interval_us,
		.note_instance_id = context->instance_id,
		.evidence_key = serving->evidence_key,
		.actor = context->actor,
		.instance_id = context->instance_id,
	};
	const struct pass_observer observer = {
		.outcome = on_outcome,
		.done = on_over,
		.owner = serving,
	};

	serving_drop(serving);
	serving->over = false;
	serving->pass = pass_create(&options, &observer);
	for (size_t i = 0; i < serving->count; i++)
		pass_set_share(serving->pass, i, (struct pass_share){ 0, 0 });
	pass_start(serving->pass);
}

bool
serving_is_running(const struct serving *serving)
{
	return serving->pass && !serving->over;
}

static void
tell_of_type(struct told *told, const char *operation_type, const struct membership_type *now)
{
	if (now->outdated && !told->outdated)
		log_warning("another instance published another policy, this one leaves the type "
			    "alone until it is reloaded or restarted",
			    F_STR("operation_type", operation_type));
	if (!now->outdated && told->outdated)
		log_info("the policy is the published one again",
			 F_STR("operation_type", operation_type));
	if (now->guarded && !told->guarded)
		log_warning("a guard holds back every action but confirmations, see reconcilectl "
			    "guard list",
			    F_STR("operation_type", operation_type));
	if (!now->guarded && told->guarded)
		log_info("no guard holds back actions any more",
			 F_STR("operation_type", operation_type));
	if (now->paused != told->paused)
		log_info(now->paused ? "a person paused the type, it is left alone"
				     : "a person resumed the type",
			 F_STR("operation_type", operation_type));
	*told = (struct told){ now->guarded, now->outdated, now->paused };
}

static void
apply_to_targets(struct serving *serving, const struct membership *membership)
{
	for (size_t i = 0; i < serving->config->targets_count; i++) {
		const struct target *target = &serving->config->targets[i];
		struct part part = membership_of_target(membership, target);

		probe_target_set_part(targets_get(serving->targets, target->rules.target),
				      part.part, part.parts);
	}
}

/* Limits first: a share that grows must not be asked for at the rate of one who was alone. */
void
serving_apply(struct serving *serving, const struct cluster_view *view)
{
	const struct membership membership = { view, serving->config,
					       serving->context.instance_id };

	apply_to_targets(serving, &membership);
	for (size_t i = 0; i < serving->count; i++) {
		struct membership_type type =
			membership_of_type(&membership, &serving->policies[i]);

		tell_of_type(&serving->told[i], serving->policies[i].operation_type, &type);
		if (!serving->pass)
			continue;
		pass_set_guarded(serving->pass, i, type.guarded);
		pass_set_share(serving->pass, i, type.share);
	}
}

void
serving_wake(struct serving *serving, const char *operation_type)
{
	if (serving->pass)
		pass_wake(serving->pass, operation_type);
}

void
serving_stop(struct serving *serving)
{
	pass_stop(serving->pass);
}

void
serving_drop(struct serving *serving)
{
	pass_destroy(TAKE(serving->pass));
}

void
serving_label(const struct serving *serving)
{
	const struct config *config = serving->config;
	CLEANUP(xfree_at) const char **types = xcalloc(serving->count, sizeof(*types));
	CLEANUP(xfree_at) const char **asked = xcalloc(serving->count, sizeof(*asked));
	CLEANUP(xfree_at) const char **targets = xcalloc(config->targets_count, sizeof(*targets));

	for (size_t i = 0; i < serving->count; i++) {
		types[i] = serving->policies[i].operation_type;
		asked[i] = serving->policies[i].target;
	}
	for (size_t i = 0; i < config->targets_count; i++)
		targets[i] = config->targets[i].rules.target;
	metrics_set_labels(serving->context.metrics, &(struct metrics_labels){
							     .types = types,
							     .targets_of_types = asked,
							     .types_count = serving->count,
							     .targets = targets,
							     .targets_count = config->targets_count,
						     });
}

void
serving_tell(const struct serving *serving, struct strbuf *out)
{
	size_t guarded = 0, paused = 0, outdated = 0;

	for (size_t i = 0; i < serving->count; i++) {
		guarded += serving->told[i].guarded;
		paused += serving->told[i].paused;
		outdated += serving->told[i].outdated;
	}
	strbuf_printf(out, "%zu", serving->count);
	if (guarded > 0)
		strbuf_printf(out, ", guarded: %zu", guarded);
	if (paused > 0)
		strbuf_printf(out, ", paused: %zu", paused);
	if (outdated > 0)
		strbuf_printf(out, ", of another policy: %zu", outdated);
}

static void
show_type(const struct serving *serving, size_t i)
{
	struct metrics *metrics = serving->context.metrics;
	const char *type = serving->policies[i].operation_type;
	int64_t ended_us = serving->pass ? pass_ended_us(serving->pass, i) : 0;

	metrics_set_guard(metrics, type, serving->told[i].guarded);
	metrics_set_paused(metrics, type, serving->told[i].paused);
	if (ended_us > 0)
		metrics_set_last_pass(metrics, type, ended_us);
}

void
serving_show(const struct serving *serving)
{
	struct metrics *metrics = serving->context.metrics;

	for (size_t i = 0; i < serving->count; i++)
		show_type(serving, i);
	for (size_t i = 0; i < serving->config->targets_count; i++) {
		const char *name = serving->config->targets[i].rules.target;
		struct probe_target *target = targets_get(serving->targets, name);

		metrics_set_breaker(metrics, name, (int)probe_target_breaker(target));
		metrics_set_control_lost(metrics, name,
					 probe_target_control(target) == CONTROL_LOST);
	}
	metrics_set_isolated(metrics, probe_engine_is_isolated(serving->engine));
}
