/* SPDX-License-Identifier: Apache-2.0
 *
 * What an answer says about when the next question is welcome: Retry-After and the families of
 * rate-limit headers. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct header;

enum { QUOTA_UNSAID = -1 };

/* The longest wait that is believed. */
#define QUOTA_WAIT_MAX_US ((int64_t)3600 * 1000000)

struct quota_answer {
	int status;
	bool throttled; /* the answer was a "not now", by its status or by a rule of the target */
	const struct header *headers;
	size_t headers_count;
	int64_t wall_us; /* our clock, for an answer without Date */
};

/*
 * Microseconds from now before which nothing should be asked, 0 to QUOTA_WAIT_MAX_US; QUOTA_UNSAID
 * when the answer names no such moment. Of several moments the latest counts.
 */
int64_t quota_wait_us(const struct quota_answer *answer);
