/* SPDX-License-Identifier: Apache-2.0
 *
 * What the statements of store need of a connection. One statement is under way, the others wait in
 * the order they came, also while the connection is being made.
 */
#pragma once

#include <stdbool.h>

#include <libpq-fe.h>

#include "params.h"
#include "reconciled/base/attributes.h"
#include "statement.h"

struct db;
struct err;

/* Without err the result is the callee's. Exactly once, from the loop, never from inside db_send.
 */
typedef void db_result_fn(void *context, PGresult *result, const struct err *err);

struct db_query {
	const struct sql_statement *statement;
	struct params *params; /* taken: empty afterwards */
	bool text;	       /* result in text format instead of binary */
};

/* context is taken: freed with free() after done was called, or with the connection. */
void db_send(struct db *db, const struct db_query *query, db_result_fn *done, void *context);

/* Turns the loop of the connection until the answer is there; not for use in a callback. */
bool db_send_wait(struct db *db, const struct db_query *query, PGresult **ret_result,
		  struct err *err) MUST_CHECK;

void pgresult_clear_at(PGresult **result); /* for CLEANUP */
