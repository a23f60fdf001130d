/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON that goes into the journal: why this verdict and no other. Only what the policy keeps
 * (evidence.keep) is shown; other values are keyed hashes, URLs templates, the body a SHA-256.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/base/hash.h"
#include "reconciled/core/decide.h"

struct arena;
struct hmac;
struct strbuf;

enum { EVIDENCE_BYTES_MAX = 16 * 1024, EVIDENCE_HASH_KEY_MIN = 32, EVIDENCE_HASH_SIZE = 22 };

/* What is written down: one look and all that followed from it. */
struct evidence_of {
	const struct policy *policy;
	const struct operation *op;
	const struct look *look;
	const struct verdict *verdict;
	const struct decision *decision;
};

/*
 * Appends compact JSON to out: at most EVIDENCE_BYTES_MAX bytes (longer values are cut and marked),
 * valid UTF-8, no NUL in any form. ret_digest: hex SHA-256 of what makes a look the same as another
 * (not time, size and hash of the response, nor the counts of looks), for "nothing changed".
 */
void evidence_write(struct strbuf *out, struct arena *arena, struct hmac *key,
		    const struct evidence_of *of, char ret_digest[static HASH_SHA256_HEX]);

/* The policy keeps what is at this place, so its value may be shown. */
bool evidence_keeps(const struct policy *policy, const struct locator *locator);

/* "hmac:" and 16 hex digits. */
void evidence_hash(struct hmac *key, const char *text, size_t len,
		   char ret[static EVIDENCE_HASH_SIZE]);
