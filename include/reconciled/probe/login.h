/* SPDX-License-Identifier: Apache-2.0
 *
 * How questions to a target say who asks. All texts are borrowed for the engine's life and may be
 * secret.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/core/signing.h"

enum auth_scheme {
	AUTH_SCHEME_NONE,
	AUTH_SCHEME_BEARER,
	AUTH_SCHEME_BASIC,
	AUTH_SCHEME_HEADER,
	AUTH_SCHEME_OAUTH2,
	AUTH_SCHEME_SIGV4,
	AUTH_SCHEME_HMAC,
};

/* Client credentials (RFC 6749, 4.4), or with a refresh token its grant (6). */
struct probe_oauth2 {
	const char *token_url;
	const char *client_id;
	const char *client_secret;	   /* NULL only beside a refresh token */
	const char *refresh_token, *scope; /* or NULL */
	bool in_body;			   /* id and secret stand in the form, not in a header */
};

struct probe_sigv4 {
	const char *region, *service;
	const char *access_key, *secret_key;
	const char *session_token; /* or NULL */
};

struct probe_hmac {
	struct signing_rule rule;
	const char *key;
	/* Carries the signature, unless a header of the target with this name says how. With this
	 * scheme headers of the target may hold the placeholders of a signed text. */
	const char *header;
};
