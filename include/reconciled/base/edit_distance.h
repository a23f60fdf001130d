/* SPDX-License-Identifier: Apache-2.0
 *
 * How unlike two words are, to name the known one that a misspelt one probably meant.
 */
#pragma once

#include <stddef.h>

enum { EDIT_DISTANCE_BYTES_MAX = 40 };

/* Levenshtein, over bytes; both words have at most EDIT_DISTANCE_BYTES_MAX of them. */
size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len);
