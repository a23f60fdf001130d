/* SPDX-License-Identifier: Apache-2.0
 *
 * Digests as text.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/core/compare.h"

enum { DIGEST_BYTES_MAX = 64 };

/* Bytes of a digest; 0 for DIGEST_ANY. */
size_t digest_bytes(enum digest_algorithm algorithm);

/*
 * Reads 1 to DIGEST_BYTES_MAX bytes. Hex in either case, base64 with its padding, base64url with or
 * without; nothing around it and no bits left over. False otherwise.
 */
bool digest_read(const char *text, size_t len, enum digest_encoding encoding,
		 unsigned char ret_bytes[static DIGEST_BYTES_MAX], size_t *ret_len);
