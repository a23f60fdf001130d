/* SPDX-License-Identifier: Apache-2.0
 *
 * An announcement is a hint and no send: start() and claim() still give the operation to one worker
 * only.
 */
#include "pickup.h"

#include <string.h>

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static bool
waits_for_worker(const struct operation *op)
{
	return (op->status == STATUS_PENDING || op->status == STATUS_RETRY_SCHEDULED) &&
	       *op->superseded_by == '\0' && !op->look_first;
}

/* What is seen of an operation that nobody has sent, or whose earlier attempts left nothing. */
static bool
is_to_be_sent(const struct operation *op, const struct verdict *verdict)
{
	bool unsent = op->first_sent_at_us == TIME_NONE;

	if (verdict->class == CLASS_WAITING)
		return strcmp(verdict->reason, reason_name(REASON_NEVER_SENT)) == 0;
	if (verdict->class == CLASS_DIVERGENT)
		return unsent && strcmp(verdict->reason, reason_name(REASON_OLDER)) == 0;
	return verdict->class == CLASS_MISSING;
}

/* TIME_NONE is less than every time. */
static int64_t
waits_since_us(const struct operation *op)
{
	int64_t ready_us =
		op->next_attempt_at_us != TIME_NONE ? op->next_attempt_at_us : op->created_at_us;

	return later(ready_us, op->announced_at_us);
}

int64_t
pickup_due_us(const struct policy *policy, const struct operation *op,
	      const struct verdict *verdict, const struct decide_context *context)
{
	if (context->observe || !policy->enforce || context->guarded || !waits_for_worker(op) ||
	    op->announcements >= policy->requeue_max || !is_to_be_sent(op, verdict))
		return TIME_NONE;
	return waits_since_us(op) + policy->pickup_window_us;
}

const char *
pickup_outbox_type(const struct operation *op)
{
	return op->status == STATUS_PENDING ? "operation.requested" : "operation.requeued";
}
