/* SPDX-License-Identifier: Apache-2.0
 *
 * Which headers a policy or target may set.
 */
#pragma once

#include <stdbool.h>

struct loading;
struct node;

/* The key is a header name that is free to be set, the value has no line ends. False: said. */
bool header_check(struct loading *loading, const struct node *node);

/* The name alone: a token of HTTP. */
bool header_name_is_valid(const char *name);
