/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside probe: operations that come together in one question. A batch waits a moment for more of
 * them before it is sent, and goes on taking them as long as it waits for its slot.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reconciled/probe/engine.h"

struct asking;

/* It has not been sent and takes more operations. */
bool batch_is_open(const struct asking *asking);

void batch_start(struct probe_target *target, const struct probe_question *question,
		 struct probe_run *run);

/* How many operations of the policy may be started while so many questions may. */
int batch_room(const struct probe_target *target, const struct policy *policy, int free,
	       int64_t now_us);
