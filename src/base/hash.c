/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 and HMAC by libcrypto; FNV-1a for tables in memory.
 */
#include <assert.h>
#include <limits.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "reconciled/base/hash.h"

void
hash_sha256(const void *data, size_t len, unsigned char ret[static HASH_SHA256_BYTES])
{
	static const EVP_MD *sha256; /* fetched once: EVP_sha256() looks it up at every use */
	int ok;

	if (!sha256)
		sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	ok = EVP_Digest(data, len, ret, NULL, sha256, NULL);
	assert(ok == 1);
}

void
hash_hmac_sha256(const void *key, size_t key_len, const void *data, size_t len,
		 unsigned char ret[static HASH_SHA256_BYTES])
{
	unsigned char *mac;

	assert(key_len <= INT_MAX);
	mac = HMAC(EVP_sha256(), key, (int)key_len, data, len, ret, NULL);
	assert(mac != NULL);
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

uint64_t
hash_fnv1a(const void *data, size_t len)
{
	const unsigned char *bytes = data;
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}
