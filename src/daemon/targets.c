/* SPDX-License-Identifier: Apache-2.0
 *
 * Translates targets of the configuration into targets of the probe engine, which does not know the
 * configuration.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/secret.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/config/config.h"
#include "reconciled/probe/engine.h"

#include "targets.h"

struct targets {
	const struct config *config;
	struct probe_target **handles; /* in the order of config->targets */
};

static const enum auth_scheme schemes[] = {
	[AUTH_NONE] = AUTH_SCHEME_NONE,
	[AUTH_BEARER] = AUTH_SCHEME_BEARER,
	[AUTH_BASIC] = AUTH_SCHEME_BASIC,
	[AUTH_HEADER] = AUTH_SCHEME_HEADER,
};

static const char *
user_of(const struct auth *auth)
{
	return auth->user_secret ? secret_reveal(auth->user_secret) : auth->user;
}

static struct probe_target *
add(struct probe_engine *engine, const struct target *target)
{
	const struct probe_target_options options = {
		.rules = &target->rules,
		.base = target->base,
		.auth = schemes[target->auth.kind],
		.auth_header = target->auth.header,
		.auth_user = user_of(&target->auth),
		.auth_secret = target->auth.secret ? secret_reveal(target->auth.secret) : NULL,
		.headers = target->headers,
		.headers_count = target->headers_count,
		.ca_file = target->tls_ca,
		.connect_timeout_us = target->connect_timeout_us,
		.total_timeout_us = target->total_timeout_us,
		.max_body_bytes = target->max_body_bytes,
		.concurrent = target->concurrent,
		.control_every_us = target->control_every_us,
		.rate_count = target->rate_count,
		.rate_period_us = target->rate_period_us,
		.rate_burst = target->rate_burst,
		.retry_attempts = target->retry_attempts,
		.retry_backoff_us = target->retry_backoff_us,
		.retry_max_us = target->retry_max_us,
		.breaker_failures = target->breaker_failures,
		.breaker_trial = target->breaker_trial,
		.breaker_open_us = target->breaker_open_us,
	};

	return probe_engine_add(engine, &options);
}

struct targets *
targets_create(struct probe_engine *engine, const struct config *config)
{
	struct targets *targets = xcalloc(1, sizeof(*targets));

	targets->config = config;
	targets->handles = xcalloc(config->targets_count, sizeof(struct probe_target *));
	for (size_t i = 0; i < config->targets_count; i++)
		targets->handles[i] = add(engine, &config->targets[i]);
	return targets;
}

void
targets_destroy(struct targets *targets)
{
	if (!targets)
		return;
	free(targets->handles);
	free(targets);
}

struct probe_target *
targets_get(const struct targets *targets, const char *name)
{
	const struct target *target = config_target(targets->config, name);

	assert(target);
	return targets->handles[target - targets->config->targets];
}
