/* SPDX-License-Identifier: Apache-2.0
 *
 * A target system: where it is, how to log in, what it bears, and how its answers are recognised.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/core/policy.h"
#include "reconciled/core/reading.h"

struct secret;

enum auth_kind { AUTH_NONE, AUTH_BEARER, AUTH_BASIC, AUTH_HEADER };

struct auth {
	enum auth_kind kind;
	const char *header; /* HEADER: name */
	const char *user;   /* BASIC: literal, or NULL when it is a secret as well */
	const struct secret *user_secret;
	const struct secret *secret; /* token, password or value */
};

struct target {
	struct target_rules rules; /* rules.target is the name */
	const char *base;	   /* "https://host[:port][/path]" without trailing "/" */
	bool insecure;
	struct auth auth;
	const struct header *headers;
	size_t headers_count;
	const char *tls_ca; /* file or NULL */
	int64_t connect_timeout_us, total_timeout_us;
	int64_t max_body_bytes; /* decoded */
	int concurrent;
	int rate_count; /* questions in rate_period_us; 0: no limit */
	int64_t rate_period_us;
	int rate_burst;
	int retry_attempts; /* within one reading, the first included */
	int64_t retry_backoff_us, retry_max_us;
	int breaker_failures, breaker_trial;
	int64_t breaker_open_us;
	int64_t control_every_us;
};
