/* SPDX-License-Identifier: Apache-2.0
 *
 * Who we say we are, over the wire: tokens, signatures, certificates; and the ways there: sockets
 * and proxies. Values are from RFC 6749 and from the server's own rules.
 */
#include <stdlib.h>
#include <strings.h>

#include "asking.h"

/* A server that has forgotten; logs in with tokens. */
static struct probe_target_options
token_options(const char *script)
{
	begin();
	server_says("/fresh", "");

	struct probe_target_options with = options("http", server.plain, "");

	with.auth = AUTH_SCHEME_OAUTH2;
	with.oauth2 = (struct probe_oauth2){
		.token_url =
			arena_printf(arena, "http://127.0.0.1:%d/token/%s/x", server.plain, script),
		.client_id = "ada",
		.client_secret = "s3:cret",
	};
	return with;
}

static int
tokens_asked(void)
{
	return atoi(server_says("/tokens", "count"));
}

static void
test_token(void)
{
	struct probe_target_options with = token_options("200e3600");
	struct probe_target *target = probe_engine_add(engine, &with);
	struct seen seen = ask(target, "/guarded");

	expect(&seen, READING_FOUND, REASON_COUNT, "a token is fetched first");
	tap_str(member_text(&seen, "token"), "tok1", "and shown");
	ask(target, "/guarded");
	tap_int(tokens_asked(), 1, "one token for many questions");
	tap_str(server_says("/tokens", "form"), "grant_type=client_credentials",
		"RFC 6749, 4.4.2: nothing else in the form");
	/* "ada" and "s3%3Acret", each encoded like a form: RFC 6749, 2.3.1 */
	tap_str(server_says("/tokens", "basic"),
		"Basic YWRhOnMzJTNBY3JldA==", "id and secret in the header");
}

static void
test_token_in_body(void)
{
	struct probe_target_options with = token_options("200");

	with.oauth2.in_body = true;
	with.oauth2.scope = "orders:read a&b";

	struct seen seen = ask_with(&with, "/guarded");

	expect(&seen, READING_FOUND, REASON_COUNT, "id and secret in the form");
	tap_str(server_says("/tokens", "form"),
		"grant_type=client_credentials&scope=orders%3Aread%20a%26b&client_id=ada"
		"&client_secret=s3%3Acret",
		"the form, encoded");
	tap_str(server_says("/tokens", "basic"), "", "and not in the header");
}

/* Eight at once, before there is a token. */
static void
test_together(void)
{
	struct probe_target_options with = token_options("200e3600");
	struct probe_target *target = probe_engine_add(engine, &with);
	struct seen seen[8] = { 0 };
	int found = 0;

	for (size_t i = 0; i < ARRAY_LEN(seen); i++)
		start(target, asks("/guarded"), &seen[i]);
	for (size_t i = 0; i < ARRAY_LEN(seen); i++) {
		turn(base, &seen[i].calls, 1);
		found += seen[i].reading->kind == READING_FOUND;
	}
	tap_int(found, 8, "all of them are answered");
	tap_int(tokens_asked(), 1, "and waited for one token");
}

static void
test_expiry(void)
{
	struct probe_target_options with = token_options("200e1-200e3600");
	struct probe_target *target = probe_engine_add(engine, &with);

	ask(target, "/guarded");
	turn_for(base, SECOND);

	struct seen seen = ask(target, "/guarded");

	tap_str(member_text(&seen, "token"), "tok2", "a new token before the old one is refused");
	tap_int(tokens_asked(), 2, "asked for once more");
}

static void
test_refused_token(void)
{
	struct probe_target_options with = token_options("200e3600");

	with.breaker_failures = 1;
	with.breaker_open_us = MINUTE;
	with.breaker_trial = 1;

	struct probe_target *target = probe_engine_add(engine, &with);

	ask(target, "/guarded");
	server_says("/revoke", "");

	struct seen seen = ask(target, "/guarded");

	expect(&seen, READING_FOUND, REASON_COUNT, "401: asked again with a new token");
	tap_str(member_text(&seen, "token"), "tok2", "and shown that one");
	tap_int(probe_target_breaker(target), BREAKER_CLOSED, "no failure of the target");
}

/* What no token helps against is asked twice, not for ever. */
static void
test_refused_for_good(void)
{
	struct probe_target_options with = token_options("200e3600");
	struct probe_target *target = probe_engine_add(engine, &with);

	server_says("/forget", "");

	struct seen seen = ask(target, "/steps/401/a");

	expect(&seen, READING_UNAVAILABLE, REASON_HTTP_4XX, "401 and 401 again");
	tap_str(server_says("/stats", "arrivals"), "2", "asked twice");
	tap_int(tokens_asked(), 2, "with two tokens");
}

/* Those who were refused together need one new token. */
static void
test_refused_together(void)
{
	struct probe_target_options with = token_options("200e3600");
	struct probe_target *target = probe_engine_add(engine, &with);
	struct seen seen[4] = { 0 };

	ask(target, "/guarded");
	server_says("/revoke", "");
	for (size_t i = 0; i < ARRAY_LEN(seen); i++)
		start(target, asks("/guarded"), &seen[i]);
	for (size_t i = 0; i < ARRAY_LEN(seen); i++) {
		turn(base, &seen[i].calls, 1);
		tap_str(member_text(&seen[i], "token"), "tok2", "answered with the new token");
	}
	tap_int(tokens_asked(), 2, "one request for all");
}

static void
test_refresh_token(void)
{
	struct probe_target_options with = token_options("200re3600-200e3600");

	with.oauth2.refresh_token = "first+1";

	struct probe_target *target = probe_engine_add(engine, &with);

	ask(target, "/guarded");
	tap_str(server_says("/tokens", "form"), "grant_type=refresh_token&refresh_token=first%2B1",
		"RFC 6749, 6: asked with the refresh token");
	server_says("/revoke", "");
	ask(target, "/guarded");
	tap_str(server_says("/tokens", "form"), "grant_type=refresh_token&refresh_token=refresh1",
		"then with the one that came with the answer");
}

static const struct {
	const char *script;
	enum reason reason;
} failures[] = {
	{ "400", REASON_TRANSPORT },  { "401", REASON_TRANSPORT },  { "500", REASON_TRANSPORT },
	{ "302", REASON_TRANSPORT },  { "html", REASON_TRANSPORT }, { "empty", REASON_TRANSPORT },
	{ "none", REASON_TRANSPORT }, { "odd", REASON_TRANSPORT },  { "list", REASON_TRANSPORT },
	{ "huge", REASON_TRANSPORT }, { "200m", REASON_TRANSPORT }, { "close", REASON_TRANSPORT },
};

static void
test_no_token(void)
{
	for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
		struct probe_target_options with = token_options(failures[i].script);
		struct seen seen = ask_with(&with, "/guarded");

		expect(&seen, READING_UNAVAILABLE, failures[i].reason, failures[i].script);
	}
}

static void
test_no_token_server(void)
{
	struct probe_target_options with = token_options("200");

	with.oauth2.token_url = arena_printf(arena, "http://127.0.0.1:%d/token", server.refused);
	with.breaker_failures = 2;
	with.breaker_open_us = MINUTE;
	with.breaker_trial = 1;

	struct probe_target *target = probe_engine_add(engine, &with);
	struct seen seen = ask(target, "/guarded");

	expect(&seen, READING_UNAVAILABLE, REASON_REFUSED, "nobody gives tokens");
	ask(target, "/guarded");
	tap_int(probe_target_breaker(target), BREAKER_OPEN, "the breaker sees it");
	with.oauth2.token_url = "http://nowhere.invalid/token";
	seen = ask_with(&with, "/guarded");
	expect(&seen, READING_UNAVAILABLE, REASON_DNS, "a name that is none");
	with.oauth2.token_url = arena_printf(arena, "https://127.0.0.1:%d/token", server.tls);
	seen = ask_with(&with, "/guarded");
	expect(&seen, READING_UNAVAILABLE, REASON_TLS, "nobody vouches for it");
	with.oauth2.token_url = arena_printf(arena, "http://127.0.0.1:%d/never", server.plain);
	with.total_timeout_us = 300 * MILLISECOND;
	seen = ask_with(&with, "/guarded");
	expect(&seen, READING_UNAVAILABLE, REASON_TIMEOUT, "no answer");
}

static void
test_retried_token(void)
{
	struct probe_target_options with = token_options("500-200");

	with.retry_attempts = 2;
	with.retry_backoff_us = 20 * MILLISECOND;
	with.retry_max_us = SECOND;

	struct seen seen = ask_with(&with, "/guarded");

	expect(&seen, READING_FOUND, REASON_COUNT, "the try after it finds a token");
}

/* Cancelled while it waits for a token; the others get theirs. */
static void
test_cancelled(void)
{
	struct probe_target_options with = token_options("200e3600");
	struct probe_target *target = probe_engine_add(engine, &with);
	struct seen kept = { 0 }, dropped = { 0 };
	struct probe_run *run = start(target, asks("/guarded"), &dropped);

	start(target, asks("/guarded"), &kept);
	probe_cancel(run);
	turn(base, &kept.calls, 1);
	expect(&kept, READING_FOUND, REASON_COUNT, "the other one is answered");
	tap_int(dropped.calls, 0, "what was cancelled is not told");
	start(target, asks("/guarded"), &dropped);
	begin(); /* ends the engine */
	tap_int(dropped.calls, 0, "nor what ended with the engine");
}

static void
test_inherited_token(void)
{
	struct probe_target_options with = token_options("200e3600");
	struct probe_target *first = probe_engine_add(engine, &with);

	ask(first, "/guarded");

	struct probe_target *second = probe_engine_add(engine, &with);

	probe_target_inherit(second, first);
	ask(second, "/guarded");
	tap_int(tokens_asked(), 1, "a reload keeps the token");
	with.oauth2.client_secret = "other";

	struct probe_target *third = probe_engine_add(engine, &with);

	probe_target_inherit(third, first);
	ask(third, "/guarded");
	tap_int(tokens_asked(), 2, "but not for another secret");
}

static void
test_control(void)
{
	struct probe_target_options with = token_options("200e3600");

	with.rules = rules_with_control("/guarded");

	struct probe_target *target = probe_engine_add(engine, &with);

	probe_target_free(target);
	turn(base, &ready_calls, 1);
	tap_int(probe_target_control(target), CONTROL_FOUND, "the control logs in as well");
	server_says("/revoke", "");

	struct probe_target *later = probe_engine_add(engine, &with);

	probe_target_inherit(later, target);
	ready_calls = 0;
	probe_target_free(later);
	turn(base, &ready_calls, 1);
	tap_int(probe_target_control(later), CONTROL_FOUND,
		"and gets a new token when it needs one");
}

/* The texts of "headers" in the echo of the server. */
static const char *
echoed(const struct seen *seen, const char *name)
{
	const struct value *headers = value_member(seen->reading->response->parsed, "headers", 7);

	for (const struct value *pair = headers->first; pair != NULL; pair = pair->next)
		if (strcasecmp(pair->first->text, name) == 0)
			return pair->first->next->text;
	return NULL;
}

static void
test_signed(void)
{
	begin();

	static const struct header fixed[] = { { "x-time", "{timestamp}" } };
	struct probe_target_options with = options("http", server.plain, "/echo");
	struct seen seen;

	with.auth = AUTH_SCHEME_SIGV4;
	with.sigv4 = (struct probe_sigv4){ "eu-central-1", "s3", "AKID", "secret", "session" };
	seen = ask_with(&with, "/bucket/a");
	tap_ok(strncmp(echoed(&seen, "authorization"), "AWS4-HMAC-SHA256 Credential=AKID/", 33) ==
		       0,
	       "sigv4: signed");
	tap_str(echoed(&seen, "x-amz-security-token"), "session", "sigv4: with the session token");
	tap_ok(strstr(echoed(&seen, "authorization"),
		      "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,") !=
		       NULL,
	       "sigv4: the headers that S3 wants");
	with = options("http", server.plain, "/echo");
	with.auth = AUTH_SCHEME_HMAC;
	with.headers = fixed;
	with.headers_count = 1;
	/* HMAC-SHA-256 of "GET /echo/v1/a", computed with Python's hmac module */
	with.hmac = (struct probe_hmac){
		.rule = { SIGNING_SHA256, SIGNING_HEX, "{method} {path}" },
		.key = "k3y",
		.header = "X-Signature",
	};
	seen = ask_with(&with, "/v1/a");
	tap_str(echoed(&seen, "x-signature"),
		"4fa552684b33e0bb1146d2114240e2fb584b6b11b4129abcfc0479fc12f903f6", "hmac: signed");
	tap_ok(llabs(atoll(echoed(&seen, "x-time")) - clock_wall_us() / SECOND) <= 60,
	       "hmac: the moment goes along");
}

/* TLS with a certificate of ours. */
static void
test_certificate(void)
{
	begin();

	struct probe_target_options with = options("https", server.mtls, "");
	struct seen seen;
	char key[4096] = "";
	FILE *file;

	with.ca_file = server.cert;
	seen = ask_with(&with, "/found");
	tap_str(reading_kind_name(seen.reading->kind), "unavailable", "none shown, none let in");
	with.cert_file = arena_printf(arena, "%s/client.pem", server.folder);
	with.key_text = "no key";
	seen = ask_with(&with, "/found");
	expect(&seen, READING_UNAVAILABLE, REASON_TLS, "something else as a secret");
	with.key_text = NULL;
	with.key_file = arena_printf(arena, "%s/client.key", server.folder);
	seen = ask_with(&with, "/found");
	expect(&seen, READING_FOUND, REASON_COUNT, "certificate and key from files");
	file = fopen(with.key_file, "r");
	tap_ok(file != NULL && fread(key, 1, sizeof(key) - 1, file) > 0, "the key is there");
	fclose(file);
	with.key_file = NULL;
	with.key_text = key;
	seen = ask_with(&with, "/found");
	expect(&seen, READING_FOUND, REASON_COUNT, "the key as a secret");
	with.key_text = key;
	with.tls_min = TLS_FLOOR_1_2;
	seen = ask_with(&with, "/found");
	expect(&seen, READING_FOUND, REASON_COUNT, "TLS 1.2 is enough");
	with.tls_min = TLS_FLOOR_1_3;
	seen = ask_with(&with, "/found");
	expect(&seen, READING_UNAVAILABLE, REASON_TLS, "TLS 1.2 is too old");
}

static void
test_socket(void)
{
	begin();

	struct probe_target_options with = options("http", server.refused, "");
	struct seen seen;

	with.unix_socket = arena_printf(arena, "%s/socket", server.folder);
	seen = ask_with(&with, "/found");
	expect(&seen, READING_FOUND, REASON_COUNT, "over a unix socket");
	with.unix_socket = arena_printf(arena, "%s/nobody", server.folder);
	seen = ask_with(&with, "/found");
	expect(&seen, READING_UNAVAILABLE, REASON_REFUSED, "nobody listens there");
}

static void
test_proxy(void)
{
	begin();

	struct probe_target_options with = options("https", server.tls, "");
	struct seen seen;
	const char *head;

	with.proxy = arena_printf(arena, "http://127.0.0.1:%d", server.proxy);
	with.ca_file = server.cert;
	with.auth = AUTH_SCHEME_BEARER;
	with.auth_secret = "tok";
	setenv("no_proxy", "127.0.0.1", 1);
	seen = ask_with(&with, "/found");
	unsetenv("no_proxy");
	expect(&seen, READING_FOUND, REASON_COUNT, "https through a proxy");
	tap_str(server_says("/through_proxy", "count"), "1",
		"what the environment says is not asked");
	head = server_says("/through_proxy", "last");
	tap_ok(strncmp(head, "CONNECT 127.0.0.1:", 18) == 0, "a tunnel");
	tap_ok(strstr(head, "tok") == NULL, "the proxy does not see who we are");
	with.base = "https://refused.invalid";
	seen = ask_with(&with, "/found");
	expect(&seen, READING_UNAVAILABLE, REASON_TRANSPORT, "a proxy that refuses");
	with.proxy = arena_printf(arena, "http://127.0.0.1:%d", server.refused);
	seen = ask_with(&with, "/found");
	expect(&seen, READING_UNAVAILABLE, REASON_REFUSED, "no proxy there");
}

static void
test_no_proxy(void)
{
	begin();

	struct probe_target_options with = options("http", server.plain, "");
	char proxy[64];

	snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", server.refused);
	setenv("http_proxy", proxy, 1);
	setenv("all_proxy", proxy, 1);

	struct seen seen = ask_with(&with, "/found");

	unsetenv("http_proxy");
	unsetenv("all_proxy");
	expect(&seen, READING_FOUND, REASON_COUNT, "proxies of the environment are ignored");
}

int
main(void)
{
	setup();
	test_token();
	test_token_in_body();
	test_together();
	test_expiry();
	test_refused_token();
	test_refused_for_good();
	test_refused_together();
	test_refresh_token();
	test_no_token();
	test_no_token_server();
	test_retried_token();
	test_cancelled();
	test_inherited_token();
	test_control();
	test_signed();
	test_certificate();
	test_socket();
	test_proxy();
	test_no_proxy();
	return teardown();
}
