/* SPDX-License-Identifier: Apache-2.0
 *
 * Publishes the loaded policies in three steps that can be repeated: what the new ones set free
 * goes first, so that a crash between the steps leaves it to the next start.
 */
#include <string.h>

#include "db_send.h"
#include "reconciled/base/err.h"
#include "reconciled/base/log.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/core/policy.h"
#include "reconciled/store/work.h"

extern const struct sql_statement sql_move_windows, sql_publish_policies, sql_wake_observed;

struct publishing {
	struct db *db;
	const struct policy *policies;
	size_t count, step;
	store_done_fn *done;
	void *owner;
};

typedef void add_fn(struct params *params, const struct policy *policy);

struct column {
	enum element element;
	add_fn *add;
};

#define ADD(name, call)                                                                            \
	static void add_##name(struct params *params, const struct policy *policy)                 \
	{                                                                                          \
		call;                                                                              \
	}

/* A span that the policy does not give is 0 there and null here. */
static void
add_span(struct params *params, int64_t span_us)
{
	if (span_us > 0)
		params_add_int8(params, span_us);
	else
		params_add_null(params);
}

static const char *
stakes_name(enum stakes stakes)
{
	static const char *const names[] = {
		[STAKES_NORMAL] = "normal",
		[STAKES_MONEY] = "money",
		[STAKES_IRREVERSIBLE] = "irreversible",
	};

	return names[stakes];
}

/* Without an order no version supersedes another. */
static const char *
version_order(const struct policy *policy)
{
	static const char *const names[] = {
		[VERSION_INTEGER] = "integer",
		[VERSION_TIME] = "time",
		[VERSION_DOTTED] = "dotted",
		[VERSION_OPAQUE] = "opaque",
	};

	return names[policy->version_order_known ? policy->version_order : VERSION_OPAQUE];
}

ADD(operation_type, params_add_text(params, policy->operation_type))
ADD(target, params_add_text(params, policy->target))
ADD(digest, params_add_text(params, policy->digest))
ADD(text, params_add_text(params, policy->text))
ADD(mode, params_add_text(params, policy->enforce ? "enforce" : "observe"))
ADD(stakes, params_add_text(params, stakes_name(policy->stakes)))
ADD(approvals, params_add_int4(params, policy->approvals))
ADD(latency_window, params_add_int8(params, policy->latency_window_us))
ADD(deadline, add_span(params, policy->deadline_us))
ADD(pickup_window, add_span(params, policy->pickup_window_us))
ADD(attempts_max, params_add_int4(params, policy->attempts_max))
ADD(attempts_delay, params_add_int8(params, policy->attempts.first_us))
ADD(attempts_factor, params_add_text(params, policy->attempts.factor))
ADD(requeue_max, params_add_int4(params, policy->requeue_max))
ADD(key_valid, add_span(params, policy->key_valid_us))
ADD(version_order, params_add_text(params, version_order(policy)))
ADD(guard_window, params_add_int8(params, policy->guard.window_us))
ADD(guard_max, params_add_int4(params, policy->guard.max))
ADD(guard_share, params_add_int4(params, policy->guard.share_percent))
ADD(guard_sample, params_add_int4(params, policy->guard.sample))

static const struct column wake_columns[] = { { ELEMENT_TEXT, add_operation_type } };

static const struct column move_columns[] = {
	{ ELEMENT_TEXT, add_operation_type },
	{ ELEMENT_INT8, add_latency_window },
};

static const struct column publish_columns[] = {
	{ ELEMENT_TEXT, add_operation_type },
	{ ELEMENT_TEXT, add_target },
	{ ELEMENT_TEXT, add_digest },
	{ ELEMENT_TEXT, add_text },
	{ ELEMENT_TEXT, add_mode },
	{ ELEMENT_TEXT, add_stakes },
	{ ELEMENT_INT4, add_approvals },
	{ ELEMENT_INT8, add_latency_window },
	{ ELEMENT_INT8, add_deadline },
	{ ELEMENT_INT8, add_pickup_window },
	{ ELEMENT_INT4, add_attempts_max },
	{ ELEMENT_INT8, add_attempts_delay },
	{ ELEMENT_TEXT, add_attempts_factor },
	{ ELEMENT_INT4, add_requeue_max },
	{ ELEMENT_INT8, add_key_valid },
	{ ELEMENT_TEXT, add_version_order },
	{ ELEMENT_INT8, add_guard_window },
	{ ELEMENT_INT4, add_guard_max },
	{ ELEMENT_INT4, add_guard_share },
	{ ELEMENT_INT4, add_guard_sample },
};

static const struct step {
	const struct sql_statement *statement;
	const struct column *columns;
	size_t columns_count;
	bool enforced_only;
	bool repeat; /* until it finds nothing more */
} steps[] = {
	{ &sql_wake_observed, wake_columns, ARRAY_LEN(wake_columns), true, true },
	{ &sql_move_windows, move_columns, ARRAY_LEN(move_columns), false, true },
	{ &sql_publish_policies, publish_columns, ARRAY_LEN(publish_columns), false, false },
};

static bool
takes(const struct step *step, const struct policy *policy)
{
	return policy->enforce || !step->enforced_only;
}

static void
encode(struct params *params, const struct publishing *publishing)
{
	const struct step *step = &steps[publishing->step];
	size_t count = 0;

	for (size_t i = 0; i < publishing->count; i++)
		count += takes(step, &publishing->policies[i]);
	for (size_t c = 0; c < step->columns_count; c++) {
		params_array_begin(params, step->columns[c].element, count);
		for (size_t i = 0; i < publishing->count; i++)
			if (takes(step, &publishing->policies[i]))
				step->columns[c].add(params, &publishing->policies[i]);
		params_array_end(params);
	}
}

static void on_step(void *context, PGresult *got, const struct err *err);

static void
send_step(const struct publishing *publishing)
{
	struct publishing *context = xcalloc(1, sizeof(*context));
	struct params params = { 0 };

	*context = *publishing;
	encode(&params, publishing);
	db_send(publishing->db,
		&(struct db_query){ .statement = steps[publishing->step].statement,
				    .params = &params },
		on_step, context);
}

static bool
found_some(const PGresult *result)
{
	static const char none[8];

	return memcmp(PQgetvalue(result, 0, 0), none, sizeof(none)) != 0;
}

/*
 * A step that may be repeated is given up when somebody holds a row of it: those that were not woken
 * are woken by the next start, and a due time of the old window only costs a look too many.
 */
static bool
may_go_on(const struct step *step, const struct err *err)
{
	if (!err)
		return true;
	if (!step->repeat || err->code != ERR_BUSY)
		return false;
	log_warning("not all due times were moved, rows are locked",
		    F_STR("statement", step->statement->name));
	return true;
}

static bool
is_step_over(const struct step *step, const PGresult *result)
{
	return !result || !step->repeat || !found_some(result);
}

static void
on_step(void *context, PGresult *got, const struct err *err)
{
	CLEANUP(pgresult_clear_at) PGresult *result = got;
	struct publishing publishing = *(const struct publishing *)context;
	const struct step *step = &steps[publishing.step];

	if (!may_go_on(step, err)) {
		publishing.done(publishing.owner, err);
		return;
	}
	if (is_step_over(step, result))
		publishing.step++;
	if (publishing.step == ARRAY_LEN(steps))
		publishing.done(publishing.owner, NULL);
	else
		send_step(&publishing);
}

void
store_publish_policies(struct db *db, const struct policy *policies, size_t count,
		       store_done_fn *done, void *owner)
{
	send_step(&(struct publishing){
		.db = db,
		.policies = policies,
		.count = count,
		.done = done,
		.owner = owner,
	});
}
