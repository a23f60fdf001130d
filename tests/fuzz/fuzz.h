/* SPDX-License-Identifier: Apache-2.0
 *
 * What libFuzzer and the replay of a corpus call.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
