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
#include "reconciled/core/signing.h"

struct secret;

enum auth_kind {
	AUTH_NONE,
	AUTH_BEARER,
	AUTH_BASIC,
	AUTH_HEADER,
	AUTH_OAUTH2,
	AUTH_SIGV4,
	AUTH_HMAC
};
enum oauth2_style { OAUTH2_BASIC, OAUTH2_BODY }; /* where client id and secret stand */
enum tls_version { TLS_DEFAULT, TLS_1_2, TLS_1_3 };

/* A value that is written in the file or is a secret; both NULL: not given. */
struct setting {
	const char *text;
	const struct secret *secret;
};

struct oauth2 {
	const char *token_url; /* whole; a path was written below the base */
	struct setting client_id, client_secret, refresh_token;
	const char *scope; /* or NULL */
	enum oauth2_style style;
};

struct sigv4 {
	const char *region, *service;
	struct setting access_key, secret_key, session_token;
};

/* An HMAC that the target defines. */
struct hmac_auth {
	struct signing_rule rule;
	struct setting key;
	const char *header; /* name */
};

struct auth {
	enum auth_kind kind;
	const char *header; /* HEADER: name */
	const char *user;   /* BASIC: literal, or NULL when it is a secret as well */
	const struct secret *user_secret;
	const struct secret *secret; /* token, password or value */
	struct oauth2 oauth2;
	struct sigv4 sigv4;
	struct hmac_auth hmac;
};

struct target {
	struct target_rules rules; /* rules.target is the name */
	const char *base;	   /* "https://host[:port][/path]" without trailing "/" */
	bool insecure;
	struct auth auth;
	const struct header *headers;
	size_t headers_count;
	const char *tls_ca, *tls_cert, *tls_key; /* files or NULL */
	const struct secret *tls_key_secret;	 /* the key itself, PEM */
	enum tls_version tls_min;
	const char *socket; /* unix socket instead of host and port, or NULL */
	const char *proxy;  /* URL or NULL: none, whatever the environment says */
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
