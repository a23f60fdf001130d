/* SPDX-License-Identifier: Apache-2.0
 *
 * Due operations: the statements that select them, and their rows decoded from binary format.
 */
#include <assert.h>
#include <stdlib.h>

#include "db_send.h"
#include "due_row.h"
#include "pg_binary.h"
#include "pg_time.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/hash.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/core/value.h"
#include "reconciled/store/work.h"

extern const struct sql_statement sql_fetch_due, sql_fetch_ids, sql_fetch_suspect;

struct due_rows {
	PGresult *result;
	size_t count;
};

struct fetch {
	store_due_fn *done;
	void *owner;
};

static void
on_fetched(void *context, PGresult *result, const struct err *err)
{
	const struct fetch *fetch = context;
	struct due_rows *rows = NULL;

	if (result) {
		assert(PQnfields(result) == DUE_COLUMNS && PQntuples(result) > 0);
		rows = xcalloc(1, sizeof(*rows));
		rows->result = result;
		rows->count =
			PQgetisnull(result, 0, DUE_OPERATION_ID) ? 0 : (size_t)PQntuples(result);
	}
	fetch->done(fetch->owner, rows, err);
}

static void
send(struct db *db, const struct sql_statement *statement, struct params *params,
     const struct fetch *fetch)
{
	struct fetch *kept = xcalloc(1, sizeof(*kept));

	*kept = *fetch;
	db_send(db, &(struct db_query){ .statement = statement, .params = params }, on_fetched,
		kept);
}

void
store_fetch_due(struct db *db, const struct due_request *request, store_due_fn *done, void *owner)
{
	struct params params = { 0 };

	params_text(&params, request->operation_type);
	params_time(&params, request->until_us);
	params_int8(&params, pg_time_from_us(request->after_due_us)); /* TIME_NONE: -infinity */
	params_text(&params, request->after_id ? request->after_id : "");
	params_int4(&params, request->limit);
	params_int4(&params, request->share_count > 1 ? request->share_count : 1);
	params_int4(&params, request->share_index);
	params_bool(&params, request->leave_suspects);
	params_text(&params, request->note_instance_id);
	params_texts(&params, request->in_flight, request->in_flight_count);
	send(db, &sql_fetch_due, &params, &(struct fetch){ done, owner });
}

static void
params_numbers(struct params *params, const int *numbers, size_t count)
{
	params_array_begin(params, ELEMENT_INT4, count);
	for (size_t i = 0; i < count; i++)
		params_add_int4(params, numbers[i]);
	params_array_end(params);
}

void
store_fetch_suspect(struct db *db, const struct suspect_request *request, store_due_fn *done,
		    void *owner)
{
	struct params params = { 0 };

	params_texts(&params, request->types, request->types_count);
	params_numbers(&params, request->share_index, request->types_count);
	params_numbers(&params, request->share_count, request->types_count);
	params_text(&params, request->note_instance_id);
	send(db, &sql_fetch_suspect, &params, &(struct fetch){ done, owner });
}

void
store_fetch_ids(struct db *db, const char *const *ids, size_t count, store_due_fn *done,
		void *owner)
{
	struct params params = { 0 };

	params_texts(&params, ids, count);
	send(db, &sql_fetch_ids, &params, &(struct fetch){ done, owner });
}

void
due_rows_destroy(struct due_rows *rows)
{
	if (!rows)
		return;
	PQclear(rows->result);
	free(rows);
}

size_t
due_rows_count(const struct due_rows *rows)
{
	return rows->count;
}

/* A row whose columns are taken apart. */
struct row {
	const PGresult *result;
	int number;
	struct arena *arena;
};

static bool
is_null(const struct row *row, enum due_column column)
{
	return PQgetisnull(row->result, row->number, column);
}

static int64_t
get_int8(const struct row *row, enum due_column column)
{
	return pg_get_int8(row->result, row->number, column);
}

static int
get_int4(const struct row *row, enum due_column column)
{
	return pg_get_int4(row->result, row->number, column);
}

static bool
get_bool(const struct row *row, enum due_column column)
{
	return *PQgetvalue(row->result, row->number, column) != 0;
}

static int64_t
get_time(const struct row *row, enum due_column column)
{
	return is_null(row, column) ? TIME_NONE : pg_time_to_us(get_int8(row, column));
}

/* "" for null. */
static const char *
get_text(const struct row *row, enum due_column column)
{
	int len = PQgetlength(row->result, row->number, column);

	return len == 0 ? ""
			: arena_strndup(row->arena, PQgetvalue(row->result, row->number, column),
					(size_t)len);
}

/* jsonb in binary format is a version byte and the text. */
static const struct value *
get_json(const struct row *row, enum due_column column)
{
	const char *bytes = PQgetvalue(row->result, row->number, column);
	size_t len = (size_t)PQgetlength(row->result, row->number, column);
	const struct value *value;

	if (len < 1 || bytes[0] != 1 ||
	    value_read_json(row->arena, bytes + 1, len - 1, &value) != VALUE_OK)
		return NULL;
	return value;
}

static const char *
get_hex(const struct row *row, enum due_column column)
{
	size_t len = (size_t)PQgetlength(row->result, row->number, column);
	char *hex = arena_alloc(row->arena, 2 * len + 1);

	hash_hex((const unsigned char *)PQgetvalue(row->result, row->number, column), len, hex);
	return hex;
}

static enum verdict_class
get_class(const struct row *row, enum due_column column)
{
	enum verdict_class class = CLASS_NONE;

	if (!is_null(row, column) &&
	    !class_from_name(PQgetvalue(row->result, row->number, column), &class))
		class = CLASS_NONE;
	return class;
}

/* A status that this version does not know cannot be: the schema was checked. */
static enum status
get_status(const struct row *row, enum due_column column)
{
	enum status status;

	if (!status_from_name(PQgetvalue(row->result, row->number, column), &status))
		abort();
	return status;
}

int64_t
due_rows_now_us(const struct due_rows *rows)
{
	return get_time(&(struct row){ .result = rows->result }, DUE_NOW);
}

/* libpq ends every value with a NUL. */
const char *
due_rows_operation_id(const struct due_rows *rows, size_t i)
{
	return PQgetvalue(rows->result, (int)i, DUE_OPERATION_ID);
}

const char *
due_rows_operation_type(const struct due_rows *rows, size_t i)
{
	return PQgetvalue(rows->result, (int)i, DUE_OPERATION_TYPE);
}

int64_t
due_rows_due_at_us(const struct due_rows *rows, size_t i)
{
	return get_time(&(struct row){ .result = rows->result, .number = (int)i }, DUE_DUE_AT);
}

bool
due_rows_is_paused(const struct due_rows *rows, size_t i)
{
	return get_bool(&(struct row){ .result = rows->result, .number = (int)i }, DUE_PAUSED);
}

void
due_rows_decode(const struct due_rows *rows, size_t i, struct arena *arena,
		struct operation *ret_op)
{
	const struct row row = { rows->result, (int)i, arena };

	assert(i < rows->count);
	*ret_op = (struct operation){
		.operation_id = get_text(&row, DUE_OPERATION_ID),
		.operation_type = get_text(&row, DUE_OPERATION_TYPE),
		.scope = get_text(&row, DUE_SCOPE),
		.entity_type = get_text(&row, DUE_ENTITY_TYPE),
		.entity_id = get_text(&row, DUE_ENTITY_ID),
		.entity_state = get_text(&row, DUE_ENTITY_STATE),
		.version = get_text(&row, DUE_VERSION),
		.idempotency_key = get_text(&row, DUE_IDEMPOTENCY_KEY),
		.business_key = get_text(&row, DUE_BUSINESS_KEY),
		.remote_id = get_text(&row, DUE_REMOTE_ID),
		.correlation_id = get_text(&row, DUE_CORRELATION_ID),
		.superseded_by = get_text(&row, DUE_SUPERSEDED_BY),
		.compensates = get_text(&row, DUE_COMPENSATES),
		.expected = get_json(&row, DUE_EXPECTED),
		.status = get_status(&row, DUE_STATUS),
		.revision = get_int8(&row, DUE_REVISION),
		.attempts = get_int4(&row, DUE_ATTEMPTS),
		.requeues = get_int4(&row, DUE_REQUEUES),
		.checks = get_int4(&row, DUE_CHECKS),
		.created_at_us = get_time(&row, DUE_CREATED_AT),
		.first_sent_at_us = get_time(&row, DUE_FIRST_SENT_AT),
		.sent_at_us = get_time(&row, DUE_SENT_AT),
		.attempt_until_us = get_time(&row, DUE_ATTEMPT_UNTIL),
		.due_at_us = get_time(&row, DUE_DUE_AT),
		.earned.class = get_class(&row, DUE_EARNING),
		.earned.looks = get_int4(&row, DUE_ABSENCES),
		.earned.since_us = get_time(&row, DUE_ABSENT_SINCE),
		.earned.inconclusive = get_int4(&row, DUE_INCONCLUSIVE),
		.disputed = get_bool(&row, DUE_DISPUTED),
		.class = get_class(&row, DUE_CLASS),
		.reason = get_text(&row, DUE_REASON),
		.recommended_action = get_text(&row, DUE_RECOMMENDED_ACTION),
		.evidence_digest = get_hex(&row, DUE_EVIDENCE_DIGEST),
		.postponed = get_int4(&row, DUE_POSTPONED),
		.suspect = get_int4(&row, DUE_SUSPECT),
		.look_first = get_bool(&row, DUE_LOOK_FIRST),
		.next_attempt_at_us = get_time(&row, DUE_NEXT_ATTEMPT_AT),
		.announced_at_us = get_time(&row, DUE_ANNOUNCED_AT),
		.announcements = get_int4(&row, DUE_ANNOUNCEMENTS),
	};
}
