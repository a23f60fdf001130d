/* SPDX-License-Identifier: Apache-2.0
 *
 * One line for each changed status; confirmations, which are most of them, only for who wants every
 * detail. Names and reasons, never values.
 */
#include "reconciled/base/log.h"
#include "reconciled/core/lifecycle.h"
#include "reconciled/reconcile/pass.h"

#include "outcomes.h"

static void
write_line(enum log_level level, const char *message, const struct pass_outcome *outcome)
{
	log_at(level, message, F_STR("operation_id", outcome->operation_id),
	       F_STR("operation_type", outcome->policy->operation_type),
	       F_STR("status", status_name(outcome->status)),
	       F_STR("target", outcome->policy->target), F_STR("class", class_name(outcome->class)),
	       F_STR("reason", outcome->reason ? outcome->reason : ""),
	       F_STR("rule", outcome->rule ? outcome->rule : ""),
	       F_STR("action", action_name(outcome->action)), F_INT("revision", outcome->revision));
}

void
outcome_log(const struct pass_outcome *outcome)
{
	if (outcome->refused)
		write_line(LOG_LEVEL_WARNING, "the database refuses to store a verdict", outcome);
	else if (outcome->stale)
		write_line(LOG_LEVEL_DEBUG, "verdict dropped, the operation has changed", outcome);
	else if (outcome->held)
		write_line(LOG_LEVEL_DEBUG, "action held back by a guard", outcome);
	else if (outcome->observed || outcome->status == outcome->before)
		write_line(LOG_LEVEL_DEBUG, "operation looked at", outcome);
	else if (outcome->action == ACTION_CONFIRM)
		write_line(LOG_LEVEL_DEBUG, "operation confirmed", outcome);
	else
		write_line(LOG_LEVEL_INFO, "operation changed", outcome);
}
