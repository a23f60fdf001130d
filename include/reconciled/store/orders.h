/* SPDX-License-Identifier: Apache-2.0
 *
 * What people order: a guard is released, a type paused or resumed. Each blocks the calling program
 * (reconcilectl). What the database refuses is ERR_INVALID with its sentence.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/base/attributes.h"

struct db;
struct err;
struct view;

/* kind "type" or "rewind"; name: the type, or "database". ret_view: one row of guards. */
struct guard_release {
	const char *kind, *name, *reason;
	int action_limit; /* actions that may go through before the guard watches again */
};
bool order_release(struct db *db, const struct guard_release *release, struct view **ret_view,
		   struct err *err) MUST_CHECK;

/* ret_view: one row of what holds now: operation_type, paused, paused_at, paused_by, pause_reason. */
bool order_pause(struct db *db, const char *operation_type, const char *reason,
		 struct view **ret_view, struct err *err) MUST_CHECK;
bool order_resume(struct db *db, const char *operation_type, const char *reason,
		  struct view **ret_view, struct err *err) MUST_CHECK;
