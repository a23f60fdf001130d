/* SPDX-License-Identifier: Apache-2.0
 *
 * The base URL of a target: its parts, and whether we may go there.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/base/attributes.h"

struct arena;
struct err;

/*
 * https://HOST[:PORT][/PATH]; http only with insecure or for loopback. Refused: user info, query,
 * fragment, addresses of cloud metadata services in any spelling. *ret_base has no trailing "/".
 * Messages do not repeat the URL, which may hold a password.
 */
bool address_check(struct arena *arena, const char *url, bool insecure, const char **ret_base,
		   struct err *err) MUST_CHECK;
