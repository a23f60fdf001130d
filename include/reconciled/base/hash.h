/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 and HMAC-SHA-256 (libcrypto), and a fast hash for tables in memory.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { HASH_SHA256_BYTES = 32, HASH_SHA256_HEX = 65 };

void hash_sha256(const void *data, size_t len, unsigned char ret[static HASH_SHA256_BYTES]);

/* HMAC-SHA-256 with one key for many messages. The key is copied, and wiped when destroyed. */
struct hmac;

struct hmac *hmac_create(const void *key, size_t len);
void hmac_destroy(struct hmac *hmac); /* accepts NULL */
void hmac_sha256(struct hmac *hmac, const void *data, size_t len,
		 unsigned char ret[static HASH_SHA256_BYTES]);

/* Lower-case hex with NUL; ret has room for 2 * len + 1. */
void hash_hex(const unsigned char *bytes, size_t len, char *ret);

/* The value of a digit in either case; -1: it is none. */
int hash_hex_value(char digit);

/* FNV-1a: for tables in memory, not against an adversary who can choose all keys. */
uint64_t hash_fnv1a(const void *data, size_t len);
