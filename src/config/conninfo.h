/* SPDX-License-Identifier: Apache-2.0
 *
 * The `database` setting: a connection string of libpq without a password in it.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/base/attributes.h"

struct arena;
struct err;

/*
 * Splits "password=REFERENCE" (or "?password=REFERENCE" of a URI) off. *ret_rest is what libpq
 * gets; *ret_reference is the reference to the password, or NULL. A password itself is refused.
 * Messages never repeat the text.
 */
bool conninfo_split(struct arena *arena, const char *text, const char **ret_rest,
		    const char **ret_reference, struct err *err) MUST_CHECK;
