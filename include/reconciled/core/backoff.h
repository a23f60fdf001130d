/* SPDX-License-Identifier: Apache-2.0
 *
 * Spacing of repeated looks, attempts and requeues: first, times factor, up to max, with jitter.
 */
#pragma once

#include <stdint.h>

struct backoff;

/* Delay before try n (0: the first). Jitter spreads it by ±jitter_percent, chosen by random. */
int64_t backoff_delay_us(const struct backoff *backoff, int n, uint64_t random);
