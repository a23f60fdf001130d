/* SPDX-License-Identifier: Apache-2.0
 *
 * The daemon's statements: check the schema, publish the loaded policies, take due operations,
 * record verdicts. One domain step is one statement. Error codes: TRANSIENT the connection failed
 * or the server is going away; BUSY a lock was not to be had (lock timeout, deadlock,
 * serialization); INVALID the server refuses the data; FATAL anything else (missing schema, missing
 * right).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/core/decide.h"

struct arena;
struct db;
struct err;

/* err NULL: done. */
typedef void store_done_fn(void *owner, const struct err *err);

/* FATAL names the command that mends it: schema missing or older (reconciled --migrate), or newer
 * than ours. */
void store_check_schema(struct db *db, store_done_fn *done, void *owner);

/* Writes the loaded policies to operation_types and policies; makes observed ones due that are
 * enforced now. */
void store_publish_policies(struct db *db, const struct policy *policies, size_t count,
			    store_done_fn *done, void *owner);

/* Due operations as they were selected. */
struct due_rows;

/* Keyset: strictly after (after_due_us, after_id); the first page has after_due_us TIME_NONE. */
struct due_request {
	const char *operation_type;   /* NULL with suspects: of every type in suspect_types */
	int share_index, share_count; /* count 1: everything */
	bool leave_suspects;	      /* only rows without suspicion */
	/* What is in flight is noted with the page in one statement: these ids and those of the
	 * page. NULL: not noted. */
	const char *note_instance_id;
	const char *const *in_flight;
	size_t in_flight_count;
	int64_t until_us; /* due_at at most this; TIME_NONE: the database's clock now */
	int64_t after_due_us;
	const char *after_id;
	int limit;
};

typedef void store_due_fn(void *owner, struct due_rows *rows,
			  const struct err *err); /* rows are the owner's */
void store_fetch_due(struct db *db, const struct due_request *request, store_due_fn *done,
		     void *owner);

/* At most one due operation under suspicion, of these types, in the share; the note is it alone. */
struct suspect_request {
	const char *const *types;
	size_t types_count;
	const int *share_index, *share_count; /* of each type */
	const char *note_instance_id;
};
void store_fetch_suspect(struct db *db, const struct suspect_request *request, store_due_fn *done,
			 void *owner);

/* These operations, due or not, paused or not, in order of id; an unknown id has no row. */
void store_fetch_ids(struct db *db, const char *const *ids, size_t count, store_due_fn *done,
		     void *owner);

void due_rows_destroy(struct due_rows *rows);
size_t due_rows_count(const struct due_rows *rows);
int64_t due_rows_now_us(
	const struct due_rows *rows); /* database clock of the statement, also without rows */
bool due_rows_is_paused(const struct due_rows *rows,
			size_t i); /* its type is; store_fetch_ids only */
/* Row i, copied into the arena; expected is parsed (NULL when it is unreadable). */
void due_rows_decode(const struct due_rows *rows, size_t i, struct arena *arena,
		     struct operation *ret_op);

/* How many operations are due whose type is not among these. */
typedef void store_count_fn(void *owner, int64_t count, const struct err *err);
void store_count_without_policy(struct db *db, const char *const *types, size_t types_count,
				store_count_fn *done, void *owner);

/* Due operations of these types, counted up to a limit: the work does not grow with the backlog. */
void store_count_due(struct db *db, const char *const *types, size_t types_count, int64_t limit,
		     store_count_fn *done, void *owner);

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
	int64_t carry_out_until_us; /* database clock; later it is RECORD_LATE; TIME_NONE: no limit */
	int postponed;
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
