/* SPDX-License-Identifier: Apache-2.0
 *
 * One line for each changed status; confirmations, which are most of them, only for who wants every
 * detail. Names and reasons, never values.
 */
#include "reconciled/base/log.h"
#include "reconciled/core/lifecycle.h"
#include "reconciled/reconcile/pass.h"
#include "reconciled/web/metrics.h"

#include "outcomes.h"

static void
write_line(enum log_level level, const char *message, const struct pass_outcome *outcome)
{
	log_at(level, message, F_STR("operation_id", outcome->operation_id),
	       F_STR("operation_type", outcome->policy->operation_type),
	       F_STR("scope", outcome->scope), F_STR("remote_id", outcome->remote_id),
	       F_STR("correlation_id", outcome->correlation_id),
	       F_STR("status", status_name(outcome->status)),
	       F_STR("target", outcome->policy->target), F_STR("class", class_name(outcome->class)),
	       F_STR("reason", outcome->reason), F_STR("rule", outcome->rule),
	       F_STR("action", action_name(outcome->action)), F_INT("revision", outcome->revision));
}

/* What became of an operation that is not confirmed. */
static const char *const changes[] = {
	[ACTION_CONFIRM] = "operation confirmed",
	[ACTION_REQUEUE] = "operation handed back to its workers",
	[ACTION_COMPENSATE] = "operation is compensated",
	[ACTION_REVIEW] = "operation needs a person",
	[ACTION_CLOSE] = "operation closed",
	[ACTION_WAIT] = "operation changed",
};

void
outcome_log(const struct pass_outcome *outcome)
{
	if (outcome->refused)
		write_line(LOG_LEVEL_DEBUG, "verdict refused by the database", outcome);
	else if (outcome->stale)
		write_line(LOG_LEVEL_DEBUG, "verdict dropped, the operation has changed", outcome);
	else if (outcome->held)
		write_line(LOG_LEVEL_DEBUG, "action held back by a guard", outcome);
	else if (outcome->observed || outcome->status == outcome->before)
		write_line(LOG_LEVEL_DEBUG, "operation looked at", outcome);
	else
		write_line(outcome->action == ACTION_CONFIRM ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO,
			   changes[outcome->action], outcome);
}

/* What did not change is looked at again and again: only the first of the same actions counts. */
static void
count_action(const struct pass_outcome *outcome, struct metrics *metrics)
{
	const char *type = outcome->policy->operation_type;
	bool changed = outcome->status != outcome->before;

	metrics_count_action(metrics, type, changed ? outcome->action : ACTION_WAIT);
	if (changed && outcome->action == ACTION_REQUEUE)
		metrics_count_requeue(metrics, type, outcome->reason);
	if (changed && outcome->status == STATUS_CONFIRMED &&
	    outcome->since_first_send_us != TIME_NONE)
		metrics_count_confirmation(metrics, type, outcome->since_first_send_us);
}

void
outcome_count(const struct pass_outcome *outcome, struct metrics *metrics)
{
	const char *type = outcome->policy->operation_type;

	if (outcome->stale)
		metrics_count_stale(metrics, type);
	if (outcome->held)
		metrics_count_held(metrics, type);
	if (outcome->stale || outcome->held || outcome->refused)
		return;
	metrics_count_verdict(metrics, type, outcome->class);
	if (outcome->class == CLASS_INCONCLUSIVE)
		metrics_count_inconclusive(metrics, type, outcome->reason);
	if (!outcome->observed)
		count_action(outcome, metrics);
}
