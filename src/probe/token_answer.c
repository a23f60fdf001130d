/* SPDX-License-Identifier: Apache-2.0
 *
 * Jansson reads: nothing here is compared.
 */
#include "token_answer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/xalloc.h"

#define LIFE_MAX_S ((int64_t)10 * 365 * 24 * 3600)

static void
wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void
token_answer_finish(struct token_answer *answer)
{
	wipe(answer->access_token);
	wipe(answer->refresh_token);
	*answer = (struct token_answer){ 0 };
}

/* What a header or a form can carry. */
static bool
is_token(const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || len > TOKEN_BYTES_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return true;
}

/* The codes of RFC 6749 are words that the log may show; anything else is not repeated. */
static const char *
error_code(const json_t *body)
{
	static const char *const codes[] = { "invalid_request",	       "invalid_client",
					     "invalid_grant",	       "unauthorized_client",
					     "invalid_scope",	       "unsupported_grant_type",
					     "access_denied",	       "server_error",
					     "temporarily_unavailable" };
	const char *code = json_string_value(json_object_get(body, "error"));

	for (size_t i = 0; code && i < ARRAY_LEN(codes); i++)
		if (strcmp(codes[i], code) == 0)
			return codes[i];
	return NULL;
}

/* Some write the number as a text. What no integer can hold is cut before it becomes one. */
static int64_t
life_us(const json_t *value)
{
	const char *text = json_string_value(value);
	double seconds = text ? strtod(text, NULL) : json_number_value(value);

	if (!(seconds > 0))
		return 0;
	return (seconds < (double)LIFE_MAX_S ? (int64_t)seconds : LIFE_MAX_S) * SECOND;
}

static bool
is_bearer(const json_t *body)
{
	const char *type = json_string_value(json_object_get(body, "token_type"));

	return !type || strcasecmp(type, "bearer") == 0;
}

static bool
take(const json_t *body, struct token_answer *ret_answer, struct err *err)
{
	const char *access = json_string_value(json_object_get(body, "access_token"));
	const char *refresh = json_string_value(json_object_get(body, "refresh_token"));

	if (!access || !is_token(access))
		return err_set(err, ERR_TRANSIENT, "answer without a usable access_token");
	if (!is_bearer(body))
		return err_set(err, ERR_TRANSIENT, "the token is no bearer token");
	*ret_answer = (struct token_answer){
		.access_token = xstrdup(access),
		.refresh_token = refresh && is_token(refresh) ? xstrdup(refresh) : NULL,
		.expires_in_us = life_us(json_object_get(body, "expires_in")),
	};
	return true;
}

bool
token_answer_read(int status, const char *body, size_t len, struct token_answer *ret_answer,
		  struct err *err)
{
	json_t *root = json_loadb(body, len, 0, NULL);
	const char *code = error_code(root);
	bool taken = false;

	if (code)
		err_fill(err, ERR_TRANSIENT, "%s (status %d)", code, status);
	else if (status != 200)
		err_fill(err, ERR_TRANSIENT, "status %d", status);
	else if (!json_is_object(root))
		err_fill(err, ERR_TRANSIENT, "answer is no JSON object");
	else
		taken = take(root, ret_answer, err);
	json_decref(root);
	return taken;
}
