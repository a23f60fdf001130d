/* SPDX-License-Identifier: Apache-2.0
 *
 * What conditions say about each other whatever the answer and the operation are. Only what is
 * certain: false means that it cannot be told.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/core/condition.h"

/* Wherever `one` holds, `other` holds too. */
bool condition_implies(const struct condition *one, const struct condition *other);

/* One of both holds, always. */
bool conditions_cover(const struct condition *one, const struct condition *other);

/* It never holds; *ret_locator is where its tests contradict each other. */
bool condition_contradicts(const struct condition *condition, const struct locator **ret_locator);
