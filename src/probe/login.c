/* SPDX-License-Identifier: Apache-2.0
 *
 * One switch over the ways to log in; each has a file of its own.
 */
#include "login.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "hmac_auth.h"
#include "lines.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/xalloc.h"
#include "sigv4.h"

struct login {
	const struct probe_target_options *options;
	struct token *token; /* OAUTH2 */
};

/* The token may come from somewhere else; the socket leads to the target alone. */
static bool
is_elsewhere(const char *token_url, const char *base)
{
	const char *host = strstr(base, "://");
	size_t len = host ? (size_t)(host - base) + strlen("://") : 0;

	len += strcspn(base + len, "/");
	return strncasecmp(token_url, base, len) != 0 ||
	       (token_url[len] != '\0' && token_url[len] != '/' && token_url[len] != '?');
}

struct login *
login_create(struct curl_loop *curl, const struct probe_target_options *options,
	     const struct curl_peer_options *peer)
{
	struct login *login = xcalloc(1, sizeof(*login));
	struct curl_peer_options of_token = *peer;
	const struct token_options token = { .target = options->rules->target,
					     .oauth2 = &options->oauth2,
					     .peer = &of_token };

	login->options = options;
	if (options->auth != AUTH_SCHEME_OAUTH2)
		return login;
	if (is_elsewhere(options->oauth2.token_url, options->base))
		of_token.unix_socket = NULL;
	login->token = token_create(curl, &token);
	return login;
}

void
login_destroy(struct login *login)
{
	if (!login)
		return;
	token_destroy(login->token);
	free(login);
}

void
login_add_fixed(const struct login *login, struct lines *lines)
{
	const struct probe_target_options *options = login->options;

	switch (options->auth) {
	case AUTH_SCHEME_BEARER:
		lines_add(lines, "authorization", "Bearer ", options->auth_secret);
		return;
	case AUTH_SCHEME_BASIC:
		lines_add_basic(lines, options->auth_user, options->auth_secret);
		return;
	case AUTH_SCHEME_HEADER:
		lines_add(lines, options->auth_header, "", options->auth_secret);
		return;
	case AUTH_SCHEME_NONE:
	case AUTH_SCHEME_OAUTH2:
	case AUTH_SCHEME_SIGV4:
	case AUTH_SCHEME_HMAC:
		return;
	}
}

bool
login_is_ready(struct login *login)
{
	return !login->token || token_bearer(login->token) != NULL;
}

void
login_wait(struct login *login, struct token_waiter *waiter)
{
	token_wait(login->token, waiter);
}

void
login_unwait(struct login *login, struct token_waiter *waiter)
{
	token_unwait(login->token, waiter);
}

unsigned
login_sign(struct login *login, const struct outgoing *request, struct lines *lines)
{
	const struct probe_target_options *options = login->options;
	struct outgoing whole = *request;

	whole.fixed = options->headers;
	whole.fixed_count = options->headers_count;
	switch (options->auth) {
	case AUTH_SCHEME_OAUTH2:
		lines_add(lines, "authorization", "Bearer ", token_bearer(login->token));
		return token_number(login->token);
	case AUTH_SCHEME_SIGV4:
		sigv4_sign(&options->sigv4, &whole, clock_wall_us(), lines);
		return 0;
	case AUTH_SCHEME_HMAC:
		hmac_auth_sign(&options->hmac, &whole, clock_wall_us(), lines);
		return 0;
	case AUTH_SCHEME_NONE:
	case AUTH_SCHEME_BEARER:
	case AUTH_SCHEME_BASIC:
	case AUTH_SCHEME_HEADER:
		return 0;
	}
	return 0;
}

bool
login_refused(struct login *login, unsigned number)
{
	if (!login->token)
		return false;
	token_refused(login->token, number);
	return true;
}

void
login_inherit(struct login *login, const struct login *before)
{
	if (login->token && before->token)
		token_inherit(login->token, before->token);
}
