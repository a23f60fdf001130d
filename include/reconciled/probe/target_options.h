/* SPDX-License-Identifier: Apache-2.0
 *
 * A target as the engine must know it: where it is, how to log in, what it bears.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "reconciled/core/reading.h"
#include "reconciled/net/curl_loop.h"
#include "reconciled/probe/login.h"

/* What the engine must know of a target. What it points to is borrowed for the engine's life; the
 * texts may be secret. */
struct probe_target_options {
	const struct target_rules *rules;
	const char *base;
	enum auth_scheme auth;
	const char *auth_header; /* HEADER: name */
	const char *auth_user;	 /* BASIC */
	const char *auth_secret;
	struct probe_oauth2 oauth2;
	struct probe_sigv4 sigv4;
	struct probe_hmac hmac;
	const struct header *headers;
	size_t headers_count;
	/* As in curl_peer_options. */
	const char *ca_file, *cert_file, *key_file, *key_text;
	enum tls_floor tls_min;
	const char *unix_socket, *proxy;
	int64_t connect_timeout_us, total_timeout_us;
	int64_t max_body_bytes;
	int concurrent;
	int64_t control_every_us;
	int rate_count; /* in rate_period_us; 0: no limit */
	int64_t rate_period_us;
	int rate_burst;
	int retry_attempts; /* within one reading, the first included; 0: as 1 */
	int64_t retry_backoff_us, retry_max_us; /* the first pause; all pauses of a reading */
	int breaker_failures;			/* in a row; 0: it never opens */
	int breaker_trial;
	int64_t breaker_open_us;
};
