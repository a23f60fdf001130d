/* SPDX-License-Identifier: Apache-2.0
 *
 * Equal parts, or rendezvous hashing (highest random weight) where there are too few.
 */
#include "parts.h"

#include <stdbool.h>
#include <string.h>

#include "reconciled/base/hash.h"
#include "reconciled/base/strbuf.h"

/* The NUL between the two keeps ("a", "bc") and ("ab", "c") apart. */
static void
weigh(struct strbuf *text, const char *target, const char *id,
      unsigned char ret[static HASH_SHA256_BYTES])
{
	strbuf_reset(text);
	strbuf_add(text, target, strlen(target) + 1);
	strbuf_add(text, id, strlen(id));
	hash_sha256(text->data, text->len, ret);
}

static bool
is_owner(const char *const *live, size_t live_count, size_t own, const char *target)
{
	unsigned char ours[HASH_SHA256_BYTES], other[HASH_SHA256_BYTES];
	struct strbuf text = { 0 };
	bool wins = true;

	weigh(&text, target, live[own], ours);
	for (size_t i = 0; wins && i < live_count; i++) {
		if (i == own)
			continue;
		weigh(&text, target, live[i], other);
		wins = memcmp(ours, other, sizeof(ours)) > 0;
	}
	strbuf_finish(&text);
	return wins;
}

struct part
part_of_target(const char *const *live, size_t live_count, const char *own_id, const char *target,
	       int concurrent)
{
	size_t own = 0;

	while (own < live_count && strcmp(live[own], own_id) != 0)
		own++;
	if (own == live_count)
		return (struct part){ 0, 0 };
	if ((size_t)concurrent >= live_count)
		return (struct part){ (int)own, (int)live_count };
	return is_owner(live, live_count, own, target) ? (struct part){ 0, 1 }
						       : (struct part){ 0, 0 };
}
