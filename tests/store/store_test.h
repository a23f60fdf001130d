/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of store against a real server: a database of their own in the cluster that
 * RECONCILED_TEST_DATABASE names, a plain libpq connection beside the tested one, and a loop.
 * A failure to prepare a test aborts it.
 */
#pragma once

#include <stdint.h>

#include <event2/event.h>
#include <libpq-fe.h>

#include "../unit/tap.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/store/db.h"
#include "reconciled/store/work.h"

struct event_base *test_base(void);

/* A text that lives until the program ends. */
const char *test_format(const char *fmt, ...) PRINTF(1, 2);

/* Creates (anew) and migrates the database; its conninfo lives until the program ends. */
const char *test_database(const char *name);
const char *test_empty_database(const char *name);

struct db_options test_options(const char *conninfo);
struct db *test_connect(const char *conninfo); /* aborts unless connected */

/* Runs SQL on a connection of its own beside the tested one; aborts on failure. */
PGconn *test_plain(const char *conninfo);
void test_sql(PGconn *conn, const char *sql);
/* First column of the first row as text, "" for null, "(no row)" without rows; valid until the next
 * call. */
const char *test_value(PGconn *conn, const char *sql);

/* What a callback reported. */
struct told {
	int times;
	struct err err;
	struct due_rows *rows;
	struct record_result results[1000];
	size_t results_count; /* set by who sends */
	int64_t count;
};

void told_done(void *owner, const struct err *err);
void told_due(void *owner, struct due_rows *rows, const struct err *err);
void told_recorded(void *owner, const struct record_result *results, const struct err *err);
void told_count(void *owner, int64_t count, const struct err *err);

/* Turns the loop until told.times is at least times; aborts after half a minute. */
void test_wait(const struct told *told, int times);
void test_turn(int64_t for_us);

/* Sends, waits, keeps results. */
struct told test_record(struct db *db, const struct record_row *rows, size_t count);
struct due_rows *test_fetch(struct db *db, const char *type, int limit);

/* A row as selected at revision 0, awaiting_confirmation → confirmed, correct, fields_equal. */
struct record_row test_row(const char *operation_id);
