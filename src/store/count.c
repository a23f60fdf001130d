/* SPDX-License-Identifier: Apache-2.0
 *
 * Statements that answer with one number.
 */
#include "db_send.h"
#include "pg_binary.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/store/work.h"

extern const struct sql_statement sql_count_due, sql_count_without_policy;

struct counting {
	store_count_fn *done;
	void *owner;
};

static void
on_counted(void *context, PGresult *got, const struct err *err)
{
	CLEANUP(pgresult_clear_at) PGresult *result = got;
	const struct counting *counting = context;

	counting->done(counting->owner, result ? pg_get_int8(result, 0, 0) : 0, err);
}

static void
send(struct db *db, const struct db_query *query, const struct counting *counting)
{
	struct counting *context = xcalloc(1, sizeof(*context));

	*context = *counting;
	db_send(db, query, on_counted, context);
}

void
store_count_without_policy(struct db *db, const char *const *types, size_t types_count,
			   store_count_fn *done, void *owner)
{
	struct params params = { 0 };

	params_texts(&params, types, types_count);
	send(db, &(struct db_query){ .statement = &sql_count_without_policy, .params = &params },
	     &(struct counting){ done, owner });
}

void
store_count_due(struct db *db, const char *const *types, size_t types_count, int64_t limit,
		store_count_fn *done, void *owner)
{
	struct params params = { 0 };

	params_texts(&params, types, types_count);
	params_int8(&params, limit);
	send(db, &(struct db_query){ .statement = &sql_count_due, .params = &params },
	     &(struct counting){ done, owner });
}
