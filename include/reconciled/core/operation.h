/* SPDX-License-Identifier: Apache-2.0
 *
 * One intended effect at one target, as selected from the database. Texts are never NULL: what is
 * missing is "". Times are microseconds since the epoch by the database's clock, or TIME_NONE.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/core/lifecycle.h"
#include "reconciled/core/verdict.h"

struct value;

#define TIME_NONE INT64_MIN

/* Evidence earned over several looks: for absence, and for a verdict that only a stale source gave.
 */
struct earned {
	/* Whose run is counted. MISSING: absences. WAITING: looks that are missing by `outcome`,
	 * kept apart so that an old version that was seen never adds to an absence. DIVERGENT,
	 * AMBIGUOUS: the same verdict by a source that may be behind. NONE: nothing is. */
	enum verdict_class class;
	int looks;	  /* counted looks in an unbroken run */
	int64_t since_us; /* the first of them, TIME_NONE without */
	int inconclusive; /* answers in a row that helped nobody */
};

struct operation {
	const char *operation_id, *operation_type, *scope;
	const char *entity_type, *entity_id, *entity_state, *version;
	const char *idempotency_key, *business_key, *remote_id, *correlation_id;
	const char *superseded_by, *compensates;
	const struct value *expected; /* object; NULL when the stored text is unreadable */
	enum status status;
	int64_t revision;
	int attempts, requeues, checks;
	int64_t created_at_us, first_sent_at_us, sent_at_us, attempt_until_us, due_at_us;
	int64_t next_attempt_at_us; /* of workers */
	int64_t announced_at_us;    /* again, because no worker had taken it */
	int announcements;
	struct earned earned;
	bool disputed;
	int postponed; /* times in a row that a correction came too late to be carried out */
	int suspect;   /* times it was in flight when an instance died, since the last look */
	/* Sent, perhaps, in a history that the database has lost: not handed out before a look. */
	bool look_first;
	/* the verdict that the row carries */
	enum verdict_class class;
	const char *reason;
	const char *recommended_action;
	const char *evidence_digest; /* hex SHA-256 of what the last journalled look saw, or "" */
};

/* What policies may name as op.FIELD and {field}. */
enum operation_field {
	OP_OPERATION_ID,
	OP_OPERATION_TYPE,
	OP_SCOPE,
	OP_ENTITY_TYPE,
	OP_ENTITY_ID,
	OP_ENTITY_STATE,
	OP_VERSION,
	OP_IDEMPOTENCY_KEY,
	OP_BUSINESS_KEY,
	OP_REMOTE_ID,
	OP_CORRELATION_ID,
	OP_SUPERSEDED_BY,
	OP_COMPENSATES,
	OP_STATUS,
	OP_EXPECTED,
	OP_CREATED_AT,
	OP_FIRST_SENT_AT,
	OP_SENT_AT,
	OP_FIELD_COUNT,
};

const char *operation_field_name(enum operation_field field);
bool operation_field_from_name(const char *name, size_t len, enum operation_field *ret_field);
bool operation_field_is_time(enum operation_field field);

/* The text of a field that is text; NULL when empty, and for times and expected. */
const char *operation_text(const struct operation *op, enum operation_field field);

/* Sets a field that is text; false for another one. The text is borrowed. */
bool operation_set_text(struct operation *op, enum operation_field field, const char *text);

/* TIME_NONE when unset or when the field is no time. */
int64_t operation_time(const struct operation *op, enum operation_field field);

/* The field has a value, whatever kind it is; of `expected`, a member. */
bool operation_has(const struct operation *op, enum operation_field field);

/* When the effect was last under way, as far as we know: the greater of sent_at and attempt_until; TIME_NONE:
 * never. */
int64_t operation_last_send(const struct operation *op);
