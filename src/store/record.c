/* SPDX-License-Identifier: Apache-2.0
 *
 * Sends one batch of verdicts and says which of them were written.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "db_send.h"
#include "pg_binary.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/store/record.h"
#include "record_encode.h"

extern const struct sql_statement sql_record;

struct recording {
	store_recorded_fn *done;
	void *owner;
	size_t count;
	size_t order[]; /* place in the arrays, less one → row */
};

struct sorting {
	const struct record_row *rows;
};

static int
compare_rows(const void *a, const void *b, void *sorting)
{
	const struct record_row *rows = ((const struct sorting *)sorting)->rows;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	int by_id = strcmp(rows[i].operation_id, rows[j].operation_id);

	return by_id ? by_id : (i > j) - (i < j);
}

/* By id, so that two writers of the same rows lock them in the same order. */
static void
sort(size_t *order, const struct record_batch *batch)
{
	struct sorting sorting = { batch->rows };

	for (size_t i = 0; i < batch->count; i++)
		order[i] = i;
	qsort_r(order, batch->count, sizeof(*order), compare_rows, &sorting);
}

static const enum record_outcome outcomes[] = {
	[1] = RECORD_DONE,
	[2] = RECORD_HELD,
	[3] = RECORD_LATE,
};

static void
read_results(const PGresult *result, const struct recording *recording,
	     struct record_result *results)
{
	for (int i = 0; i < PQntuples(result); i++) {
		size_t place = (size_t)pg_get_int8(result, i, 0);

		assert(place >= 1 && place <= recording->count);
		results[recording->order[place - 1]] = (struct record_result){
			.outcome = outcomes[pg_get_int4(result, i, 1)],
			.revision = PQgetisnull(result, i, 2) ? 0 : pg_get_int8(result, i, 2),
		};
	}
}

static void
on_recorded(void *context, PGresult *got, const struct err *err)
{
	CLEANUP(pgresult_clear_at) PGresult *result = got;
	struct recording *recording = context;
	struct record_result *results = NULL;

	if (result) {
		results = xcalloc(recording->count, sizeof(*results));
		read_results(result, recording, results);
	}
	recording->done(recording->owner, results, err);
	free(results);
}

void
store_record(struct db *db, const struct record_batch *batch, store_recorded_fn *done, void *owner)
{
	struct recording *recording =
		xcalloc(1, sizeof(*recording) + batch->count * sizeof(size_t));
	struct params params = { 0 };

	assert(batch->count > 0);
	recording->done = done;
	recording->owner = owner;
	recording->count = batch->count;
	sort(recording->order, batch);
	record_encode(&params, batch, recording->order);
	db_send(db, &(struct db_query){ .statement = &sql_record, .params = &params }, on_recorded,
		recording);
}
