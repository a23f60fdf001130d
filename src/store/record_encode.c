/* SPDX-License-Identifier: Apache-2.0
 *
 * From rows to one binary array for each column, in the order of record.sql.
 */
#include "record_encode.h"
#include "params.h"
#include "reconciled/base/attributes.h"
#include "reconciled/store/record.h"

typedef void add_fn(struct params *params, const struct record_row *row);

#define ADD(name, call)                                                                            \
	static void add_##name(struct params *params, const struct record_row *row)                \
	{                                                                                          \
		call;                                                                              \
	}

static void
add_class_name(struct params *params, enum verdict_class class)
{
	params_add_text(params, class == CLASS_NONE ? NULL : class_name(class));
}

static void
add_due_in(struct params *params, const struct record_row *row)
{
	if (row->due)
		params_add_int8(params, row->due_in_us);
	else
		params_add_null(params);
}

ADD(operation_id, params_add_text(params, row->operation_id))
ADD(revision, params_add_int8(params, row->revision))
ADD(checks, params_add_int4(params, row->checks))
ADD(changed, params_add_bool(params, row->changed))
ADD(from, params_add_text(params, status_name(row->from)))
ADD(to, params_add_text(params, status_name(row->to)))
ADD(class, add_class_name(params, row->class))
ADD(reason, params_add_text(params, row->reason))
ADD(recommended_action, params_add_text(params, row->recommended_action))
ADD(closed_reason, params_add_text(params, row->closed_reason))
ADD(remote_id, params_add_text(params, row->remote_id))
ADD(earning, add_class_name(params, row->earned.class))
ADD(absences, params_add_int4(params, row->earned.looks))
ADD(absent_since, params_add_time(params, row->earned.since_us))
ADD(inconclusive, params_add_int4(params, row->earned.inconclusive))
ADD(disputed, params_add_bool(params, row->disputed))
ADD(event, params_add_text(params, row->event))
ADD(action, params_add_text(params, row->action))
ADD(rule, params_add_text(params, row->rule))
ADD(evidence, params_add_text(params, row->evidence))
ADD(evidence_digest, params_add_bytes_from_hex(params, row->evidence_digest))
ADD(policy, params_add_text(params, row->policy_digest))
ADD(journal_class, add_class_name(params, row->journal_class))
ADD(journal_reason, params_add_text(params, row->journal_reason))
ADD(event_type, params_add_text(params, row->outbox_type))
ADD(tally_class, add_class_name(params, row->tally_class))
ADD(due_was, params_add_time(params, row->due_was_us))
ADD(operation_type, params_add_text(params, row->operation_type))
ADD(guarded, params_add_bool(params, row->guarded))
ADD(not_after,
    params_add_time(params, row->carry_out_until_us == 0 ? TIME_NONE : row->carry_out_until_us))
ADD(requeue, params_add_bool(params, row->requeue))
ADD(next_attempt_in, params_add_int8(params, row->next_attempt_in_us))
ADD(postponed, params_add_int4(params, row->postponed))
ADD(announces, params_add_bool(params, row->announces))
ADD(tally_action, params_add_text(params, action_name(row->tally_action)))

static const struct {
	enum element element;
	add_fn *add;
} columns[] = {
	{ ELEMENT_TEXT, add_operation_id },
	{ ELEMENT_INT8, add_revision },
	{ ELEMENT_INT4, add_checks },
	{ ELEMENT_BOOL, add_changed },
	{ ELEMENT_TEXT, add_from },
	{ ELEMENT_TEXT, add_to },
	{ ELEMENT_TEXT, add_class },
	{ ELEMENT_TEXT, add_reason },
	{ ELEMENT_TEXT, add_recommended_action },
	{ ELEMENT_TEXT, add_closed_reason },
	{ ELEMENT_TEXT, add_remote_id },
	{ ELEMENT_TEXT, add_earning },
	{ ELEMENT_INT4, add_absences },
	{ ELEMENT_TIME, add_absent_since },
	{ ELEMENT_INT4, add_inconclusive },
	{ ELEMENT_BOOL, add_disputed },
	{ ELEMENT_INT8, add_due_in },
	{ ELEMENT_TEXT, add_event },
	{ ELEMENT_TEXT, add_action },
	{ ELEMENT_TEXT, add_rule },
	{ ELEMENT_TEXT, add_evidence },
	{ ELEMENT_BYTEA, add_evidence_digest },
	{ ELEMENT_TEXT, add_policy },
	{ ELEMENT_TEXT, add_journal_class },
	{ ELEMENT_TEXT, add_journal_reason },
	{ ELEMENT_TEXT, add_event_type },
	{ ELEMENT_TEXT, add_tally_class },
	{ ELEMENT_TEXT, add_tally_action },
	{ ELEMENT_TIME, add_due_was },
	{ ELEMENT_TEXT, add_operation_type },
	{ ELEMENT_BOOL, add_guarded },
	{ ELEMENT_TIME, add_not_after },
	{ ELEMENT_BOOL, add_requeue },
	{ ELEMENT_INT8, add_next_attempt_in },
	{ ELEMENT_INT4, add_postponed },
	{ ELEMENT_BOOL, add_announces },
};

void
record_encode(struct params *params, const struct record_batch *batch, const size_t *order)
{
	params_text(params, batch->actor);
	params_text(params, batch->instance_id);
	for (size_t c = 0; c < ARRAY_LEN(columns); c++) {
		params_array_begin(params, columns[c].element, batch->count);
		for (size_t i = 0; i < batch->count; i++)
			columns[c].add(params, &batch->rows[order[i]]);
		params_array_end(params);
	}
}
