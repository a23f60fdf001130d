/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors as values: a code that says what the caller may do, and a message that says what happened.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/base/attributes.h"

enum err_code {
	ERR_NONE,
	ERR_INVALID,   /* input or configuration is wrong; the same call will fail again */
	ERR_BUSY,      /* a limit is reached; later */
	ERR_CONFLICT,  /* somebody else changed it first */
	ERR_TRANSIENT, /* the other side failed; try again after a pause */
	ERR_FATAL,     /* nothing can be done from here */
};

enum { ERR_TEXT_MAX = 1024 };

/* Zeroed is "no error". Lives on the caller's stack. */
struct err {
	enum err_code code;
	char text[ERR_TEXT_MAX];
};

const char *err_code_name(enum err_code code);

/* Sets code and message; a longer message is cut at a character boundary and ends in "...". */
void err_fill(struct err *err, enum err_code code, const char *fmt, ...) PRINTF(3, 4);

/* Puts "context: " before the message; for the one who knows something the callee did not. */
void err_context(struct err *err, const char *fmt, ...) PRINTF(2, 3);

/* Failing in one statement: return err_set(err, ERR_INVALID, "…"). Always false. */
#define err_set(err, code, ...) (err_fill((err), (code), __VA_ARGS__), false)

/* Adds context and keeps failing: return err_wrap(err, "policy \"%s\"", name). Always false. */
#define err_wrap(err, ...) (err_context((err), __VA_ARGS__), false)
