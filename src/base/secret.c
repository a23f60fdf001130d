/* SPDX-License-Identifier: Apache-2.0
 *
 * Secrets: read from systemd credentials, files or the environment; wiped when destroyed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/err.h"
#include "reconciled/base/secret.h"
#include "reconciled/base/xalloc.h"

enum { SECRET_BYTES_MAX = 64 * 1024 };

struct secret {
	size_t len;
	char bytes[];
};

struct source {
	const char *prefix;
	bool (*read)(const char *name, char *buf, size_t *ret_len, struct err *err);
};

static void
close_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

/* Reads up to one byte more than allowed, so that too long shows. */
static bool
read_file(const char *path, char *buf, size_t *ret_len, struct err *err)
{
	CLEANUP(close_file) FILE *file = fopen(path, "re");

	if (!file)
		return err_set(err, ERR_INVALID, "could not open \"%s\": %s", path,
			       strerror(errno));
	*ret_len = fread(buf, 1, SECRET_BYTES_MAX + 1, file);
	if (ferror(file))
		return err_set(err, ERR_INVALID, "could not read \"%s\": %s", path,
			       strerror(errno));
	return true;
}

static bool
read_credential(const char *name, char *buf, size_t *ret_len, struct err *err)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");
	char path[4096];

	if (strchr(name, '/'))
		return err_set(err, ERR_INVALID, "the name of a credential has no \"/\"");
	if (!folder)
		return err_set(err, ERR_INVALID,
			       "$CREDENTIALS_DIRECTORY is not set (LoadCredential= in the unit)");
	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return err_set(err, ERR_INVALID, "path is too long");
	return read_file(path, buf, ret_len, err);
}

static bool
read_environment(const char *name, char *buf, size_t *ret_len, struct err *err)
{
	const char *value = getenv(name);

	if (!value)
		return err_set(err, ERR_INVALID, "the environment has no variable \"%s\"", name);
	*ret_len = strnlen(value, SECRET_BYTES_MAX + 1);
	memcpy(buf, value, *ret_len);
	return true;
}

static const struct source sources[] = {
	{ "credential:", read_credential },
	{ "file:", read_file },
	{ "env:", read_environment },
};

static const struct source *
source_of(const char *reference)
{
	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		if (strncmp(reference, sources[i].prefix, strlen(sources[i].prefix)) == 0)
			return &sources[i];
	return NULL;
}

bool
secret_is_reference(const char *text)
{
	const struct source *source = source_of(text);

	return source && text[strlen(source->prefix)] != '\0';
}

static bool
check(const char *buf, size_t len, struct err *err)
{
	if (len == 0)
		return err_set(err, ERR_INVALID, "is empty");
	if (len > SECRET_BYTES_MAX)
		return err_set(err, ERR_INVALID, "is longer than %d bytes", SECRET_BYTES_MAX);
	if (memchr(buf, '\0', len))
		return err_set(err, ERR_INVALID, "holds a NUL byte");
	return true;
}

static size_t
without_newline(const char *buf, size_t len)
{
	return len > 0 && buf[len - 1] == '\n' ? len - 1 : len;
}

bool
secret_load(const char *reference, struct secret **ret_secret, struct err *err)
{
	const struct source *source = source_of(reference);
	char *buf;
	size_t len;
	bool ok;

	if (!source)
		return err_set(
			err, ERR_INVALID,
			"expected credential:NAME, file:PATH or env:NAME"); /* it may be the secret:
									       not shown */
	buf = xcalloc(1, SECRET_BYTES_MAX + 1);
	ok = source->read(reference + strlen(source->prefix), buf, &len, err);
	if (ok) {
		len = without_newline(buf, len);
		ok = check(buf, len, err);
	}
	if (ok)
		*ret_secret = secret_create(buf, len);
	explicit_bzero(buf, SECRET_BYTES_MAX + 1);
	free(buf);
	return ok || err_wrap(err, "secret \"%s\"", reference);
}

struct secret *
secret_create(const char *bytes, size_t len)
{
	struct secret *secret = xcalloc(1, sizeof(*secret) + len + 1);

	secret->len = len;
	memcpy(secret->bytes, bytes, len);
	return secret;
}

void
secret_destroy(struct secret *secret)
{
	if (!secret)
		return;
	explicit_bzero(secret->bytes, secret->len);
	free(secret);
}

const char *
secret_reveal(const struct secret *secret)
{
	return secret->bytes;
}

size_t
secret_len(const struct secret *secret)
{
	return secret->len;
}
