/* SPDX-License-Identifier: Apache-2.0
 *
 * Canonical request, text to sign, key and signature, in the order of AWS's documentation. Paths
 * of S3 are encoded once, those of all other services as they are sent, which is once more.
 */
#include "sigv4.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "lines.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/hash.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/core/percent.h"

#define ALGORITHM "AWS4-HMAC-SHA256"

enum { SIGNED_MAX = 64, STAMP_SIZE = 17, DAY_LEN = 8 };

struct signing {
	const struct probe_sigv4 *keys;
	const struct outgoing *request;
	char stamp[STAMP_SIZE]; /* 20150830T123600Z */
	char body_sha256[HASH_SHA256_HEX];
	struct header headers[SIGNED_MAX]; /* in order of their names */
	size_t headers_count;
	struct strbuf names; /* of the headers, with ";" between */
	struct strbuf scope; /* day/region/service/aws4_request */
};

static bool
is_s3(const struct signing *signing)
{
	return strcmp(signing->keys->service, "s3") == 0;
}

/* Appends the text without its percent-encoding, encoded as AWS does it. */
static void
add_recoded(struct strbuf *out, const char *text, size_t len, bool keep_slashes)
{
	CLEANUP(strbuf_finish) struct strbuf plain = { 0 };

	for (size_t i = 0; i < len; i++) {
		int high = text[i] == '%' && i + 2 < len ? hash_hex_value(text[i + 1]) : -1;
		int low = high >= 0 ? hash_hex_value(text[i + 2]) : -1;

		if (low < 0) {
			strbuf_putc(&plain, text[i]);
			continue;
		}
		strbuf_putc(&plain, (char)(high << 4 | low));
		i += 2;
	}
	percent_add(out, strbuf_text(&plain), plain.len, keep_slashes);
}

/* Several slashes count as one, but not in S3, where they are part of a name. */
static void
add_path(struct strbuf *out, const struct signing *signing)
{
	CLEANUP(strbuf_finish) struct strbuf single = { 0 };
	const char *path = signing->request->path;

	if (is_s3(signing)) {
		add_recoded(out, path, strlen(path), true);
		return;
	}
	for (const char *c = path; *c != '\0'; c++)
		if (*c != '/' || c[1] != '/')
			strbuf_putc(&single, *c);
	percent_add(out, strbuf_text(&single), single.len, true);
}

static int
by_text(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;

	return strcmp(*left, *right);
}

/* The name ends with a byte below all others while it is sorted, so that "a" comes before "a-b". */
static char *
recoded_pair(const char *pair, size_t len)
{
	const char *equals = memchr(pair, '=', len);
	size_t name_len = equals ? (size_t)(equals - pair) : len;
	struct strbuf out = { 0 };

	add_recoded(&out, pair, name_len, false);
	strbuf_putc(&out, '\1');
	if (equals)
		add_recoded(&out, equals + 1, len - name_len - 1, false);
	return strbuf_take(&out);
}

static size_t
split_query(const char *query, char **pairs)
{
	size_t count = 0;

	while (*query != '\0') {
		size_t len = strcspn(query, "&");

		if (len > 0)
			pairs[count++] = recoded_pair(query, len);
		query += len + (query[len] == '&');
	}
	return count;
}

static void
add_query(struct strbuf *out, const char *query)
{
	char **pairs = xcalloc(strlen(query) / 2 + 1, sizeof(*pairs));
	size_t count = split_query(query, pairs);

	qsort(pairs, count, sizeof(*pairs), by_text);
	for (size_t i = 0; i < count; i++) {
		*strchr(pairs[i], '\1') = '=';
		if (i > 0)
			strbuf_putc(out, '&');
		strbuf_puts(out, pairs[i]);
		free(pairs[i]);
	}
	free(pairs);
}

/* Without blanks at the ends, and one for several within. */
static void
add_header_value(struct strbuf *out, const char *value)
{
	value += strspn(value, " \t");
	while (*value != '\0') {
		size_t word = strcspn(value, " \t"), gap = strspn(value + word, " \t");

		strbuf_add(out, value, word);
		value += word + gap;
		if (*value != '\0')
			strbuf_putc(out, ' ');
	}
}

static void
add_header(struct signing *signing, const char *name, const char *value)
{
	size_t at = signing->headers_count++;

	assert(at < SIGNED_MAX);
	while (at > 0 && strcmp(signing->headers[at - 1].name, name) > 0) {
		signing->headers[at] = signing->headers[at - 1];
		at--;
	}
	signing->headers[at] = (struct header){ name, value };
}

static bool
is_signed(const char *name)
{
	return strncmp(name, "x-amz-", strlen("x-amz-")) == 0 || strcmp(name, "range") == 0;
}

static void
add_signed(struct signing *signing, const struct header *headers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_signed(headers[i].name) && signing->headers_count < SIGNED_MAX)
			add_header(signing, headers[i].name, headers[i].value);
}

static void
collect_headers(struct signing *signing)
{
	const struct outgoing *request = signing->request;

	add_header(signing, "host", request->host);
	add_header(signing, "x-amz-date", signing->stamp);
	if (request->content_type)
		add_header(signing, "content-type", request->content_type);
	if (is_s3(signing))
		add_header(signing, "x-amz-content-sha256", signing->body_sha256);
	if (signing->keys->session_token)
		add_header(signing, "x-amz-security-token", signing->keys->session_token);
	add_signed(signing, request->headers, request->headers_count);
	add_signed(signing, request->fixed, request->fixed_count);
	for (size_t i = 0; i < signing->headers_count; i++) {
		if (i > 0)
			strbuf_putc(&signing->names, ';');
		strbuf_puts(&signing->names, signing->headers[i].name);
	}
}

static void
add_canonical(struct strbuf *out, const struct signing *signing)
{
	strbuf_puts(out, signing->request->method);
	strbuf_putc(out, '\n');
	add_path(out, signing);
	strbuf_putc(out, '\n');
	add_query(out, signing->request->query);
	strbuf_putc(out, '\n');
	for (size_t i = 0; i < signing->headers_count; i++) {
		strbuf_puts(out, signing->headers[i].name);
		strbuf_putc(out, ':');
		add_header_value(out, signing->headers[i].value);
		strbuf_putc(out, '\n');
	}
	strbuf_printf(out, "\n%s\n%s", strbuf_text(&signing->names), signing->body_sha256);
}

static void
set_stamp(struct signing *signing, int64_t wall_us)
{
	time_t seconds = (time_t)(wall_us / SECOND);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(signing->stamp, sizeof(signing->stamp), "%Y%m%dT%H%M%SZ", &tm);
}

static void
set_digest(char ret[static HASH_SHA256_HEX], const void *bytes, size_t len)
{
	unsigned char digest[HASH_SHA256_BYTES];

	hash_sha256(bytes, len, digest);
	hash_hex(digest, sizeof(digest), ret);
}

static void
keyed(unsigned char key[static HASH_SHA256_BYTES], size_t key_len, const void *text, size_t len)
{
	unsigned char digest[HASH_SHA256_BYTES];

	if (!HMAC(EVP_sha256(), key, (int)key_len, text, len, digest, NULL))
		abort();
	memcpy(key, digest, sizeof(digest));
}

/* AWS4 and the secret key, over day, region, service and a fixed word. */
static void
derive_key(const struct signing *signing, unsigned char key[static HASH_SHA256_BYTES])
{
	const struct probe_sigv4 *keys = signing->keys;
	size_t secret_len = strlen(keys->secret_key), len = strlen("AWS4") + secret_len;
	char *first = xcalloc(len + 1, 1);

	memcpy(first, "AWS4", strlen("AWS4"));
	memcpy(first + strlen("AWS4"), keys->secret_key, secret_len);
	if (!HMAC(EVP_sha256(), first, (int)len, (const unsigned char *)signing->stamp, DAY_LEN,
		  key, NULL))
		abort();
	explicit_bzero(first, len);
	free(first);
	keyed(key, HASH_SHA256_BYTES, keys->region, strlen(keys->region));
	keyed(key, HASH_SHA256_BYTES, keys->service, strlen(keys->service));
	keyed(key, HASH_SHA256_BYTES, "aws4_request", strlen("aws4_request"));
}

static void
sign(const struct signing *signing, char ret_signature[static HASH_SHA256_HEX])
{
	CLEANUP(strbuf_finish) struct strbuf canonical = { 0 };
	CLEANUP(strbuf_finish) struct strbuf text = { 0 };
	unsigned char key[HASH_SHA256_BYTES];
	char digest[HASH_SHA256_HEX];

	add_canonical(&canonical, signing);
	set_digest(digest, strbuf_text(&canonical), canonical.len);
	explicit_bzero(canonical.data, canonical.len); /* the session token is in it */
	strbuf_printf(&text, ALGORITHM "\n%s\n%s\n%s", signing->stamp, strbuf_text(&signing->scope),
		      digest);
	derive_key(signing, key);
	keyed(key, sizeof(key), strbuf_text(&text), text.len);
	hash_hex(key, sizeof(key), ret_signature);
	explicit_bzero(key, sizeof(key));
}

void
sigv4_sign(const struct probe_sigv4 *keys, const struct outgoing *request, int64_t wall_us,
	   struct lines *lines)
{
	CLEANUP(strbuf_finish) struct strbuf authorization = { 0 };
	struct signing signing = { .keys = keys, .request = request };
	char signature[HASH_SHA256_HEX];

	set_stamp(&signing, wall_us);
	set_digest(signing.body_sha256, request->body, request->body_len);
	collect_headers(&signing);
	strbuf_printf(&signing.scope, "%.*s/%s/%s/aws4_request", DAY_LEN, signing.stamp,
		      keys->region, keys->service);
	sign(&signing, signature);
	strbuf_printf(&authorization, ALGORITHM " Credential=%s/%s, SignedHeaders=%s, Signature=%s",
		      keys->access_key, strbuf_text(&signing.scope), strbuf_text(&signing.names),
		      signature);
	lines_add(lines, "x-amz-date", "", signing.stamp);
	if (is_s3(&signing))
		lines_add(lines, "x-amz-content-sha256", "", signing.body_sha256);
	if (keys->session_token)
		lines_add(lines, "x-amz-security-token", "", keys->session_token);
	lines_add(lines, "authorization", "", strbuf_text(&authorization));
	strbuf_finish(&signing.names);
	strbuf_finish(&signing.scope);
}
