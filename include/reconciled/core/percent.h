/* SPDX-License-Identifier: Apache-2.0
 *
 * Percent-encoding: all but the unreserved characters of RFC 3986 (and "/" where it is kept).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct strbuf;

void percent_add(struct strbuf *out, const char *text, size_t len, bool keep_slashes);
