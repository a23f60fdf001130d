/* SPDX-License-Identifier: Apache-2.0
 *
 * What arrives for one transfer: header lines and decoded body bytes, each with a limit. Knows
 * nothing of curl; its buffers are kept for the next transfer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/base/strbuf.h"
#include "reconciled/net/curl_loop.h"

enum { ANSWER_HEAD_MAX = 64 * 1024 };

/* Zeroed is empty. */
struct answer {
	struct strbuf head; /* name NUL value NUL … */
	struct strbuf body;
	int64_t body_max;
	size_t head_bytes; /* as they came, of all header blocks and trailers */
	size_t lines;
	bool head_over; /* what follows is a trailer: counted, not kept */
	bool too_large; /* a limit was passed */
	bool malformed; /* a header that cannot be represented, or lengths that contradict */
	int64_t length; /* as announced, -1: not */
	struct transfer_header *headers;
	size_t headers_size;
};

void answer_finish(struct answer *answer);

/* For the next transfer. Unusually large buffers are given back. */
void answer_reset(struct answer *answer, int64_t body_max);

/* One header line with its line end, or a status line. False: stop the transfer. */
bool answer_take_line(struct answer *answer, const char *line, size_t len);

/* Decoded body bytes. False: stop the transfer. */
bool answer_take_body(struct answer *answer, const char *bytes, size_t len);

/* The headers of the last block; valid until the next change. */
const struct transfer_header *answer_headers(struct answer *answer);
