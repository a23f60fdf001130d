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
	int64_t control_every_us;
};
