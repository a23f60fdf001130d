/* SPDX-License-Identifier: Apache-2.0
 *
 * Statements for people, answered in text format. Types of columns are those that the server says.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "db_send.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/core/lifecycle.h"
#include "reconciled/store/instances.h"
#include "reconciled/store/views.h"
#include "view_run.h"

extern const struct sql_statement sql_list_closed, sql_list_guards, sql_list_instances,
	sql_list_open, sql_list_paused, sql_show_exceptions, sql_show_journal, sql_show_operation,
	sql_show_overview;

struct view {
	PGresult *result;
};

bool
view_run(struct db *db, const struct sql_statement *statement, struct params *params,
	 struct view **ret_view, struct err *err)
{
	const struct db_query query = { .statement = statement, .params = params, .text = true };
	PGresult *result;

	if (!db_send_wait(db, &query, &result, err))
		return false;
	*ret_view = xcalloc(1, sizeof(**ret_view));
	(*ret_view)->result = result;
	return true;
}

void
view_destroy(struct view *view)
{
	if (!view)
		return;
	PQclear(view->result);
	free(view);
}

size_t
view_rows(const struct view *view)
{
	return (size_t)PQntuples(view->result);
}

size_t
view_columns(const struct view *view)
{
	return (size_t)PQnfields(view->result);
}

const char *
view_column_name(const struct view *view, size_t column)
{
	assert(column < view_columns(view));
	return PQfname(view->result, (int)column);
}

const char *
view_text(const struct view *view, size_t row, size_t column)
{
	assert(row < view_rows(view) && column < view_columns(view));
	if (PQgetisnull(view->result, (int)row, (int)column))
		return NULL;
	return PQgetvalue(view->result, (int)row, (int)column);
}

const char *
view_get(const struct view *view, size_t row, const char *column)
{
	size_t i = 0;

	while (i < view_columns(view) && strcmp(view_column_name(view, i), column) != 0)
		i++;
	return view_text(view, row, i);
}

enum view_type
view_column_type(const struct view *view, size_t column)
{
	static const struct {
		Oid oid;
		enum view_type type;
	} types[] = {
		{ 16, VIEW_BOOL },     /* boolean */
		{ 20, VIEW_NUMBER },   /* bigint */
		{ 21, VIEW_NUMBER },   /* smallint */
		{ 23, VIEW_NUMBER },   /* integer */
		{ 1700, VIEW_NUMBER }, /* numeric */
		{ 114, VIEW_JSON },    /* json */
		{ 3802, VIEW_JSON },   /* jsonb */
	};

	assert(column < view_columns(view));
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (types[i].oid == PQftype(view->result, (int)column))
			return types[i].type;
	return VIEW_TEXT;
}

static void
add_filter(struct params *params, const struct list_filter *filter)
{
	params_text(params, filter->operation_type);
	params_text(params, filter->status);
	params_text(params, filter->class);
	params_text(params, filter->reason);
	params_text(params, filter->entity_id);
	params_text(params, filter->scope);
	if (filter->older_than_us > 0)
		params_int8(params, filter->older_than_us);
	else
		params_null(params);
	params_text(params, filter->after_id);
	params_int4(params, filter->limit);
}

bool
view_overview(struct db *db, struct view **ret_view, struct err *err)
{
	struct params none = { 0 };

	return view_run(db, &sql_show_overview, &none, ret_view, err);
}

bool
view_exceptions(struct db *db, const struct list_filter *filter, struct view **ret_view,
		struct err *err)
{
	struct params params = { 0 };

	add_filter(&params, filter);
	return view_run(db, &sql_show_exceptions, &params, ret_view, err);
}

bool
view_operations(struct db *db, const struct list_filter *filter, struct view **ret_view,
		struct err *err)
{
	enum status status;
	bool closed = filter->status && status_from_name(filter->status, &status) &&
		      status_is_final(status);
	struct params params = { 0 };

	add_filter(&params, filter);
	return view_run(db, closed ? &sql_list_closed : &sql_list_open, &params, ret_view, err);
}

static bool
run_for_id(struct db *db, const struct sql_statement *statement, const char *operation_id,
	   struct view **ret_view, struct err *err)
{
	struct params params = { 0 };

	params_text(&params, operation_id);
	return view_run(db, statement, &params, ret_view, err);
}

bool
view_operation(struct db *db, const char *operation_id, struct view **ret_view, struct err *err)
{
	return run_for_id(db, &sql_show_operation, operation_id, ret_view, err);
}

bool
view_journal(struct db *db, const char *operation_id, struct view **ret_view, struct err *err)
{
	return run_for_id(db, &sql_show_journal, operation_id, ret_view, err);
}

bool
view_guards(struct db *db, bool history, int limit, struct view **ret_view, struct err *err)
{
	struct params params = { 0 };

	params_bool(&params, history);
	params_int4(&params, limit);
	return view_run(db, &sql_list_guards, &params, ret_view, err);
}

bool
view_paused(struct db *db, struct view **ret_view, struct err *err)
{
	struct params none = { 0 };

	return view_run(db, &sql_list_paused, &none, ret_view, err);
}

bool
view_instances(struct db *db, struct view **ret_view, struct err *err)
{
	struct params params = { 0 };

	params_int8(&params, INSTANCE_FRESH_US);
	return view_run(db, &sql_list_instances, &params, ret_view, err);
}
