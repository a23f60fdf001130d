/* SPDX-License-Identifier: Apache-2.0
 *
 * Currencies and how many decimals their smallest unit has.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* By ISO 4217, in either case: 2 for "EUR". False: unknown, or without a minor unit ("XAU"). */
bool currency_decimals(const char *code, size_t len, int *ret_decimals);
