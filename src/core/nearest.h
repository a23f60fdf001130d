/* SPDX-License-Identifier: Apache-2.0
 *
 * The name of an operation's field that a misspelt one probably meant.
 */
#pragma once

#include <stddef.h>

const char *nearest_field(const char *name, size_t len);
