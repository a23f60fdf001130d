/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiles the regular expression that guards what is sent.
 */
#pragma once

#include <regex.h>

struct loading;
struct node;

/* Kept with the configuration; NULL after a complaint. Matches are to span the whole text. */
const regex_t *reference_compile(struct loading *loading, const struct node *node,
				 const char *text);
