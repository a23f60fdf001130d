/* SPDX-License-Identifier: Apache-2.0
 *
 * One function of the database each.
 */
#include "reconciled/store/orders.h"

#include "db_send.h"
#include "view_run.h"

extern const struct sql_statement sql_pause, sql_release_guard, sql_resume;

bool
order_release(struct db *db, const struct guard_release *release, struct view **ret_view,
	      struct err *err)
{
	struct params params = { 0 };

	params_text(&params, release->kind);
	params_text(&params, release->name);
	params_int4(&params, release->action_limit);
	params_text(&params, release->reason);
	return view_run(db, &sql_release_guard, &params, ret_view, err);
}

static bool
order(struct db *db, const struct sql_statement *statement, const char *const texts[2],
      struct view **ret_view, struct err *err)
{
	struct params params = { 0 };

	params_text(&params, texts[0]);
	params_text(&params, texts[1]);
	return view_run(db, statement, &params, ret_view, err);
}

bool
order_pause(struct db *db, const char *operation_type, const char *reason, struct view **ret_view,
	    struct err *err)
{
	return order(db, &sql_pause, (const char *[]){ operation_type, reason }, ret_view, err);
}

bool
order_resume(struct db *db, const char *operation_type, const char *reason, struct view **ret_view,
	     struct err *err)
{
	return order(db, &sql_resume, (const char *[]){ operation_type, reason }, ret_view, err);
}
