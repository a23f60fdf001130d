/* SPDX-License-Identifier: Apache-2.0
 *
 * Which headers a policy or target may set.
 */
#pragma once

#include <stdbool.h>

struct loading;
struct node;
struct shape;

/* The key is a header name that is free to be set, the value has no line ends. False: said. */
bool header_check(struct loading *loading, const struct node *node);

/* The name alone: a token of HTTP. */
bool header_name_is_valid(const char *name);
extern const struct shape shape_header_name;

#define HEADER_NAME_PATTERN "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$"
