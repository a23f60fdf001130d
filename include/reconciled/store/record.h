/* SPDX-License-Identifier: Apache-2.0
 *
 * Records a batch of verdicts: operations, journal, events and counts in one statement. Error codes
 * as in work.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/core/decide.h"

struct db;
struct err;

/* One verdict to be written. All texts are borrowed until done. NULL is SQL null. */
struct record_row {
	const char *operation_id, *operation_type;
	int64_t revision; /* as selected */
	int checks;	  /* as selected */
	enum status from, to;
	bool changed;		  /* false: counters and due_at only, no revision, no journal row */
	enum verdict_class class; /* what the row carries afterwards; CLASS_NONE is null */
	const char *reason, *recommended_action, *closed_reason, *remote_id;
	struct earned earned;
	bool disputed;
	int64_t due_was_us; /* as selected; who moved it meanwhile wants another look: kept then */
	bool due;
	int64_t due_in_us;
	const char *event, *action, *rule, *evidence, *evidence_digest, *policy_digest;
	enum verdict_class journal_class; /* of this look, also waiting and inconclusive */
	const char *journal_reason;
	const char *outbox_type; /* NULL: no event */
	enum verdict_class tally_class;
	enum action tally_action;
	bool requeue;		    /* counts up requeues, ends the attempt, sets next_attempt_at */
	int64_t next_attempt_in_us; /* with requeue */
	bool guarded;		    /* draws on the guard of its type */
	int64_t carry_out_until_us; /* database clock; later it is LATE; 0, TIME_NONE: no limit */
	int postponed;
	bool announces; /* counts up announcements */
};

/*
 * STALE: somebody changed the operation, its type is paused, or it was judged by another policy
 * than the one that is published now (only confirmations count then).
 * HELD: a guard is tripped, or was by this batch. LATE: the answer is too old to act on it.
 * Of HELD and LATE rows nothing was written.
 */
enum record_outcome { RECORD_STALE, RECORD_DONE, RECORD_HELD, RECORD_LATE };

struct record_result {
	enum record_outcome outcome;
	int64_t revision; /* after */
};

/* results[i] belongs to rows[i]; valid until the callback returns. With err nothing was written,
 * or (TRANSIENT while committing) it is unknown whether it was. */
typedef void store_recorded_fn(void *owner, const struct record_result *results,
			       const struct err *err);

/* One statement, all or none. actor: "reconciled:NAME". Rows are sorted by id inside. */
struct record_batch {
	const char *actor, *instance_id;
	const struct record_row *rows;
	size_t count;
};
void store_record(struct db *db, const struct record_batch *batch, store_recorded_fn *done,
		  void *owner);

/* Settles the records of the idempotency store that are linked to these operations, if they are
 * final by now. Not answered: what fails is settled by the next caller of reserve(). */
void store_settle(struct db *db, const char *const *operation_ids, size_t count);
