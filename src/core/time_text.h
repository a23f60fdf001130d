/* SPDX-License-Identifier: Apache-2.0
 *
 * Times as text, in UTC, cut to the second (epoch_ms: to the millisecond).
 */
#pragma once

#include <stdint.h>

#include "reconciled/core/template.h"

const char *time_text(struct arena *arena, int64_t us, enum template_time format);
