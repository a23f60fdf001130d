/* SPDX-License-Identifier: Apache-2.0
 *
 * What a source that may be behind says against an effect. Private to core.
 */
#pragma once

#include "judgement.h"

/* The second read that the last reading of a look asks for; without probe: none. */
struct look_step stale_next(const struct policy *policy, const struct operation *op,
			    const struct look *look, struct arena *arena);

/* Judges the one item of a found reading, or the skipped ones; whatever the source is. */
void stale_judge(struct judgement *of);
