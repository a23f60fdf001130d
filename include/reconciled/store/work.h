/* SPDX-License-Identifier: Apache-2.0
 *
 * The daemon's statements: check the schema, publish the loaded policies, take due operations;
 * record verdicts, see record.h. One domain step is one statement. Error codes: TRANSIENT the
 * connection failed or the server is going away; BUSY a lock was not to be had (lock timeout,
 * deadlock, serialization); INVALID the server refuses the data; FATAL anything else (missing
 * schema, missing right).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/core/operation.h"
#include "reconciled/store/record.h"

struct arena;
struct db;
struct err;
struct policy;

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
	const char *operation_type;
	int share_index, share_count; /* count 0 or 1: everything */
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
	const char *note_instance_id;	      /* NULL: only looks whether there is one */
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
/* Of row i, as long as the rows live. */
const char *due_rows_operation_id(const struct due_rows *rows, size_t i);
const char *due_rows_operation_type(const struct due_rows *rows, size_t i);
int64_t due_rows_due_at_us(const struct due_rows *rows, size_t i);
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
