/* SPDX-License-Identifier: Apache-2.0
 *
 * AWS Signature Version 4 in the Authorization header. libcurl's own signer is not used: before
 * 8.x it does not bring the query into its canonical order. Pure.
 */
#pragma once

#include <stdint.h>

#include "outgoing.h"
#include "reconciled/probe/login.h"

struct lines;

/*
 * Adds x-amz-date, where they are due x-amz-security-token and x-amz-content-sha256, and
 * authorization. Signed are these, host, the content type, and of the request's headers those
 * that AWS asks for (x-amz-…, range).
 */
void sigv4_sign(const struct probe_sigv4 *keys, const struct outgoing *request, int64_t wall_us,
		struct lines *lines);
