/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that wait for a worker and that no worker takes. Private to core.
 */
#pragma once

#include "reconciled/core/decide.h"

/*
 * From when on the operation is announced again (database clock, microseconds); TIME_NONE: never.
 * Only what a worker may take is announced, only on a look that says that it still has to be sent,
 * at most requeue.max times, and not while a guard is tripped.
 */
int64_t pickup_due_us(const struct policy *policy, const struct operation *op,
		      const struct verdict *verdict, const struct decide_context *context);

/* The event that announces it: that of the change after which it began to wait. */
const char *pickup_outbox_type(const struct operation *op);
