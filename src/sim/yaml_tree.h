/* SPDX-License-Identifier: Apache-2.0
 *
 * A YAML file as a JSON tree. Aliases, tags, repeated keys and nesting beyond 32 are refused. Plain
 * scalars that look like integers, decimals, true, false or null become such, all others text.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "reconciled/base/attributes.h"

struct err;

/* An empty file is an empty object. Errors name file, line and column. */
bool yaml_tree_load(const char *file, json_t **ret_tree, struct err *err) MUST_CHECK;
