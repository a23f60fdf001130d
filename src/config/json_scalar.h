/* SPDX-License-Identifier: Apache-2.0
 *
 * What a scalar of a file is where a mapping stands for JSON.
 */
#pragma once

#include "reconciled/core/value.h"

struct node;

/*
 * Of a text or null. Quoted it is a text; plain null, true, false and numbers as JSON writes them are
 * what they look like, and every other plain scalar (007, +1, yes) is a text.
 */
enum value_kind json_scalar_kind(const struct node *node);
