/* SPDX-License-Identifier: Apache-2.0
 *
 * Digests: bytes in three spellings, and what only looks like one. The digests are those of nothing
 * ("") and of "abc", as their standards print them.
 */
#include "compare_case.h"
#include "reconciled/core/digest_text.h"

#define MD5 "d41d8cd98f00b204e9800998ecf8427e"
#define MD5_BASE64 "1B2M2Y8AsgTpgAmY7PhCfg=="
#define SHA1 "a9993e364706816aba3e25717850c26c9cd0d89d"
#define SHA1_BASE64 "qZk+NkcGgWq6PiVxeFDCbJzQ2J0="
#define SHA1_URL "qZk-NkcGgWq6PiVxeFDCbJzQ2J0"
#define SHA256 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define SHA256_BASE64 "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
#define SHA256_URL "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"
#define CRC32C "e3069283" /* of "123456789" */
#define CRC32C_BASE64 "4waSgw=="

#define Q(text) "\"" text "\""

static const struct {
	enum digest_algorithm algorithm;
	enum digest_encoding encoding;
	const char *found, *expected;
	enum compare_result want;
	const char *name;
} rows[] = {
	{ DIGEST_MD5, DIGEST_HEX, Q(MD5), Q(MD5), EQUAL, "hex" },
	{ DIGEST_MD5, DIGEST_HEX, Q("D41D8CD98F00B204E9800998ECF8427E"), Q(MD5), EQUAL,
	  "case of hex" },
	{ DIGEST_MD5, DIGEST_HEX, Q("d41d8cd98f00b204e9800998ecf8427f"), Q(MD5), DIFFERENT,
	  "one bit" },
	{ DIGEST_MD5, DIGEST_BASE64, Q(MD5_BASE64), Q(MD5), EQUAL, "base64, ours in hex" },
	{ DIGEST_MD5, DIGEST_BASE64, Q(MD5_BASE64), Q(MD5_BASE64), EQUAL, "base64 on both sides" },
	{ DIGEST_SHA1, DIGEST_BASE64URL, Q(SHA1_URL), Q(SHA1), EQUAL, "base64url" },
	{ DIGEST_SHA1, DIGEST_BASE64URL, Q(SHA1_URL "="), Q(SHA1_URL), EQUAL,
	  "base64url, with and without padding" },
	{ DIGEST_SHA256, DIGEST_BASE64, Q(SHA256_BASE64), Q(SHA256), EQUAL, "SHA-256" },
	{ DIGEST_SHA256, DIGEST_BASE64URL, Q(SHA256_URL), Q(SHA256_URL), EQUAL,
	  "SHA-256 in base64url" },
	{ DIGEST_CRC32C, DIGEST_BASE64, Q(CRC32C_BASE64), Q(CRC32C), EQUAL, "CRC32C" },
	{ DIGEST_ANY, DIGEST_BASE64, Q(SHA256_BASE64), Q(SHA256), EQUAL, "no algorithm" },
	{ DIGEST_ANY, DIGEST_BASE64, Q(CRC32C_BASE64), Q(CRC32C), EQUAL,
	  "no algorithm, four bytes" },
	{ DIGEST_ANY, DIGEST_BASE64, Q(MD5), Q(MD5), UNREADABLE,
	  "hex declared as base64, no algorithm" },
	{ DIGEST_ANY, DIGEST_HEX, Q(SHA1), Q(SHA256), UNREADABLE, "another algorithm" },
	{ DIGEST_MD5, DIGEST_HEX, Q(SHA1), Q(MD5), UNREADABLE, "a wrong length there" },
	{ DIGEST_MD5, DIGEST_HEX, Q(MD5), Q(SHA1), UNREADABLE, "a wrong length here" },
	{ DIGEST_SHA384, DIGEST_HEX, Q(SHA256), Q(SHA256), UNREADABLE, "not of that algorithm" },
	{ DIGEST_SHA512, DIGEST_HEX, Q(SHA256), Q(SHA256), UNREADABLE, "not of that one either" },
	{ DIGEST_MD5, DIGEST_HEX, Q(MD5_BASE64), Q(MD5), UNREADABLE, "not declared as base64" },
	{ DIGEST_SHA1, DIGEST_BASE64, Q(SHA1), Q(SHA1), UNREADABLE, "hex declared as base64" },
	{ DIGEST_SHA1, DIGEST_BASE64, Q(SHA1_URL "="), Q(SHA1), UNREADABLE,
	  "letters of the other alphabet" },
	{ DIGEST_SHA1, DIGEST_BASE64URL, Q(SHA1_BASE64), Q(SHA1), UNREADABLE,
	  "and the other way round" },
	{ DIGEST_MD5, DIGEST_BASE64, Q("1B2M2Y8AsgTpgAmY7PhCfg"), Q(MD5), UNREADABLE,
	  "base64 without its padding" },
	{ DIGEST_MD5, DIGEST_BASE64, Q("1B2M2Y8AsgTpgAmY7PhCfh=="), Q(MD5), UNREADABLE,
	  "bits left over" },
	{ DIGEST_MD5, DIGEST_BASE64, Q("1B2M2Y8A sgTpgAmY7PhCfg="), Q(MD5), UNREADABLE, "a blank" },
	{ DIGEST_ANY, DIGEST_HEX, Q("d41d8cd98f00b204e9800998ecf8427"), Q(MD5), UNREADABLE,
	  "half a byte" },

	/* what is no digest of the content */
	{ DIGEST_MD5, DIGEST_HEX, Q("\\\"" MD5 "\\\""), Q(MD5), UNREADABLE, "an ETag in quotes" },
	{ DIGEST_MD5, DIGEST_HEX, Q("W/\\\"" MD5 "\\\""), Q(MD5), UNREADABLE, "a weak ETag" },
	{ DIGEST_MD5, DIGEST_HEX, Q(MD5 "-3"), Q(MD5), UNREADABLE, "the ETag of three parts" },
	{ DIGEST_SHA256, DIGEST_BASE64, Q(SHA256_BASE64 "-3"), Q(SHA256), UNREADABLE,
	  "the checksum of three parts" },
	{ DIGEST_ANY, DIGEST_BASE64URL, Q(SHA256_URL "-3"), Q(SHA256), UNREADABLE,
	  "three parts in base64url" },
	{ DIGEST_ANY, DIGEST_BASE64URL, Q("1B2M2Y8AsgTpgAmY7PhCfg-3"), Q(MD5), UNREADABLE,
	  "three parts in base64url that could be one" },
	{ DIGEST_MD5, DIGEST_HEX, Q("md5:" MD5), Q(MD5), UNREADABLE, "a prefix" },
	{ DIGEST_ANY, DIGEST_HEX, Q("="), Q(MD5), UNREADABLE, "padding alone" },
	{ DIGEST_ANY, DIGEST_BASE64, Q("===="), Q(MD5), UNREADABLE, "nothing but padding" },
	{ DIGEST_ANY, DIGEST_BASE64, Q("A==="), Q(MD5), UNREADABLE, "too much padding" },
	{ DIGEST_ANY, DIGEST_HEX, Q("\\u0000\\u0000"), Q("0000"), UNREADABLE, "NUL" },
	{ DIGEST_ANY, DIGEST_HEX, "null", Q(MD5), UNREADABLE, "null" },
	{ DIGEST_ANY, DIGEST_HEX, Q(""), Q(""), UNREADABLE, "empty" },
	{ DIGEST_ANY, DIGEST_HEX, Q(MD5), NULL, UNREADABLE, "ours is absent" },
	{ DIGEST_ANY, DIGEST_HEX, "[" Q(MD5) "]", Q(MD5), UNREADABLE, "a list" },
};

static void
test_rows(struct arena *arena)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct comparison by = {
			.type = COMPARE_DIGEST,
			.algorithm = rows[i].algorithm,
			.encoding = rows[i].encoding,
		};
		struct compared compared = case_compare(
			arena, by, "/v", arena_printf(arena, "{\"v\":%s}", rows[i].found),
			rows[i].expected);

		case_check(&compared, rows[i].want, rows[i].name);
	}
}

static void
test_bytes(void)
{
	static const unsigned char all[] = { 0x00, 0x10, 0x83, 0x10, 0x51, 0x87, 0xfb, 0xef, 0xff };
	unsigned char bytes[DIGEST_BYTES_MAX];
	char longest[2 * DIGEST_BYTES_MAX + 3];
	size_t len = 0;

	tap_ok(digest_read("ABCDEFGH++//", 12, DIGEST_BASE64, bytes, &len) && len == 9 &&
		       memcmp(bytes, all, len) == 0,
	       "from the first letter to the last");
	memset(longest, 'f', sizeof(longest));
	tap_ok(digest_read(longest, 128, DIGEST_HEX, bytes, &len) && len == 64, "64 bytes");
	tap_ok(!digest_read(longest, 130, DIGEST_HEX, bytes, &len), "65 bytes are too many");
	memset(longest, 'A', sizeof(longest));
	tap_ok(digest_read(longest, 84, DIGEST_BASE64, bytes, &len) && len == 63, "63 bytes");
	tap_ok(!digest_read(longest, 88, DIGEST_BASE64, bytes, &len), "66 bytes are too many");
	tap_int((long long)digest_bytes(DIGEST_SHA384), 48, "bytes of SHA-384");
}

int
main(void)
{
	struct arena *arena = arena_create();

	test_rows(arena);
	test_bytes();
	arena_destroy(arena);
	return tap_done();
}
