/* SPDX-License-Identifier: Apache-2.0
 *
 * libc compiles repetitions by copying, so what a bounded repetition may cost is limited first.
 */
#include "reference.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "policy.h"

enum { REFERENCE_BYTES_MAX = 500, COPIES_MAX = 100000, ERROR_BYTES = 200 };

/* Upper bound of the copies: the product of all bounds, as if they were nested. */
static bool
is_affordable(const char *text)
{
	unsigned long copies = 1;

	for (const char *brace = strchr(text, '{'); brace; brace = strchr(brace + 1, '{')) {
		const char *at = brace + 1;
		unsigned long bound = 1;

		for (; *at != '\0' && *at != '}'; at++) {
			char *end;
			unsigned long number = strtoul(at, &end, 10);

			if (end == at)
				continue;
			bound = number > bound ? number : bound;
			at = end - 1;
		}
		if (bound > COPIES_MAX / copies)
			return false;
		copies *= bound;
	}
	return true;
}

const regex_t *
reference_compile(struct loading *loading, const struct node *node, const char *text)
{
	char message[ERROR_BYTES];
	regex_t regex, *kept;
	int failed;

	if (strlen(text) > REFERENCE_BYTES_MAX || !is_affordable(text)) {
		complain(loading, node,
			 "the regular expression is too large, allowed: %d bytes, %d copies",
			 REFERENCE_BYTES_MAX, COPIES_MAX);
		return NULL;
	}
	failed = regcomp(&regex, text, REG_EXTENDED);
	if (failed) {
		regerror(failed, &regex, message, sizeof(message));
		complain(loading, node, "no regular expression: %s", message);
		return NULL;
	}
	kept = keep_new_regex(loading);
	*kept = regex;
	return kept;
}
