/* SPDX-License-Identifier: Apache-2.0
 *
 * Names in braces; a text without them is signed as it is.
 */
#include "reconciled/core/signing.h"

#include <string.h>

#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"

static const char *const names[SIGNING_FIELDS] = {
	[SIGNING_METHOD] = "method",	   [SIGNING_PATH] = "path",
	[SIGNING_QUERY] = "query",	   [SIGNING_HOST] = "host",
	[SIGNING_BODY] = "body",	   [SIGNING_BODY_SHA256] = "body_sha256",
	[SIGNING_TIMESTAMP] = "timestamp", [SIGNING_TIMESTAMP_MS] = "timestamp_ms",
	[SIGNING_DATE] = "date",	   [SIGNING_NONCE] = "nonce",
	[SIGNING_SIGNATURE] = "signature",
};

const char *
signing_field_name(enum signing_field field)
{
	return names[field];
}

/* The field that is named at the brace, and how long that is; SIGNING_FIELDS: none. */
static enum signing_field
field_at(const char *brace, size_t *ret_len)
{
	size_t len = strcspn(brace + 1, "}");

	*ret_len = brace[1 + len] == '}' ? len + 2 : len + 1;
	for (enum signing_field field = 0; field < SIGNING_FIELDS; field++)
		if (brace[1 + len] == '}' && strlen(names[field]) == len &&
		    strncmp(names[field], brace + 1, len) == 0)
			return field;
	return SIGNING_FIELDS;
}

bool
signing_check(const char *sign, struct err *err)
{
	for (const char *brace = strchr(sign, '{'); brace; brace = strchr(brace + 1, '{')) {
		size_t len;
		enum signing_field field = field_at(brace, &len);

		if (field == SIGNING_FIELDS || field == SIGNING_SIGNATURE)
			return err_set(err, ERR_INVALID,
				       "\"%.*s\" is no part of a request, allowed: {method}, "
				       "{path}, {query}, {host}, {body}, {body_sha256}, "
				       "{timestamp}, {timestamp_ms}, {date}, {nonce}",
				       (int)len, brace);
	}
	return true;
}

void
signing_render(const char *text, const struct signing_text values[static SIGNING_FIELDS],
	       struct strbuf *out)
{
	while (*text != '\0') {
		size_t len = strcspn(text, "{");
		enum signing_field field;

		strbuf_add(out, text, len);
		text += len;
		if (*text == '\0')
			return;
		field = field_at(text, &len);
		if (field == SIGNING_FIELDS || !values[field].bytes)
			strbuf_add(out, text, len = 1);
		else
			strbuf_add(out, values[field].bytes, values[field].len);
		text += len;
	}
}
