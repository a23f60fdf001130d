/* SPDX-License-Identifier: Apache-2.0
 *
 * Every family of metrics. Names are public: add, never rename.
 */
#include <string.h>

#include "reconciled/base/attributes.h"
#include "series.h"

const double family_probe_bounds[HISTOGRAM_BUCKETS] = {
	0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
};
/* 1 s … 1 min, 5 min, 15 min, 1 h, 4 h, 12 h, 1 d, 3 d, 7 d */
const double family_confirmation_bounds[HISTOGRAM_BUCKETS] = {
	1, 5, 15, 60, 300, 900, 3600, 14400, 43200, 86400, 259200, 604800,
};

static const char *
class_word(int number)
{
	return class_name((enum verdict_class)number);
}

static const char *
action_word(int number)
{
	return action_name((enum action)number);
}

static const char *
reason_word(int number)
{
	return reason_name((enum reason)number);
}

static bool
is_inconclusive(int number)
{
	return number >= REASON_TIMEOUT && number < REASON_COUNT;
}

static bool
is_requeued(int number)
{
	return number == REASON_ABSENT_CONFIRMED || number == REASON_JUDGED;
}

static bool
is_failure(int number)
{
	return reason_is_unavailable((enum reason)number);
}

#define CLASSES                                                                                    \
	.label = "class", .word = class_word, .words_first = CLASS_MISSING,                        \
	.words_count = CLASS_COUNT
#define ACTIONS .label = "action", .word = action_word, .words_count = ACTION_COUNT
#define REASONS(name, which)                                                                       \
	.label = (name), .word = reason_word, .words_count = REASON_COUNT, .always = (which)
#define NUMBER(kind_, slot_) .source = FROM_NUMBERS, .of = (kind_), .slot = (slot_)
#define TIMES(kind_, bounds_) .source = FROM_TIMES, .of = (kind_), .bounds = (bounds_)
#define DATABASE(kind_) .source = FROM_DATABASE, .of = (kind_)

/* clang-format off */
static const struct family table[] = {
	{ "reconciled_operations", "gauge", "Open operations.",
	  DATABASE(OF_TYPE), .label = "status" },
	{ "reconciled_oldest_due_age_seconds", "gauge", "For how long the operation that is due longest has been due.",
	  DATABASE(OF_TYPE) },
	{ "reconciled_oldest_open_age_seconds", "gauge", "Age of the oldest open operation.",
	  DATABASE(OF_TYPE), .label = "status" },
	{ "reconciled_overdue", "gauge", "Open operations past their deadline.",
	  DATABASE(OF_TYPE) },
	{ "reconciled_verdicts_total", "counter", "Recorded looks, by what they led to.",
	  NUMBER(OF_TYPE, TYPE_VERDICTS), CLASSES },
	{ "reconciled_actions_total", "counter", "Actions taken; wait: nothing changed.",
	  NUMBER(OF_TYPE, TYPE_ACTIONS), ACTIONS },
	{ "reconciled_stale_verdicts_total", "counter", "Verdicts dropped because the operation had changed meanwhile.",
	  NUMBER(OF_TYPE, TYPE_STALE) },
	{ "reconciled_held_total", "counter", "Actions not taken because a guard is tripped.",
	  NUMBER(OF_TYPE, TYPE_HELD) },
	{ "reconciled_requeues_total", "counter", "Operations handed back to their workers to be sent again.",
	  NUMBER(OF_TYPE, TYPE_REQUEUES), REASONS("reason", is_requeued) },
	{ "reconciled_worker_retries", "gauge", "Attempts after the first, of open operations, by who asked for them.",
	  DATABASE(OF_TYPE), .label = "cause" },
	{ "reconciled_not_picked_up", "gauge", "Operations that no worker took within the pickup window.",
	  DATABASE(OF_TYPE) },
	{ "reconciled_inconclusive_total", "counter", "Looks that are no evidence.",
	  NUMBER(OF_TYPE, TYPE_INCONCLUSIVE), REASONS("reason", is_inconclusive) },
	{ "reconciled_probe_seconds", "histogram", "How long a target took to answer.",
	  TIMES(OF_TARGET, family_probe_bounds) },
	{ "reconciled_probe_failures_total", "counter", "Questions to which no usable answer came.",
	  NUMBER(OF_TARGET, TARGET_FAILURES), REASONS("cause", is_failure) },
	{ "reconciled_confirmation_seconds", "histogram", "From the first send to the confirmation.",
	  TIMES(OF_TYPE, family_confirmation_bounds) },
	{ "reconciled_breaker_state", "gauge", "Circuit breaker: 0 closed, 1 half-open, 2 open.",
	  NUMBER(OF_TARGET, TARGET_BREAKER) },
	{ "reconciled_control_lost", "gauge", "1: the control object of the target was not found, no absence counts.",
	  NUMBER(OF_TARGET, TARGET_CONTROL) },
	{ "reconciled_guard_tripped", "gauge", "1: the guard of the type holds every action but confirm.",
	  NUMBER(OF_TYPE, TYPE_GUARD) },
	{ "reconciled_type_target", "gauge", "1: the target of the type, to join what is known of the two.",
	  .source = FROM_CONFIGURATION, .of = OF_TYPE, .label = "target" },
	{ "reconciled_rewind_guard_tripped", "gauge", "1: the database went back in time; every action but confirm is held.",
	  NUMBER(OF_PROCESS, PROCESS_REWIND) },
	{ "reconciled_paused", "gauge", "1: a person paused the type.",
	  NUMBER(OF_TYPE, TYPE_PAUSED) },
	{ "reconciled_last_pass_timestamp_seconds", "gauge", "When the last pass ended; 0: none did yet.",
	  NUMBER(OF_TYPE, TYPE_LAST_PASS), .unit = UNIT_MICROSECOND },
	{ "reconciled_outbox_oldest_age_seconds", "gauge", "Age of the oldest event that waits for delivery.",
	  DATABASE(OF_PROCESS) },
	{ "reconciled_outbox_parked", "gauge", "Events whose delivery was given up.",
	  DATABASE(OF_PROCESS) },
	{ "reconciled_idempotency_conflicts_total", "counter", "Keys used again for another payload.",
	  DATABASE(OF_PROCESS) },
	{ "reconciled_idempotency_pending", "gauge", "Idempotency keys whose outcome is not known.",
	  DATABASE(OF_PROCESS) },
	{ "reconciled_idempotency_pending_oldest_seconds", "gauge", "Age of the oldest of them.",
	  DATABASE(OF_PROCESS) },
	{ "reconciled_operations_without_policy", "gauge", "Due operations of types without a policy.",
	  DATABASE(OF_PROCESS) },
	{ "reconciled_config_reload_success", "gauge", "1: the configuration was loaded when it was read last.",
	  NUMBER(OF_PROCESS, PROCESS_RELOAD) },
	{ "reconciled_instances", "gauge", "Living instances that share the work, with this one.",
	  NUMBER(OF_PROCESS, PROCESS_INSTANCES) },
	{ "reconciled_isolated", "gauge", "1: all targets failed at once; the fault is taken to be on this side.",
	  NUMBER(OF_PROCESS, PROCESS_ISOLATED) },
	{ "reconciled_database_connected", "gauge", "1: this process has its connections to the database.",
	  NUMBER(OF_PROCESS, PROCESS_DATABASE) },
};
/* clang-format on */

const struct family *
families(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(table);
	return table;
}

const struct family *
family_of_database(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (table[i].source == FROM_DATABASE && strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}
