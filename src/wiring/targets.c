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
#include "reconciled/wiring/targets.h"

struct targets {
	const struct config *config;
	struct probe_target **handles; /* in the order of config->targets */
};

static const enum auth_scheme schemes[] = {
	[AUTH_NONE] = AUTH_SCHEME_NONE,	    [AUTH_BEARER] = AUTH_SCHEME_BEARER,
	[AUTH_BASIC] = AUTH_SCHEME_BASIC,   [AUTH_HEADER] = AUTH_SCHEME_HEADER,
	[AUTH_OAUTH2] = AUTH_SCHEME_OAUTH2, [AUTH_SIGV4] = AUTH_SCHEME_SIGV4,
	[AUTH_HMAC] = AUTH_SCHEME_HMAC,
};

static const enum tls_floor floors[] = {
	[TLS_DEFAULT] = TLS_FLOOR_DEFAULT,
	[TLS_1_2] = TLS_FLOOR_1_2,
	[TLS_1_3] = TLS_FLOOR_1_3,
};

static const char *
reveal(const struct secret *secret)
{
	return secret ? secret_reveal(secret) : NULL;
}

static const char *
value_of(const struct setting *setting)
{
	return setting->secret ? secret_reveal(setting->secret) : setting->text;
}

static const char *
user_of(const struct auth *auth)
{
	return auth->user_secret ? secret_reveal(auth->user_secret) : auth->user;
}

static struct probe_oauth2
oauth2_of(const struct oauth2 *oauth2)
{
	return (struct probe_oauth2){
		.token_url = oauth2->token_url,
		.client_id = value_of(&oauth2->client_id),
		.client_secret = value_of(&oauth2->client_secret),
		.refresh_token = value_of(&oauth2->refresh_token),
		.scope = oauth2->scope,
		.in_body = oauth2->style == OAUTH2_BODY,
	};
}

static struct probe_sigv4
sigv4_of(const struct sigv4 *sigv4)
{
	return (struct probe_sigv4){
		.region = sigv4->region,
		.service = sigv4->service,
		.access_key = value_of(&sigv4->access_key),
		.secret_key = value_of(&sigv4->secret_key),
		.session_token = value_of(&sigv4->session_token),
	};
}

static struct probe_hmac
hmac_of(const struct hmac_auth *hmac)
{
	return (struct probe_hmac){
		.rule = hmac->rule,
		.key = value_of(&hmac->key),
		.header = hmac->header,
	};
}

struct probe_target *
targets_add(struct probe_engine *engine, const struct target *target)
{
	const struct probe_target_options options = {
		.rules = &target->rules,
		.base = target->base,
		.auth = schemes[target->auth.kind],
		.auth_header = target->auth.header,
		.auth_user = user_of(&target->auth),
		.auth_secret = reveal(target->auth.secret),
		.oauth2 = oauth2_of(&target->auth.oauth2),
		.sigv4 = sigv4_of(&target->auth.sigv4),
		.hmac = hmac_of(&target->auth.hmac),
		.headers = target->headers,
		.headers_count = target->headers_count,
		.ca_file = target->tls_ca,
		.cert_file = target->tls_cert,
		.key_file = target->tls_key,
		.key_text = reveal(target->tls_key_secret),
		.tls_min = floors[target->tls_min],
		.unix_socket = target->socket,
		.proxy = target->proxy,
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
		targets->handles[i] = targets_add(engine, &config->targets[i]);
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
