/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts reduced to what a comparison distinguishes: case, composition, white space.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* A text that need not end in NUL. */
struct slice {
	const char *text;
	size_t len;
};

/* Only A to Z, as in names of headers. */
const char *lower_ascii(struct arena *arena, const char *text, size_t len);

/* By the bits of enum fold. What is no UTF-8 stays as it is. */
struct slice fold_text(struct arena *arena, struct slice text, unsigned fold);

bool slice_equals(struct slice a, struct slice b);
bool slice_begins(struct slice text, struct slice prefix);
