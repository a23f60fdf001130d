/* SPDX-License-Identifier: Apache-2.0
 *
 * The head of an HTTP/1.x request, read strictly: what two programs could read in two ways is
 * refused. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
	REQUEST_HEAD_MAX = 8 * 1024,
	REQUEST_BODY_MAX = 16 * 1024,
	REQUEST_HEADERS_MAX = 100,
};

/* Texts point into the bytes and have no NUL behind them. */
struct request_head {
	const char *method, *path; /* path: the target without its query */
	size_t method_len, path_len;
	int minor; /* of HTTP/1.x: 0 or 1 */
	bool keep_alive;
	size_t body_bytes;
	size_t head_bytes; /* with the empty line */
	/* Refused: the status to answer with, and why. */
	int status;
	const char *why;
};

enum head_state { HEAD_INCOMPLETE, HEAD_COMPLETE, HEAD_REFUSED };

/* len bytes have come so far; asked again with more of them while the head is incomplete. */
enum head_state request_head_parse(struct request_head *ret_head, const char *bytes, size_t len);
