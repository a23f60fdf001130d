/* SPDX-License-Identifier: Apache-2.0
 *
 * Connecting and asking for programs without a loop of their own.
 */
#include "db_private.h"
#include "db_send.h"
#include "reconciled/base/xalloc.h"

struct answer {
	bool over;
	PGresult *result;
	struct err err;
};

static void
answer_fill(struct answer *answer, PGresult *result, const struct err *err)
{
	answer->over = true;
	answer->result = result;
	if (err)
		answer->err = *err;
}

static void
on_answer(void *context, PGresult *result, const struct err *err)
{
	answer_fill(*(struct answer **)context, result, err);
}

static void
on_connected(void *owner, const struct err *err)
{
	answer_fill(owner, NULL, err);
}

static bool
wait_for(struct db *db, struct answer *answer, struct err *err)
{
	while (!answer->over)
		event_base_loop(db->base, EVLOOP_ONCE);
	if (answer->err.code != ERR_NONE)
		*err = answer->err;
	return answer->err.code == ERR_NONE;
}

bool
db_connect_wait(struct db *db, struct err *err)
{
	struct answer answer = { 0 };

	db_connect(db, on_connected, &answer);
	return wait_for(db, &answer, err);
}

bool
db_send_wait(struct db *db, const struct db_query *query, PGresult **ret_result, struct err *err)
{
	struct answer answer = { 0 };
	struct answer **context = xcalloc(1, sizeof(struct answer *));

	*context = &answer;
	db_send(db, query, on_answer, context);
	if (!wait_for(db, &answer, err))
		return false;
	*ret_result = answer.result;
	return true;
}
