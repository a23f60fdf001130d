/* SPDX-License-Identifier: Apache-2.0
 *
 * The types that --type names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether one of these types; without any, every type is. */
bool choice_has(const char *const *types, size_t count, const char *operation_type);
