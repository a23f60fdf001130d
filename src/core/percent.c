/* SPDX-License-Identifier: Apache-2.0
 *
 * Percent-encoding of path segments, queries and forms.
 */
#include "reconciled/core/percent.h"

#include "reconciled/base/strbuf.h"

static bool
is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_' || c == '~';
}

void
percent_add(struct strbuf *out, const char *text, size_t len, bool keep_slashes)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (is_unreserved(text[i]) || (keep_slashes && text[i] == '/'))
			strbuf_putc(out, text[i]);
		else
			strbuf_add(out, (char[]){ '%', digits[byte >> 4], digits[byte & 15] }, 3);
	}
}
