/* SPDX-License-Identifier: Apache-2.0
 *
 * Digests. A wrong length is unreadable: what is no digest of the content (an entity tag, the
 * checksum of a file that was sent in parts) must not count as a different one.
 */
#include "reconciled/core/digest_text.h"

#include <string.h>

#include "compare_pair.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/hash.h"

struct digest {
	unsigned char bytes[DIGEST_BYTES_MAX];
	size_t len;
};

size_t
digest_bytes(enum digest_algorithm algorithm)
{
	static const size_t bytes[] = {
		[DIGEST_ANY] = 0,     [DIGEST_MD5] = 16,    [DIGEST_SHA1] = 20,
		[DIGEST_SHA256] = 32, [DIGEST_SHA384] = 48, [DIGEST_SHA512] = 64,
		[DIGEST_CRC32C] = 4,
	};

	return bytes[algorithm];
}

/* The value of a letter, or -1. */
static int
base64_value(char letter, enum digest_encoding encoding)
{
	static const char common[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	static const char *const last[] = {
		[DIGEST_HEX] = "", [DIGEST_BASE64] = "+/", [DIGEST_BASE64URL] = "-_"
	};
	const char *at = letter == '\0' ? NULL : strchr(common, letter);

	if (at != NULL)
		return (int)(at - common);
	at = letter == '\0' ? NULL : strchr(last[encoding], letter);
	return at == NULL ? -1 : (int)(at - last[encoding]) + 62;
}

static bool
read_hex(const char *text, size_t len, struct digest *ret)
{
	if (len % 2 != 0 || len / 2 > DIGEST_BYTES_MAX)
		return false;
	for (size_t i = 0; i < len; i += 2) {
		int high = hash_hex_value(text[i]), low = hash_hex_value(text[i + 1]);

		if (high < 0 || low < 0)
			return false;
		ret->bytes[i / 2] = (unsigned char)(high << 4 | low);
	}
	ret->len = len / 2;
	return true;
}

/* Without the padding; false if it is not as it must be. */
static bool
strip_padding(const char *text, size_t *len, enum digest_encoding encoding)
{
	size_t whole = *len, padding = 0;

	while (padding < 2 && *len > 0 && text[*len - 1] == '=') {
		padding++;
		(*len)--;
	}
	if (padding == 0 && encoding == DIGEST_BASE64URL)
		return *len % 4 != 1;
	return whole % 4 == 0;
}

static bool
read_base64(const char *text, size_t len, enum digest_encoding encoding, struct digest *ret)
{
	unsigned bits = 0;
	int count = 0;

	if (!strip_padding(text, &len, encoding) || len * 3 / 4 > DIGEST_BYTES_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		int value = base64_value(text[i], encoding);

		if (value < 0)
			return false;
		bits = bits << 6 | (unsigned)value;
		count += 6;
		if (count >= 8) {
			count -= 8;
			ret->bytes[ret->len++] = (unsigned char)(bits >> count);
			bits &= (1U << count) - 1;
		}
	}
	return bits == 0;
}

bool
digest_read(const char *text, size_t len, enum digest_encoding encoding,
	    unsigned char ret_bytes[static DIGEST_BYTES_MAX], size_t *ret_len)
{
	struct digest digest = { 0 };

	if (len == 0 || !(encoding == DIGEST_HEX ? read_hex(text, len, &digest)
						 : read_base64(text, len, encoding, &digest)))
		return false;
	memcpy(ret_bytes, digest.bytes, digest.len);
	*ret_len = digest.len;
	return digest.len > 0;
}

/* A digest in this encoding, of the length that the algorithm has. */
static bool
read_digest(const struct comparison *by, struct slice text, enum digest_encoding encoding,
	    struct digest *ret)
{
	size_t wanted = digest_bytes(by->algorithm);

	return digest_read(text.text, text.len, encoding, ret->bytes, &ret->len) &&
	       (wanted == 0 || ret->len == wanted);
}

/* Ours is hex where it can be, else as the policy declares. */
static bool
read_expected(const struct comparison *by, struct slice text, struct digest *ret)
{
	return read_digest(by, text, DIGEST_HEX, ret) || read_digest(by, text, by->encoding, ret);
}

bool
digest_is_expected(const struct comparison *by, struct slice text)
{
	struct digest digest;

	return read_expected(by, text, &digest);
}

enum compare_result
compare_digest(const struct pair *pair)
{
	struct digest found, expected;

	if (!read_digest(pair->by, pair->found, pair->by->encoding, &found) ||
	    !read_expected(pair->by, pair->expected, &expected) || found.len != expected.len)
		return COMPARED_UNREADABLE;
	return equal_if(memcmp(found.bytes, expected.bytes, found.len) == 0);
}
