/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of the placeholders, the signature, the headers. A header of the target without any
 * placeholder in it is none of ours: it is sent with every request anyway.
 */
#include "hmac_auth.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "lines.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/hash.h"
#include "reconciled/base/strbuf.h"

enum { NONCE_BYTES = 16, DATE_SIZE = 40 };

/* The texts that are made for one request. */
struct filling {
	char body_sha256[HASH_SHA256_HEX];
	char timestamp[24], timestamp_ms[24];
	char date[DATE_SIZE];
	char nonce[2 * NONCE_BYTES + 1];
	char signature[2 * EVP_MAX_MD_SIZE + 1];
	struct signing_text values[SIGNING_FIELDS];
};

static void
set(struct filling *filling, enum signing_field field, const char *text)
{
	filling->values[field] = (struct signing_text){ text, strlen(text) };
}

/* Days and months in English whatever the locale is (RFC 9110, 5.6.7). */
static void
write_date(char ret[static DATE_SIZE], int64_t wall_us)
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t seconds = (time_t)(wall_us / SECOND);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	snprintf(ret, DATE_SIZE, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + 3 * tm.tm_wday,
		 tm.tm_mday, months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour, tm.tm_min,
		 tm.tm_sec);
}

static void
set_moment(struct filling *filling, int64_t wall_us)
{
	set(filling, SIGNING_TIMESTAMP, decimal_text(wall_us / SECOND, filling->timestamp));
	set(filling, SIGNING_TIMESTAMP_MS,
	    decimal_text(wall_us / MILLISECOND, filling->timestamp_ms));
	write_date(filling->date, wall_us);
	set(filling, SIGNING_DATE, filling->date);
}

static void
set_nonce(struct filling *filling)
{
	unsigned char bytes[NONCE_BYTES];

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		abort();
	hash_hex(bytes, sizeof(bytes), filling->nonce);
	set(filling, SIGNING_NONCE, filling->nonce);
}

static void
set_request(struct filling *filling, const struct outgoing *request)
{
	unsigned char digest[HASH_SHA256_BYTES];

	set(filling, SIGNING_METHOD, request->method);
	set(filling, SIGNING_PATH, request->path);
	set(filling, SIGNING_QUERY, request->query);
	set(filling, SIGNING_HOST, request->host);
	filling->values[SIGNING_BODY] = (struct signing_text){ request->body, request->body_len };
	hash_sha256(request->body, request->body_len, digest);
	hash_hex(digest, sizeof(digest), filling->body_sha256);
	set(filling, SIGNING_BODY_SHA256, filling->body_sha256);
}

static const EVP_MD *
digest_of(enum signing_algorithm algorithm)
{
	switch (algorithm) {
	case SIGNING_SHA256:
		return EVP_sha256();
	case SIGNING_SHA512:
		return EVP_sha512();
	case SIGNING_SHA1:
		return EVP_sha1();
	}
	return EVP_sha256();
}

static void
set_signature(struct filling *filling, const struct probe_hmac *hmac)
{
	CLEANUP(strbuf_finish) struct strbuf text = { 0 };
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	signing_render(hmac->rule.sign, filling->values, &text);
	if (!HMAC(digest_of(hmac->rule.algorithm), hmac->key, (int)strlen(hmac->key),
		  (const unsigned char *)strbuf_text(&text), text.len, digest, &len))
		abort();
	if (hmac->rule.encoding == SIGNING_HEX)
		hash_hex(digest, len, filling->signature);
	else
		EVP_EncodeBlock((unsigned char *)filling->signature, digest, (int)len);
	set(filling, SIGNING_SIGNATURE, filling->signature);
}

void
hmac_auth_sign(const struct probe_hmac *hmac, const struct outgoing *request, int64_t wall_us,
	       struct lines *lines)
{
	CLEANUP(strbuf_finish) struct strbuf value = { 0 };
	struct filling filling = { 0 };

	set_moment(&filling, wall_us);
	set_nonce(&filling);
	set_request(&filling, request);
	set_signature(&filling, hmac);
	for (size_t i = 0; i < request->fixed_count; i++) {
		const struct header *fixed = &request->fixed[i];

		strbuf_reset(&value);
		signing_render(fixed->value, filling.values, &value);
		if (strcmp(strbuf_text(&value), fixed->value) != 0)
			lines_add(lines, fixed->name, "", strbuf_text(&value));
	}
	if (!lines_find(lines, hmac->header))
		lines_add(lines, hmac->header, "", filling.signature);
}
