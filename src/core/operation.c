/* SPDX-License-Identifier: Apache-2.0
 *
 * The fields of an operation that policies may name.
 */
#include "reconciled/core/operation.h"

#include <string.h>

#include "reconciled/core/value.h"

enum field_kind { FIELD_TEXT, FIELD_TIME, FIELD_STATUS, FIELD_EXPECTED };

#define TEXT(field)                                                                                \
	{                                                                                          \
#field, FIELD_TEXT, offsetof(struct operation, field)                              \
	}
#define TIME(field)                                                                                \
	{                                                                                          \
#field, FIELD_TIME, offsetof(struct operation, field##_us)                         \
	}

static const struct {
	const char *name;
	enum field_kind kind;
	size_t offset;
} fields[OP_FIELD_COUNT] = {
	[OP_OPERATION_ID] = TEXT(operation_id),
	[OP_OPERATION_TYPE] = TEXT(operation_type),
	[OP_SCOPE] = TEXT(scope),
	[OP_ENTITY_TYPE] = TEXT(entity_type),
	[OP_ENTITY_ID] = TEXT(entity_id),
	[OP_ENTITY_STATE] = TEXT(entity_state),
	[OP_VERSION] = TEXT(version),
	[OP_IDEMPOTENCY_KEY] = TEXT(idempotency_key),
	[OP_BUSINESS_KEY] = TEXT(business_key),
	[OP_REMOTE_ID] = TEXT(remote_id),
	[OP_CORRELATION_ID] = TEXT(correlation_id),
	[OP_SUPERSEDED_BY] = TEXT(superseded_by),
	[OP_COMPENSATES] = TEXT(compensates),
	[OP_STATUS] = { "status", FIELD_STATUS, offsetof(struct operation, status) },
	[OP_EXPECTED] = { "expected", FIELD_EXPECTED, offsetof(struct operation, expected) },
	[OP_CREATED_AT] = TIME(created_at),
	[OP_FIRST_SENT_AT] = TIME(first_sent_at),
	[OP_SENT_AT] = TIME(sent_at),
};

const char *
operation_field_name(enum operation_field field)
{
	return fields[field].name;
}

bool
operation_field_from_name(const char *name, size_t len, enum operation_field *ret_field)
{
	for (size_t i = 0; i < OP_FIELD_COUNT; i++)
		if (strlen(fields[i].name) == len && memcmp(fields[i].name, name, len) == 0) {
			*ret_field = (enum operation_field)i;
			return true;
		}
	return false;
}

bool
operation_field_is_time(enum operation_field field)
{
	return fields[field].kind == FIELD_TIME;
}

const char *
operation_text(const struct operation *op, enum operation_field field)
{
	const char *const *text;

	if (fields[field].kind == FIELD_STATUS)
		return status_name(op->status);
	if (fields[field].kind != FIELD_TEXT)
		return NULL;
	text = (const void *)((const char *)op + fields[field].offset);
	return *text != NULL && **text != '\0' ? *text : NULL;
}

bool
operation_set_text(struct operation *op, enum operation_field field, const char *text)
{
	if (fields[field].kind != FIELD_TEXT)
		return false;
	memcpy((char *)op + fields[field].offset, &text, sizeof(text));
	return true;
}

int64_t
operation_time(const struct operation *op, enum operation_field field)
{
	int64_t us = TIME_NONE;

	if (operation_field_is_time(field))
		memcpy(&us, (const char *)op + fields[field].offset, sizeof(us));
	return us;
}

bool
operation_has(const struct operation *op, enum operation_field field)
{
	if (field == OP_EXPECTED)
		return op->expected != NULL && op->expected->count > 0;
	return operation_text(op, field) != NULL || operation_time(op, field) != TIME_NONE;
}

int64_t
operation_last_send(const struct operation *op)
{
	/* TIME_NONE is the smallest of all times. */
	return op->sent_at_us > op->attempt_until_us ? op->sent_at_us : op->attempt_until_us;
}
