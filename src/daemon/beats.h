/* SPDX-License-Identifier: Apache-2.0
 *
 * What follows from heartbeats, ours and those of others. The owner is the daemon.
 */
#pragma once

#include <stdint.h>

struct cluster_view;

void beats_on_answered(void *owner, int64_t sent_us, const struct cluster_view *view);
void beats_on_silent(void *owner);
