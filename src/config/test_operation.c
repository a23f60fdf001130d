/* SPDX-License-Identifier: Apache-2.0
 *
 * The operation of a case. What it does not say is as in a row that was requested with nothing but
 * that, and sent once.
 */
#include "test_file.h"

#include <string.h>

#include "json_scalar.h"
#include "loading.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/core/time.h"
#include "tree.h"

static void
decode_text(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	if (node->kind == NODE_TEXT)
		*(const char **)at = node->text;
	else if (node->kind != NODE_NULL)
		complain_found(loading, node, "a text, or null");
}

void
moment_decode(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct moment moment;

	if (node->kind == NODE_NULL)
		*(int64_t *)at = TIME_NONE;
	else if (node->kind == NODE_TEXT &&
		 time_read(node->text, strlen(node->text), NULL, &moment))
		*(int64_t *)at = moment_us(&moment);
	else
		complain_found(loading, node, "a time like 2026-03-01T12:00:00Z");
}

/* Depth is bounded by that of the tree. */
static struct value *
value_of(struct loading *loading, const struct node *node)
{
	struct value *value;

	if (node->kind == NODE_NULL)
		return value_create(loading->arena, VALUE_NULL, NULL, 0);
	if (node->kind == NODE_TEXT)
		return value_create(loading->arena, json_scalar_kind(node), node->text,
				    strlen(node->text));
	value = value_create(loading->arena, node->kind == NODE_MAP ? VALUE_OBJECT : VALUE_LIST,
			     NULL, 0);
	for (const struct node *child = node->first; child; child = child->next) {
		bool named = node->kind == NODE_MAP;

		value_append(loading->arena, value, named ? child->key : NULL,
			     named ? strlen(child->key) : 0, value_of(loading, child));
	}
	return value;
}

static void
decode_expected(struct loading *loading, const struct node *node, void *at,
		const struct field *field)
{
	if (node->kind == NODE_MAP)
		*(const struct value **)at = value_of(loading, node);
	else
		complain_found(loading, node, "a mapping of what is expected");
}

static const struct word status_list[] = {
	{ "pending", .value = STATUS_PENDING },
	{ "processing", .value = STATUS_PROCESSING },
	{ "awaiting_confirmation", .value = STATUS_AWAITING_CONFIRMATION },
	{ "retry_scheduled", .value = STATUS_RETRY_SCHEDULED },
	{ "manual_review", .value = STATUS_MANUAL_REVIEW },
	{ "compensating", .value = STATUS_COMPENSATING },
	{ "confirmed", .value = STATUS_CONFIRMED },
	{ "compensated", .value = STATUS_COMPENSATED },
	{ "not_applicable", .value = STATUS_NOT_APPLICABLE },
};
WORDS(status_words, status_list);

static const struct shape text_shape = {
	.kind = SHAPE_EITHER,
	.either =
		(const struct shape *const[]){ &(const struct shape){ .kind = SHAPE_SCALAR },
					       &(const struct shape){ .kind = SHAPE_NULL }, NULL },
};
static const struct shape expected_shape = {
	.kind = SHAPE_MAP,
	.of = &(const struct shape){ .kind = SHAPE_ANY },
};

#define OP(field) offsetof(struct operation, field)
#define OP_TEXT(field) OP(field), OWN(decode_text), .shape = &text_shape
#define OP_TIME(field) OP(field), OWN(moment_decode), .shape = &text_shape

static const struct field operation_fields[] = {
	{ "operation_id", OP_TEXT(operation_id), .help = "Its own reference." },
	{ "operation_type", OP_TEXT(operation_type), .help = "That of the policy." },
	{ "scope", OP_TEXT(scope), .help = "Tenant or actor." },
	{ "entity_type", OP_TEXT(entity_type), .help = "What kind of thing is affected." },
	{ "entity_id", OP_TEXT(entity_id), .help = "Which one." },
	{ "entity_state", OP_TEXT(entity_state), .help = "What we know of it (active)." },
	{ "version", OP_TEXT(version), .help = "Expected version." },
	{ "idempotency_key", OP_TEXT(idempotency_key), .help = "Key that goes to the target." },
	{ "business_key", OP_TEXT(business_key), .help = "Reference of the business." },
	{ "remote_id", OP_TEXT(remote_id), .help = "Id at the target." },
	{ "correlation_id", OP_TEXT(correlation_id), .help = "Accompanies logs." },
	{ "expected", OP(expected), OWN(decode_expected), .shape = &expected_shape,
	  .help = "The observable result, field by field." },
	{ "status", OP(status), WORD(status_words, STATUS_COUNT),
	  .help = "Before the first look." },
	{ "created_at", OP_TIME(created_at_us), .help = "When it was requested." },
	{ "first_sent_at", OP_TIME(first_sent_at_us), .help = "First send; null: never." },
	{ "sent_at", OP_TIME(sent_at_us), .help = "Last send." },
	{ "attempt_until", OP_TIME(attempt_until_us), .help = "A living attempt holds it." },
	{ "superseded_by", OP_TEXT(superseded_by), .help = "A newer operation." },
	{ "compensates", OP_TEXT(compensates), .help = "What it reverses." },
	{ "attempts", OP(attempts), COUNT(0, 1000000, FIELD_UNSET),
	  .help = "Tries of the workers." },
	{ "requeues", OP(requeues), COUNT(0, 1000000, 0), .help = "Times it was sent again." },
};
const struct table test_operation_table = { operation_fields, ARRAY_LEN(operation_fields) };

void
test_operation_init(struct loading *loading, struct operation *op)
{
	*op = (struct operation){
		.operation_id = "",
		.operation_type = "",
		.scope = "",
		.entity_type = "",
		.entity_id = "",
		.entity_state = "active",
		.version = "",
		.idempotency_key = "",
		.business_key = "",
		.remote_id = "",
		.correlation_id = "",
		.superseded_by = "",
		.compensates = "",
		.expected = value_create(loading->arena, VALUE_OBJECT, NULL, 0),
		.created_at_us = TIME_UNSET,
		.first_sent_at_us = TIME_UNSET,
		.sent_at_us = TIME_UNSET,
		.attempt_until_us = TIME_NONE,
		.next_attempt_at_us = TIME_NONE,
		.announced_at_us = TIME_NONE,
		.due_at_us = TIME_NONE,
		.earned.since_us = TIME_NONE,
		.reason = "",
		.recommended_action = "",
		.evidence_digest = "",
	};
}

void
test_operation_decode(struct loading *loading, const struct node *node, void *at,
		      const struct field *field)
{
	fields_decode(loading, node, &test_operation_table, at);
}

static enum status
status_of(const struct operation *op)
{
	if (op->first_sent_at_us == TIME_NONE)
		return STATUS_PENDING;
	return op->sent_at_us == TIME_NONE ? STATUS_PROCESSING : STATUS_AWAITING_CONFIRMATION;
}

void
test_operation_settle(struct operation *op, const char *operation_type, int64_t sent_us)
{
	if (op->operation_type[0] == '\0')
		op->operation_type = operation_type;
	if (op->sent_at_us == TIME_UNSET)
		op->sent_at_us = op->first_sent_at_us == TIME_NONE ? TIME_NONE : sent_us;
	if (op->first_sent_at_us == TIME_UNSET)
		op->first_sent_at_us = op->sent_at_us == TIME_NONE ? sent_us : op->sent_at_us;
	if (op->created_at_us == TIME_UNSET)
		op->created_at_us =
			op->first_sent_at_us == TIME_NONE ? sent_us : op->first_sent_at_us;
	if (op->status == STATUS_COUNT)
		op->status = status_of(op);
	if (op->attempts == FIELD_UNSET)
		op->attempts = op->first_sent_at_us == TIME_NONE ? 0 : 1;
}
