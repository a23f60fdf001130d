/* SPDX-License-Identifier: Apache-2.0
 *
 * A signature over a text of the target's own (HMAC, RFC 2104), in a header of its own.
 */
#pragma once

#include <stdint.h>

#include "outgoing.h"
#include "reconciled/probe/login.h"

struct lines;

/*
 * Adds the header with the signature, and those of the target that hold placeholders, filled.
 * Moment and nonce are the same in all of them.
 */
void hmac_auth_sign(const struct probe_hmac *hmac, const struct outgoing *request, int64_t wall_us,
		    struct lines *lines);
