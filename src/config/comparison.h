/* SPDX-License-Identifier: Apache-2.0
 *
 * YAML → the compare: mapping of a policy.
 */
#pragma once

#include "field.h"

extern const struct table comparison_table;
extern const struct shape shape_comparisons;

/* Decoder of the field: at is a struct policy. */
void compare_decode(struct loading *loading, const struct node *node, void *at,
		    const struct field *field);
