/* SPDX-License-Identifier: Apache-2.0
 *
 * Signatures that AWS published. Sources: the suite "aws-signing-test-suite/v4" (repository
 * awslabs/aws-c-auth), and the examples of "Signature Calculations for the Authorization Header"
 * in the Amazon S3 API reference. Paths and queries are as they go over the wire.
 */
#include "../../src/probe/sigv4.h"

#include <string.h>

#include "../../src/probe/lines.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "tap.h"

#define SUITE_TIME (1440938160 * SECOND) /* 2015-08-30T12:36:00Z */
#define S3_TIME (1369353600 * SECOND)	 /* 2013-05-24T00:00:00Z */

static const struct probe_sigv4 suite = {
	.region = "us-east-1",
	.service = "service",
	.access_key = "AKIDEXAMPLE",
	.secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
};
static const struct probe_sigv4 temporary = {
	.region = "us-east-1",
	.service = "service",
	.access_key = "AKIDEXAMPLE",
	.secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
	.session_token = "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267",
};
static const struct probe_sigv4 s3 = {
	.region = "us-east-1",
	.service = "s3",
	.access_key = "AKIAIOSFODNN7EXAMPLE",
	.secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};

#define UNRESERVED "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

static const struct {
	const char *name;
	const struct probe_sigv4 *keys;
	const char *method, *path, *query;
	struct header extra; /* of the request */
	const char *headers, *signature;
} vectors[] = {
	{ "get-vanilla",
	  &suite,
	  "GET",
	  "/",
	  "",
	  { 0 },
	  "host;x-amz-date",
	  "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31" },
	{ "post-vanilla",
	  &suite,
	  "POST",
	  "/",
	  "",
	  { 0 },
	  "host;x-amz-date",
	  "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b" },
	{ "get-vanilla-query-order-key-case",
	  &suite,
	  "GET",
	  "/",
	  "Param2=value2&Param1=value1",
	  { 0 },
	  "host;x-amz-date",
	  "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500" },
	{ "get-vanilla-query-order-encoded",
	  &suite,
	  "GET",
	  "/",
	  "Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
	  { 0 },
	  "host;x-amz-date",
	  "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac" },
	{ "get-vanilla-query-unreserved",
	  &suite,
	  "GET",
	  "/",
	  UNRESERVED "=" UNRESERVED,
	  { 0 },
	  "host;x-amz-date",
	  "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197" },
	{ "get-vanilla-utf8-query",
	  &suite,
	  "GET",
	  "/",
	  "\xe1\x88\xb4=bar",
	  { 0 },
	  "host;x-amz-date",
	  "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04" },
	{ "get-vanilla-empty-query-key",
	  &suite,
	  "GET",
	  "/",
	  "Param1=value1",
	  { 0 },
	  "host;x-amz-date",
	  "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb" },
	{ "get-space-unnormalized",
	  &suite,
	  "GET",
	  "/example space/",
	  "",
	  { 0 },
	  "host;x-amz-date",
	  "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741" },
	{ "get-utf8",
	  &suite,
	  "GET",
	  "/\xe1\x88\xb4",
	  "",
	  { 0 },
	  "host;x-amz-date",
	  "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85" },
	{ "get-unreserved",
	  &suite,
	  "GET",
	  "/" UNRESERVED,
	  "",
	  { 0 },
	  "host;x-amz-date",
	  "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f" },
	{ "get-slashes-normalized",
	  &suite,
	  "GET",
	  "//example//",
	  "",
	  { 0 },
	  "host;x-amz-date",
	  "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84" },
	{ "get-vanilla-with-session-token",
	  &temporary,
	  "GET",
	  "/",
	  "",
	  { 0 },
	  "host;x-amz-date;x-amz-security-token",
	  "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8" },
	{ "S3: GET Object",
	  &s3,
	  "GET",
	  "/test.txt",
	  "",
	  { "range", "bytes=0-9" },
	  "host;range;x-amz-content-sha256;x-amz-date",
	  "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41" },
	{ "S3: GET Bucket lifecycle",
	  &s3,
	  "GET",
	  "/",
	  "lifecycle",
	  { 0 },
	  "host;x-amz-content-sha256;x-amz-date",
	  "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543" },
	{ "S3: GET Bucket, list objects",
	  &s3,
	  "GET",
	  "/",
	  "max-keys=2&prefix=J",
	  { 0 },
	  "host;x-amz-content-sha256;x-amz-date",
	  "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7" },
};

/* What follows the name; the line ends the program if it is not there. */
static const char *
value_of(const struct lines *lines, const char *name)
{
	const char *line = lines_find(lines, name);

	tap_ok(line != NULL, "%s is sent", name);
	return line != NULL ? line + strlen(name) + 2 : "";
}

static struct lines
sign(const struct probe_sigv4 *keys, const struct outgoing *request)
{
	struct lines lines = { 0 };

	sigv4_sign(keys, request, keys == &s3 ? S3_TIME : SUITE_TIME, &lines);
	return lines;
}

static void
test_vectors(void)
{
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
		bool is_s3 = vectors[i].keys == &s3;
		const struct outgoing request = {
			.method = vectors[i].method,
			.host = is_s3 ? "examplebucket.s3.amazonaws.com" : "example.amazonaws.com",
			.path = vectors[i].path,
			.query = vectors[i].query,
			.headers = &vectors[i].extra,
			.headers_count = vectors[i].extra.name != NULL,
			.body = "",
		};
		struct lines lines = sign(vectors[i].keys, &request);
		char expected[512];

		snprintf(expected, sizeof(expected),
			 "AWS4-HMAC-SHA256 Credential=%s/%s/us-east-1/%s/aws4_request, "
			 "SignedHeaders=%s, Signature=%s",
			 vectors[i].keys->access_key, is_s3 ? "20130524" : "20150830",
			 vectors[i].keys->service, vectors[i].headers, vectors[i].signature);
		tap_str(value_of(&lines, "authorization"), expected, vectors[i].name);
		tap_str(value_of(&lines, "x-amz-date"),
			is_s3 ? "20130524T000000Z" : "20150830T123600Z", vectors[i].name);
		lines_finish(&lines);
	}
}

static void
test_added(void)
{
	/* SHA-256 of nothing, and of "Welcome to Amazon S3." as the same reference prints it */
	static const char empty[] =
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	static const char welcome[] =
		"44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
	struct outgoing request = {
		.method = "POST", .host = "h", .path = "/", .query = "", .body = ""
	};
	struct lines lines = sign(&s3, &request);

	tap_str(value_of(&lines, "x-amz-content-sha256"), empty, "S3: hash of no body");
	lines_finish(&lines);
	request.body = "Welcome to Amazon S3.";
	request.body_len = strlen(request.body);
	lines = sign(&s3, &request);
	tap_str(value_of(&lines, "x-amz-content-sha256"), welcome, "S3: hash of a body");
	lines_finish(&lines);
	lines = sign(&temporary, &request);
	tap_str(value_of(&lines, "x-amz-security-token"), temporary.session_token,
		"the session token goes along");
	tap_ok(lines_find(&lines, "x-amz-content-sha256") == NULL, "no hash beside S3");
	lines_finish(&lines);
}

/* Whether two paths of S3 and two of another service have one signature. */
static bool
same_signature(const struct probe_sigv4 *keys, const char *path, const char *other)
{
	struct outgoing request = {
		.method = "GET", .host = "h", .path = path, .query = "", .body = ""
	};
	struct lines first = sign(keys, &request), second;
	bool same;

	request.path = other;
	second = sign(keys, &request);
	same = strcmp(value_of(&first, "authorization"), value_of(&second, "authorization")) == 0;
	lines_finish(&first);
	lines_finish(&second);
	return same;
}

/* S3 does not encode twice: what is encoded and what is not is the same name. */
static void
test_encoding(void)
{
	tap_ok(same_signature(&s3, "/a%20b", "/a b"), "S3: encoded once");
	tap_ok(!same_signature(&suite, "/a%20b", "/a b"), "others: encoded once more");
	tap_ok(same_signature(&s3, "/a%3ab", "/a%3Ab"), "S3: one way to write a byte");
	tap_ok(!same_signature(&s3, "/a//b", "/a/b"), "S3: an empty segment is part of the name");
	tap_ok(same_signature(&suite, "/a//b", "/a/b"), "others: it is not");
}

int
main(void)
{
	test_vectors();
	test_added();
	test_encoding();
	return tap_done();
}
