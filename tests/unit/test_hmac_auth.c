/* SPDX-License-Identifier: Apache-2.0
 *
 * Signatures that a target defines itself. The ones over the quick brown fox are widely published;
 * the others were computed with Python's hmac module.
 */
#include "../../src/probe/hmac_auth.h"

#include <string.h>

#include "../../src/probe/lines.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "tap.h"

#define NOON (1772366400 * SECOND) /* 2026-03-01T12:00:00Z, a Sunday */
#define FOX "The quick brown fox jumps over the lazy dog"

static const struct outgoing get = {
	.method = "GET", .host = "api.example.com", .path = "/api/x%20y", .query = "", .body = ""
};
static const struct outgoing post = {
	.method = "POST",
	.host = "api.example.com",
	.path = "/x",
	.query = "a=1&b=2",
	.body = "{\"n\":1}",
	.body_len = 7,
};

static const struct {
	const char *name, *key;
	struct signing_rule rule;
	const struct outgoing *request;
	const char *signature;
} cases[] = {
	{ "SHA-1",
	  "key",
	  { SIGNING_SHA1, SIGNING_HEX, FOX },
	  &get,
	  "de7c9b85b8b78aa6bc8a7a36f70a90701c9db4d9" },
	{ "SHA-256",
	  "key",
	  { SIGNING_SHA256, SIGNING_HEX, FOX },
	  &get,
	  "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8" },
	{ "SHA-512",
	  "key",
	  { SIGNING_SHA512, SIGNING_HEX, FOX },
	  &get,
	  "b42af09057bac1e2d41708e48a902e09b5ff7f12ab428a4fe86653c73dd248fb"
	  "82f948a549f7b791a5b41915ee4d1ec3935357e4e2317250d0372afa2ebeeb3a" },
	{ "method, path, moment, hash of no body",
	  "k3y",
	  { SIGNING_SHA256, SIGNING_HEX, "{method}\n{path}\n{timestamp}\n{body_sha256}" },
	  &get,
	  "cfb1c0054140c047d60573333c34aedb98482dbb4b9b58bf2a21426d40401dbf" },
	{ "the same as base64",
	  "k3y",
	  { SIGNING_SHA256, SIGNING_BASE64, "{method}\n{path}\n{timestamp}\n{body_sha256}" },
	  &get,
	  "z7HABUFAwEfWBXMzPDSu25hILbtLm1i/KiFCbUBAHb8=" },
	{ "everything else",
	  "k3y",
	  { SIGNING_SHA512, SIGNING_BASE64,
	    "{method}{host}{path}{query}{body}{timestamp_ms}{date}" },
	  &post,
	  "wla3Xu90KHBeGQ+iGrhFAw83k+1lIRe4kcuqBKGQScCEhbtaD5EYevpIrBiR66ipVgdWNC3SzYCllFHSc4xn"
	  "UQ==" },
};

static void
test_signatures(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct probe_hmac hmac = { .rule = cases[i].rule,
						 .key = cases[i].key,
						 .header = "X-Signature" };
		CLEANUP(lines_finish) struct lines lines = { 0 };
		char expected[256];

		snprintf(expected, sizeof(expected), "X-Signature: %s", cases[i].signature);
		hmac_auth_sign(&hmac, cases[i].request, NOON, &lines);
		tap_str(lines_find(&lines, "x-signature"), expected, cases[i].name);
		tap_int((long long)lines.count, 1, "nothing else is sent");
	}
}

/* Headers of the target carry what the signature covers, and say how it is written. */
static void
test_headers(void)
{
	static const struct header fixed[] = {
		{ "x-time", "{timestamp}" },
		{ "x-tenant", "t1" },
		{ "x-json", "{\"a\":1}" },
		{ "x-signature", "t={timestamp},v1={signature}" },
	};
	const struct probe_hmac hmac = { .rule = { SIGNING_SHA1, SIGNING_HEX, FOX },
					 .key = "key",
					 .header = "X-Signature" };
	CLEANUP(lines_finish) struct lines lines = { 0 };
	struct outgoing request = get;

	request.fixed = fixed;
	request.fixed_count = ARRAY_LEN(fixed);
	hmac_auth_sign(&hmac, &request, NOON, &lines);
	tap_str(lines_find(&lines, "x-time"), "x-time: 1772366400", "a header with the moment");
	tap_str(lines_find(&lines, "x-signature"),
		"x-signature: t=1772366400,v1=de7c9b85b8b78aa6bc8a7a36f70a90701c9db4d9",
		"the target says how the signature is written");
	tap_int((long long)lines.count, 2, "what holds no placeholder is not repeated");
}

static void
test_nonce(void)
{
	static const struct header fixed[] = { { "x-nonce", "{nonce}" } };
	const struct probe_hmac hmac = { .rule = { SIGNING_SHA256, SIGNING_HEX, "{nonce}" },
					 .key = "key",
					 .header = "X-Signature" };
	CLEANUP(lines_finish) struct lines first = { 0 }, second = { 0 };
	struct outgoing request = get;

	request.fixed = fixed;
	request.fixed_count = 1;
	hmac_auth_sign(&hmac, &request, NOON, &first);
	hmac_auth_sign(&hmac, &request, NOON, &second);
	tap_int((long long)strlen(lines_find(&first, "x-nonce")), strlen("x-nonce: ") + 32,
		"a nonce has 32 digits");
	tap_ok(strcmp(lines_find(&first, "x-nonce"), lines_find(&second, "x-nonce")) != 0 &&
		       strcmp(lines_find(&first, "x-signature"),
			      lines_find(&second, "x-signature")) != 0,
	       "and is another one each time");
}

static const struct {
	const char *sign;
	bool right;
} texts[] = {
	{ "{method}{path}{query}{host}{body}{body_sha256}{timestamp}{timestamp_ms}{date}{nonce}",
	  true },
	{ "no part at all", true },
	{ "", true },
	{ "}", true },
	{ "{paths}", false },
	{ "{signature}", false },
	{ "{", false },
	{ "{}", false },
	{ "{{path}}", false },
	{ "{path", false },
	{ "{PATH}", false },
};

static void
test_check(void)
{
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct err err = { 0 };

		tap_ok(signing_check(texts[i].sign, &err) == texts[i].right, "\"%s\" is %s",
		       texts[i].sign, texts[i].right ? "right" : "refused");
	}
}

int
main(void)
{
	test_signatures();
	test_headers();
	test_nonce();
	test_check();
	return tap_done();
}
