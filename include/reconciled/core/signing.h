/* SPDX-License-Identifier: Apache-2.0
 *
 * The text that a request is signed over, as a target writes it, e.g.
 * "{method}\n{path}\n{timestamp}\n{body_sha256}". Pure; keys and algorithms are for others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/base/attributes.h"

struct err;
struct strbuf;

enum signing_algorithm { SIGNING_SHA256, SIGNING_SHA512, SIGNING_SHA1 };
enum signing_encoding { SIGNING_HEX, SIGNING_BASE64 };

struct signing_rule {
	enum signing_algorithm algorithm;
	enum signing_encoding encoding;
	const char *sign; /* passed signing_check */
};

enum signing_field {
	SIGNING_METHOD,
	SIGNING_PATH,  /* as it is sent: encoded, with the one of the base, without query */
	SIGNING_QUERY, /* as it is sent, without "?"; empty without query */
	SIGNING_HOST,  /* with its port where that is not the usual one */
	SIGNING_BODY,
	SIGNING_BODY_SHA256,  /* lower-case hex, also of an empty body */
	SIGNING_TIMESTAMP,    /* whole seconds since 1970 */
	SIGNING_TIMESTAMP_MS, /* milliseconds since 1970 */
	SIGNING_DATE,	      /* as HTTP writes a date (RFC 9110) */
	SIGNING_NONCE,	      /* 32 hex digits, new for each request */
	SIGNING_SIGNATURE,    /* in headers only */
	SIGNING_FIELDS
};

const char *signing_field_name(enum signing_field field);

/* Every {…} names one of the fields, and none is the signature itself. */
bool signing_check(const char *sign, struct err *err) MUST_CHECK;

struct signing_text {
	const char *bytes;
	size_t len;
};

/*
 * Puts the values in. One without bytes, and what is in braces and no field, stays as it is
 * written.
 */
void signing_render(const char *text, const struct signing_text values[static SIGNING_FIELDS],
		    struct strbuf *out);
