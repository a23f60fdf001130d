/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/err.h"
#include "reconciled/base/hash.h"
#include "reconciled/base/log.h"
#include "reconciled/base/secret.h"
#include "reconciled/base/strbuf.h"
#include "tap.h"

static void
errors(void)
{
	char longer[2 * ERR_TEXT_MAX];
	struct err err = { 0 };

	tap_ok(!err_set(&err, ERR_INVALID, "value \"%s\"", "x"), "err_set is false");
	tap_int(err.code, ERR_INVALID, "the code is kept");
	tap_ok(!err_wrap(&err, "policy \"%s\"", "p"), "err_wrap is false");
	tap_str(err.text, "policy \"p\": value \"x\"", "context stands before the message");
	memset(longer, 'a', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	err_fill(&err, ERR_FATAL, "%s", longer);
	tap_int((long long)strlen(err.text), ERR_TEXT_MAX - 1, "a long message is cut");
	tap_str(err.text + ERR_TEXT_MAX - 5, "a...", "and says so");
}

/* What two hold lives as long as one of them; the sanitizer sees what is left. */
static void
held_arenas(void)
{
	struct arena *first = arena_create(), *second = arena_create(), *shared = arena_create();
	const char *text = arena_strdup(shared, "kept");

	arena_hold(first, shared);
	arena_hold(second, shared);
	arena_destroy(shared);
	arena_reset(first);
	tap_str(text, "kept", "what an arena holds outlives its own end, and one of two holders");
	arena_strdup(first, "again");
	arena_destroy(second);
	arena_destroy(first);
	shared = arena_create();
	first = arena_create();
	arena_hold(first, shared);
	arena_destroy(first);
	arena_reset(shared);
	tap_int((long long)arena_bytes(shared), 0, "given back, it is used as before");
	arena_destroy(shared);
}

static void
marks(struct arena *arena)
{
	size_t before = arena_bytes(arena);
	struct arena_mark mark = arena_mark(arena);
	char *first = arena_alloc(arena, 16), *again;

	for (int i = 0; i < 3; i++)
		arena_alloc(arena, 50000);
	arena_release(arena, mark);
	tap_int((long long)arena_bytes(arena), (long long)before, "a mark gives back what came after");
	again = arena_alloc(arena, 16);
	tap_ok(again == first, "and its place");
}

static void
arenas(void)
{
	struct arena *arena = arena_create();
	char *first = arena_alloc(arena, 10), *big;

	tap_ok(first[0] == 0 && first[9] == 0, "memory is zeroed");
	big = arena_alloc(arena, 100000);
	big[99999] = 'x';
	tap_str(arena_printf(arena, "%d-%s", 7, "b"), "7-b", "printf");
	tap_str(arena_strndup(arena, "abcdef", 3), "abc", "strndup ends the text");
	tap_ok(arena_bytes(arena) >= 100010, "bytes are counted");
	marks(arena);
	arena_reset(arena);
	tap_int((long long)arena_bytes(arena), 0, "reset empties");
	tap_ok(arena_alloc(arena, 10) == first, "the first block is used again");
	arena_destroy(arena);
	arena_destroy(NULL);
	held_arenas();
}

static void
hashes(void)
{
	unsigned char sum[HASH_SHA256_BYTES];
	char hex[HASH_SHA256_HEX];
	struct hmac *hmac = hmac_create("Jefe", 4); /* RFC 4231, test case 2 */

	/* FIPS 180-2, appendix B.1 */
	hash_sha256("abc", 3, sum);
	hash_hex(sum, sizeof(sum), hex);
	tap_str(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		"SHA-256 of abc");
	for (int i = 1; i <= 2; i++) {
		hmac_sha256(hmac, "what do ya want for nothing?", 28, sum);
		hash_hex(sum, sizeof(sum), hex);
		tap_str(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
			"HMAC of RFC 4231");
	}
	hmac_destroy(hmac);
}

static void
secret_case(const char *contents, size_t len, const char *want, const char *message,
	    const char *name)
{
	char path[] = "/tmp/reconciled-secret-XXXXXX", reference[64];
	int fd = mkstemp(path);
	struct secret *secret = NULL;
	struct err err = { 0 };

	if (write(fd, contents, len) != (ssize_t)len)
		abort();
	close(fd);
	snprintf(reference, sizeof(reference), "file:%s", path);
	tap_ok(secret_load(reference, &secret, &err) == (want != NULL), "%s: loads or not", name);
	if (want)
		tap_str(secret ? secret_reveal(secret) : NULL, want, name);
	else
		tap_ok(strstr(err.text, message) != NULL && strstr(err.text, path) != NULL,
		       "%s: %s", name, err.text);
	secret_destroy(secret);
	unlink(path);
}

static void
secrets(void)
{
	struct secret *secret = NULL;
	struct err err = { 0 };

	secret_case("s3cret\n", 7, "s3cret", NULL, "one newline is stripped");
	secret_case("s3cret\n\n", 8, "s3cret\n", NULL, "a second newline stays");
	secret_case("", 0, NULL, "is empty", "empty file");
	secret_case("\n", 1, NULL, "is empty", "only a newline");
	secret_case("a\0b", 3, NULL, "NUL", "NUL inside");
	setenv("RC_TEST_SECRET", "from-env", 1);
	tap_ok(secret_load("env:RC_TEST_SECRET", &secret, &err), "environment");
	tap_str(secret ? secret_reveal(secret) : NULL, "from-env", "value from the environment");
	secret_destroy(secret);
	tap_ok(!secret_load("env:RC_TEST_NOT_SET", &secret, &err), "missing variable");
	tap_str(err.text,
		"secret \"env:RC_TEST_NOT_SET\": the environment has no variable "
		"\"RC_TEST_NOT_SET\"",
		"names the reference");
	unsetenv("CREDENTIALS_DIRECTORY");
	tap_ok(!secret_load("credential:x", &secret, &err) &&
		       strstr(err.text, "CREDENTIALS_DIRECTORY"),
	       "credential without systemd says so");
	tap_ok(!secret_load("hunter2", &secret, &err) && !strstr(err.text, "hunter2"),
	       "a secret written in place of a reference is not repeated");
	tap_ok(secret_is_reference("file:/x") && !secret_is_reference("file:") &&
		       !secret_is_reference("x"),
	       "what a reference is");
}

static void
buffers(void)
{
	struct strbuf buf = { 0 };
	char *text;

	tap_str(strbuf_text(&buf), "", "zeroed is empty");
	for (int i = 0; i < 1000; i++)
		strbuf_printf(&buf, "%d,", i);
	tap_int((long long)buf.len, 10 * 2 + 90 * 3 + 900 * 4, "printf grows");
	text = strbuf_take(&buf);
	tap_ok(buf.len == 0 && strncmp(text, "0,1,2,", 6) == 0, "take hands over");
	free(text);
	strbuf_put_int(&buf, 0);
	strbuf_put_int(&buf, LLONG_MAX);
	strbuf_put_int(&buf, LLONG_MIN);
	tap_str(strbuf_text(&buf), "09223372036854775807-9223372036854775808", "numbers");
	strbuf_finish(&buf);
}

int
main(void)
{
	errors();
	arenas();
	hashes();
	secrets();
	buffers();
	return tap_done();
}
