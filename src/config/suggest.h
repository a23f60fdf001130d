/* SPDX-License-Identifier: Apache-2.0
 *
 * The nearest known word to one that is unknown, by edit distance.
 */
#pragma once

#include <stddef.h>

/* name_at(words, i) gives the i-th word. NULL when none is near enough to be meant. */
const char *suggest_nearest(const char *text, const char *(*name_at)(const void *words, size_t i),
			    const void *words, size_t count);
