/* SPDX-License-Identifier: Apache-2.0
 *
 * A list of texts, each in memory of its own size, so that nothing is left behind by growing.
 */
#include "lines.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <openssl/evp.h>

#include "reconciled/base/xalloc.h"

void
lines_add(struct lines *lines, const char *name, const char *prefix, const char *value)
{
	size_t name_len = strlen(name), prefix_len = strlen(prefix), value_len = strlen(value);
	char *line = xcalloc(name_len + 2 + prefix_len + value_len + 1, 1);

	memcpy(line, name, name_len);
	memcpy(line + name_len, ": ", 2);
	memcpy(line + name_len + 2, prefix, prefix_len);
	memcpy(line + name_len + 2 + prefix_len, value, value_len);
	if (lines->count == lines->size) {
		lines->size = lines->size > 0 ? 2 * lines->size : 8;
		lines->text = xrealloc(lines->text, lines->size, sizeof(*lines->text));
	}
	lines->text[lines->count++] = line;
}

void
lines_add_basic(struct lines *lines, const char *user, const char *password)
{
	size_t user_len = strlen(user), len = user_len + 1 + strlen(password);
	size_t coded_size = len / 3 * 4 + 8;
	char *plain = xcalloc(len + 1, 1);
	unsigned char *coded = xcalloc(coded_size, 1);

	memcpy(plain, user, user_len);
	plain[user_len] = ':';
	memcpy(plain + user_len + 1, password, len - user_len - 1);
	EVP_EncodeBlock(coded, (const unsigned char *)plain, (int)len);
	lines_add(lines, "authorization", "Basic ", (const char *)coded);
	explicit_bzero(plain, len);
	explicit_bzero(coded, coded_size);
	free(plain);
	free(coded);
}

void
lines_reset(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++) {
		explicit_bzero(lines->text[i], strlen(lines->text[i]));
		free(lines->text[i]);
	}
	lines->count = 0;
}

void
lines_finish(struct lines *lines)
{
	lines_reset(lines);
	free(lines->text);
	*lines = (struct lines){ 0 };
}

const char *
lines_find(const struct lines *lines, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < lines->count; i++)
		if (strncasecmp(lines->text[i], name, len) == 0 && lines->text[i][len] == ':')
			return lines->text[i];
	return NULL;
}
