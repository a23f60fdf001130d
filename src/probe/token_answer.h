/* SPDX-License-Identifier: Apache-2.0
 *
 * What a token endpoint answered (RFC 6749, 5). Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/base/attributes.h"

struct err;

enum { TOKEN_BYTES_MAX = 16 * 1024 };

/* The texts are the caller's, who wipes and frees them. */
struct token_answer {
	char *access_token;
	char *refresh_token;   /* NULL: none came */
	int64_t expires_in_us; /* 0: not said */
};

void token_answer_finish(struct token_answer *answer);

/* err says why there is no token in it, with nothing of the body but a code of the standard. */
bool token_answer_read(int status, const char *body, size_t len, struct token_answer *ret_answer,
		       struct err *err) MUST_CHECK;
