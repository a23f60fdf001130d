/* SPDX-License-Identifier: Apache-2.0
 *
 * Nobody asks ahead of need, so an idle target costs nothing. Whoever needs a token while one is
 * being fetched waits for that one; all of them get the same answer, also when it is a failure.
 */
#include "token.h"

#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/log.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/core/percent.h"
#include "token_answer.h"

/* So long before its end a token is not used any more: a tenth of its life, at most a minute. */
enum { MARGIN_PARTS = 10 };
#define MARGIN_MAX MINUTE

enum { BODY_BYTES_MAX = 64 * 1024 };

struct token {
	struct token_options options;
	struct curl_peer *peer;
	struct transfer *transfer; /* the request under way */
	char *form;		   /* its body */
	int64_t began_us;
	char *access;	    /* NULL: no token */
	int64_t expires_us; /* CLOCK_MONOTONIC; INT64_MAX: not known */
	unsigned number;
	char *refresh_token; /* newer than the one of the options, or NULL */
	bool failing;	     /* the log said so */
	/* For the request under way; those who are told now what came of the one before. */
	struct token_waiters waiting, told;
};

static void
wipe(char **text)
{
	if (*text)
		explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

struct token *
token_create(struct curl_loop *curl, const struct token_options *options)
{
	struct token *token = xcalloc(1, sizeof(*token));
	struct curl_peer_options peer = *options->peer;

	peer.connections = 1;
	peer.max_body_bytes = BODY_BYTES_MAX;
	peer.headers = NULL;
	peer.headers_count = 0;
	token->options = *options;
	token->options.peer = NULL;
	token->peer = curl_peer_create(curl, &peer);
	TAILQ_INIT(&token->waiting);
	TAILQ_INIT(&token->told);
	return token;
}

void
token_destroy(struct token *token)
{
	if (!token)
		return;
	curl_peer_destroy(token->peer);
	wipe(&token->form);
	wipe(&token->access);
	wipe(&token->refresh_token);
	free(token);
}

const char *
token_bearer(struct token *token)
{
	if (token->access && token->expires_us != INT64_MAX &&
	    clock_monotonic_us() >= token->expires_us)
		wipe(&token->access);
	return token->access;
}

unsigned
token_number(const struct token *token)
{
	return token->number;
}

static void
add_pair(struct strbuf *form, const char *name, const char *value)
{
	if (!value)
		return;
	if (form->len > 0)
		strbuf_putc(form, '&');
	strbuf_puts(form, name);
	strbuf_putc(form, '=');
	percent_add(form, value, strlen(value), false);
}

static const char *
refresh_token(const struct token *token)
{
	return token->refresh_token ? token->refresh_token : token->options.oauth2->refresh_token;
}

static size_t
length(const char *text)
{
	return text ? strlen(text) : 0;
}

/* A client without a secret only says who it is. */
static bool
has_header(const struct probe_oauth2 *oauth2)
{
	return !oauth2->in_body && oauth2->client_secret;
}

static char *
form_of(const struct token *token)
{
	const struct probe_oauth2 *oauth2 = token->options.oauth2;
	const char *refresh = refresh_token(token);
	struct strbuf form = { 0 };

	/* Room for all of it at once, so that growing leaves no copies behind. */
	strbuf_extend(&form, 1024 + 3 * (length(refresh) + length(oauth2->client_secret)));
	strbuf_reset(&form);
	add_pair(&form, "grant_type", refresh ? "refresh_token" : "client_credentials");
	add_pair(&form, "refresh_token", refresh);
	add_pair(&form, "scope", oauth2->scope);
	if (!has_header(oauth2)) {
		add_pair(&form, "client_id", oauth2->client_id);
		add_pair(&form, "client_secret", oauth2->client_secret);
	}
	return strbuf_take(&form);
}

/* Both are encoded like a form before they become user and password (RFC 6749, 2.3.1). */
static void
add_client(struct lines *lines, const struct probe_oauth2 *oauth2)
{
	struct strbuf id = { 0 }, secret = { 0 };

	percent_add(&id, oauth2->client_id, strlen(oauth2->client_id), false);
	strbuf_extend(&secret, 3 * strlen(oauth2->client_secret) + 1);
	strbuf_reset(&secret);
	percent_add(&secret, oauth2->client_secret, strlen(oauth2->client_secret), false);
	lines_add_basic(lines, strbuf_text(&id), strbuf_text(&secret));
	explicit_bzero(secret.data, secret.size);
	strbuf_finish(&id);
	strbuf_finish(&secret);
}

/* A login that came to nothing is no answer of the target, not even a wrong one. */
static const enum reason reasons[] = {
	[TRANSFER_OK] = REASON_TRANSPORT,
	[TRANSFER_TIMEOUT] = REASON_TIMEOUT,
	[TRANSFER_REFUSED] = REASON_REFUSED,
	[TRANSFER_DNS] = REASON_DNS,
	[TRANSFER_TLS] = REASON_TLS,
	[TRANSFER_TRUNCATED] = REASON_TRANSPORT,
	[TRANSFER_TOO_LARGE] = REASON_TRANSPORT,
	[TRANSFER_FAILED] = REASON_TRANSPORT,
};

static void
report(struct token *token, bool failing, const char *cause)
{
	if (failing && !token->failing)
		log_warning("could not get a token for the target",
			    F_STR("target", token->options.target), F_STR("cause", cause));
	else if (!failing && token->failing)
		log_info("got a token for the target again",
			 F_STR("target", token->options.target));
	token->failing = failing;
}

static int64_t
margin_us(int64_t life_us)
{
	int64_t part = life_us / MARGIN_PARTS;

	return part < MARGIN_MAX ? part : MARGIN_MAX;
}

static void
keep(struct token *token, struct token_answer *answer)
{
	int64_t life_us = answer->expires_in_us;

	wipe(&token->access);
	token->access = answer->access_token;
	answer->access_token = NULL;
	token->number++;
	token->expires_us =
		life_us > 0 ? token->began_us + life_us - margin_us(life_us) : INT64_MAX;
	if (answer->refresh_token) {
		wipe(&token->refresh_token);
		token->refresh_token = answer->refresh_token;
		answer->refresh_token = NULL;
	}
}

/* Why there is no token, or REASON_COUNT. */
static enum reason
take(struct token *token, const struct transfer_result *result)
{
	struct token_answer answer = { 0 };
	struct err err = { 0 };

	if (result->fault != TRANSFER_OK) {
		report(token, true, reason_name(reasons[result->fault]));
		return reasons[result->fault];
	}
	if (!token_answer_read(result->status, result->body, result->body_len, &answer, &err)) {
		report(token, true, err.text);
		return REASON_TRANSPORT;
	}
	keep(token, &answer);
	token_answer_finish(&answer);
	report(token, false, NULL);
	return REASON_COUNT;
}

/* Who comes back from inside its callback waits for the next token. */
static void
tell(struct token *token, enum reason fault)
{
	struct token_waiter *waiter;

	TAILQ_FOREACH(waiter, &token->waiting, link)
		waiter->list = &token->told;
	TAILQ_CONCAT(&token->told, &token->waiting, link);
	while ((waiter = TAILQ_FIRST(&token->told))) {
		token_unwait(token, waiter);
		waiter->done(waiter->owner, fault);
	}
}

static void
on_transfer(void *owner, const struct transfer_result *result)
{
	struct token *token = owner;

	token->transfer = NULL;
	wipe(&token->form);
	tell(token, take(token, result));
}

static void
fetch(struct token *token)
{
	const struct probe_oauth2 *oauth2 = token->options.oauth2;
	struct transfer_request request = { .method = TRANSFER_POST, .url = oauth2->token_url };
	struct lines lines = { 0 };

	token->form = form_of(token);
	token->began_us = clock_monotonic_us();
	lines_add(&lines, "accept", "", "application/json");
	lines_add(&lines, "content-type", "", "application/x-www-form-urlencoded");
	if (has_header(oauth2))
		add_client(&lines, oauth2);
	request.headers = (const char *const *)lines.text;
	request.headers_count = lines.count;
	request.body = token->form;
	request.body_len = strlen(token->form);
	token->transfer = transfer_start(token->peer, &request, on_transfer, token);
	lines_finish(&lines);
}

void
token_wait(struct token *token, struct token_waiter *waiter)
{
	waiter->list = &token->waiting;
	TAILQ_INSERT_TAIL(&token->waiting, waiter, link);
	if (!token->transfer)
		fetch(token);
}

void
token_unwait(struct token *token, struct token_waiter *waiter)
{
	TAILQ_REMOVE(waiter->list, waiter, link);
}

void
token_refused(struct token *token, unsigned number)
{
	if (number == token->number)
		wipe(&token->access);
}

static bool
same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool
same_client(const struct probe_oauth2 *a, const struct probe_oauth2 *b)
{
	return same(a->token_url, b->token_url) && same(a->client_id, b->client_id) &&
	       same(a->client_secret, b->client_secret) &&
	       same(a->refresh_token, b->refresh_token) && same(a->scope, b->scope) &&
	       a->in_body == b->in_body;
}

static char *
copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

void
token_inherit(struct token *token, const struct token *before)
{
	if (!same_client(token->options.oauth2, before->options.oauth2))
		return;
	wipe(&token->access);
	wipe(&token->refresh_token);
	token->access = copy(before->access);
	token->refresh_token = copy(before->refresh_token);
	token->expires_us = before->expires_us;
	token->number++;
}
