/* SPDX-License-Identifier: Apache-2.0
 *
 * What the readers of values share while they build a tree.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/core/value.h"

/* Puts a child behind the last one. Its name is set by the caller. */
void value_link(struct value *parent, struct value *child);

/* Two members of the object have the same name. */
bool value_has_duplicates(const struct value *object);
