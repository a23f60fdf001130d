/* SPDX-License-Identifier: Apache-2.0
 *
 * A statement whose result people read.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/base/attributes.h"

struct db;
struct err;
struct params;
struct sql_statement;
struct view;

/* Waits for the answer; takes the params over. */
bool view_run(struct db *db, const struct sql_statement *statement, struct params *params,
	      struct view **ret_view, struct err *err) MUST_CHECK;
