/* SPDX-License-Identifier: Apache-2.0
 *
 * What people look at: counts, lists, one operation with its history. Read only; each blocks the
 * calling program (reconcilectl), turning the connection's loop.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/base/attributes.h"

struct db;
struct err;

/* A result as columns and text; NULL is SQL null. Column names are those of the tables. */
struct view;

void view_destroy(struct view *view);
size_t view_rows(const struct view *view);
size_t view_columns(const struct view *view);
const char *view_column_name(const struct view *view, size_t column);
const char *view_text(const struct view *view, size_t row, size_t column);
/* By name; asserts that the column exists. */
const char *view_get(const struct view *view, size_t row, const char *column);
/* Column types as JSON sees them. */
enum view_type { VIEW_TEXT, VIEW_NUMBER, VIEW_BOOL, VIEW_JSON };
enum view_type view_column_type(const struct view *view, size_t column);

struct list_filter {
	const char *operation_type, *status, *class, *reason, *entity_id, *scope; /* NULL: any */
	int64_t older_than_us;							  /* 0: any */
	const char *after_id; /* page on; NULL: from the start */
	int limit;
};

bool view_overview(struct db *db, struct view **ret_view, struct err *err) MUST_CHECK;
bool view_exceptions(struct db *db, const struct list_filter *filter, struct view **ret_view,
		     struct err *err) MUST_CHECK;
bool view_operations(struct db *db, const struct list_filter *filter, struct view **ret_view,
		     struct err *err) MUST_CHECK;
bool view_operation(struct db *db, const char *operation_id, struct view **ret_view,
		    struct err *err) MUST_CHECK; /* no row: unknown */
bool view_journal(struct db *db, const char *operation_id, struct view **ret_view,
		  struct err *err) MUST_CHECK; /* oldest first, times as RFC 3339 UTC */
/* Guards that hold something back or were released with a rest, or with history all; newest first. */
bool view_guards(struct db *db, bool history, int limit, struct view **ret_view,
		 struct err *err) MUST_CHECK;
bool view_paused(struct db *db, struct view **ret_view, struct err *err) MUST_CHECK;
bool view_instances(struct db *db, struct view **ret_view,
		    struct err *err) MUST_CHECK; /* those that are alive */
