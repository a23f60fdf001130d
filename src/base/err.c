/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors as values. Owns nothing; the text lives in the caller's struct.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reconciled/base/err.h"

const char *
err_code_name(enum err_code code)
{
	static const char *const names[] = {
		[ERR_NONE] = "none",	     [ERR_INVALID] = "invalid",	    [ERR_BUSY] = "busy",
		[ERR_CONFLICT] = "conflict", [ERR_TRANSIENT] = "transient", [ERR_FATAL] = "fatal",
	};

	return names[code];
}

/* Ends the text in "..." where it was cut, without leaving half a UTF-8 character. */
static void
mark_cut(char *text, size_t size)
{
	size_t end = size - 4;

	while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	memcpy(text + end, "...", 4);
}

void
err_fill(struct err *err, enum err_code code, const char *fmt, ...)
{
	char text[ERR_TEXT_MAX]; /* the arguments may point into the old text */
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (len >= (int)sizeof(text))
		mark_cut(text, sizeof(text));
	err->code = code;
	memcpy(err->text, text, sizeof(text));
}

void
err_context(struct err *err, const char *fmt, ...)
{
	char context[ERR_TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(context, sizeof(context), fmt, args);
	va_end(args);
	err_fill(err, err->code, "%s: %s", context, err->text);
}
