/* SPDX-License-Identifier: Apache-2.0
 *
 * YAML → one target.
 */
#pragma once

#include <stdbool.h>

#include "field.h"
#include "reconciled/config/target.h"

extern const struct table target_table;

/* Fills what can be filled; complains about the rest. */
void target_decode(struct loading *loading, const struct node *root, struct target *ret_target);

/* The target says how to see that it can be asked at all; known even if the rest is faulty. */
bool target_has_control(const struct node *root);

/* The names of operation types and targets: letters, digits, "_", "-", ".", not first a ".". */
bool name_is_valid(const char *name);

/* KEY must name the file: KEY: x stands in x.yaml. */
void name_check(struct loading *loading, const struct node *root, const char *key);
