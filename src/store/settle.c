/* SPDX-License-Identifier: Apache-2.0
 *
 * What a verdict means for the idempotency store.
 */
#include "db_send.h"
#include "params.h"
#include "reconciled/base/err.h"
#include "reconciled/base/log.h"
#include "reconciled/store/record.h"

extern const struct sql_statement sql_settle;

/* Whoever reserves the key settles what was left. */
static void
on_settled(void *context, PGresult *got, const struct err *err)
{
	PQclear(got);
	if (err)
		log_debug("records of idempotency keys were not settled",
			  F_STR("error", err->text));
}

void
store_settle(struct db *db, const char *const *operation_ids, size_t count)
{
	struct params params = { 0 };

	params_texts(&params, operation_ids, count);
	db_send(db, &(struct db_query){ .statement = &sql_settle, .params = &params }, on_settled,
		NULL);
}
