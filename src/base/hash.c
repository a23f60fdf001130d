/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 and HMAC by libcrypto; FNV-1a for tables in memory.
 */
#include <assert.h>
#include <stdlib.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "reconciled/base/hash.h"
#include "reconciled/base/xalloc.h"

struct hmac {
	EVP_MAC_CTX *keyed;
};

void
hash_sha256(const void *data, size_t len, unsigned char ret[static HASH_SHA256_BYTES])
{
	/* Kept: fetching and allocating cost more than hashing what is hashed here. */
	static const EVP_MD *sha256;
	static EVP_MD_CTX *context;
	int ok;

	if (!context) {
		sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
		context = EVP_MD_CTX_new();
	}
	ok = EVP_DigestInit_ex2(context, sha256, NULL) && EVP_DigestUpdate(context, data, len) &&
	     EVP_DigestFinal_ex(context, ret, NULL);
	assert(ok);
}

struct hmac *
hmac_create(const void *key, size_t len)
{
	static char sha256[] = "SHA256";
	const OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, sha256, 0),
		OSSL_PARAM_construct_end(),
	};
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	struct hmac *hmac = xcalloc(1, sizeof(*hmac));
	int ok;

	hmac->keyed = EVP_MAC_CTX_new(mac); /* holds mac from here on */
	EVP_MAC_free(mac);
	ok = EVP_MAC_init(hmac->keyed, key, len, params);
	assert(ok);
	return hmac;
}

void
hmac_destroy(struct hmac *hmac)
{
	if (!hmac)
		return;
	EVP_MAC_CTX_free(hmac->keyed);
	free(hmac);
}

void
hmac_sha256(struct hmac *hmac, const void *data, size_t len,
	    unsigned char ret[static HASH_SHA256_BYTES])
{
	/* No key: begins anew with the one of hmac_create. */
	int ok = EVP_MAC_init(hmac->keyed, NULL, 0, NULL) &&
		 EVP_MAC_update(hmac->keyed, data, len) &&
		 EVP_MAC_final(hmac->keyed, ret, NULL, HASH_SHA256_BYTES);

	assert(ok);
}

void
hash_hex(const unsigned char *bytes, size_t len, char *ret)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		ret[2 * i] = digits[bytes[i] >> 4];
		ret[2 * i + 1] = digits[bytes[i] & 15];
	}
	ret[2 * len] = '\0';
}

int
hash_hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

uint64_t
hash_fnv1a(const void *data, size_t len)
{
	const unsigned char *bytes = data;
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}
