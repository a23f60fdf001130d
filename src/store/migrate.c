/* SPDX-License-Identifier: Apache-2.0
 *
 * Applies migrations on a blocking connection of its own. The lock and the look at what is applied
 * are in the transaction of each migration, so that two programs that start at once take turns and
 * nothing is applied twice, also behind a pooler that hands out connections by transaction.
 */
#include <stdlib.h>
#include <string.h>

#include "db_send.h"
#include "hosts.h"
#include "migration.h"
#include "reconciled/base/err.h"
#include "reconciled/base/hash.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/store/db.h"
#include "sqlstate.h"

extern const struct sql_statement sql_begin, sql_commit, sql_find_schema, sql_insert_migration,
	sql_lock_migrations, sql_read_migrations;

static void
pgconn_finish_at(PGconn **conn)
{
	PQfinish(*conn);
}

/* Roles and schemas that exist already are no news. */
static void
on_notice(void *arg, const PGresult *result)
{
}

static bool
connect_first(const struct db_options *options, PGconn **ret_conn, struct err *err)
{
	struct hosts hosts = { 0 };
	struct strbuf failures = { 0 };
	PGconn *conn = NULL;

	if (!hosts_parse(&hosts, options->conninfo, err))
		return false;
	for (size_t i = 0; i < hosts.count && !conn; i++) {
		conn = hosts_connect_wait(&hosts, i, options);
		if (PQstatus(conn) == CONNECTION_OK)
			break;
		strbuf_puts(&failures, failures.len > 0 ? "; " : "");
		sqlstate_add_line(&failures, PQerrorMessage(conn));
		PQfinish(TAKE(conn));
	}
	if (!conn)
		err_fill(err, ERR_TRANSIENT, "could not connect to the database: %s",
			 strbuf_text(&failures));
	strbuf_finish(&failures);
	hosts_finish(&hosts);
	if (!conn)
		return false;
	PQsetNoticeReceiver(conn, on_notice, NULL);
	*ret_conn = conn;
	return true;
}

static bool
check(PGresult *result, const char *what, struct err *err)
{
	ExecStatusType status = PQresultStatus(result);

	if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
		return true;
	sqlstate_err(what, result, err);
	return false;
}

static bool
run(PGconn *conn, const struct sql_statement *statement, struct err *err)
{
	CLEANUP(pgresult_clear_at) PGresult *result = PQexec(conn, statement->text);

	return check(result, statement->name, err);
}

static bool
find_missing(PGconn *conn, const struct migration **ret_missing, struct err *err)
{
	CLEANUP(pgresult_clear_at) PGresult *found = PQexec(conn, sql_find_schema.text);

	if (!check(found, sql_find_schema.name, err))
		return false;
	if (strcmp(PQgetvalue(found, 0, 0), "t") != 0) {
		*ret_missing = &migrations[0];
		return true;
	}
	CLEANUP(pgresult_clear_at) PGresult *applied = PQexec(conn, sql_read_migrations.text);

	return check(applied, sql_read_migrations.name, err) &&
	       migrations_compare(applied, ret_missing, err);
}

static bool
note_applied(PGconn *conn, const struct migration *migration, struct err *err)
{
	unsigned char hash[HASH_SHA256_BYTES];
	char hex[HASH_SHA256_HEX], version[16];
	const char *values[] = { version, migration->name, hex };

	hash_sha256(migration->text, strlen(migration->text), hash);
	hash_hex(hash, sizeof(hash), hex);
	snprintf(version, sizeof(version), "%d", migration->version);

	CLEANUP(pgresult_clear_at)
	PGresult *result = PQexecParams(conn, sql_insert_migration.text, ARRAY_LEN(values), NULL,
					values, NULL, NULL, 0);

	return check(result, sql_insert_migration.name, err);
}

static const char *
error_field(const PGresult *result, int field)
{
	const char *text = PQresultErrorField(result, field);

	return text ? text : "connection lost";
}

static bool
apply(PGconn *conn, const struct migration *migration, const char *name, struct err *err)
{
	CLEANUP(pgresult_clear_at) PGresult *result = PQexec(conn, migration->text);

	/* what a migration says itself quotes no data */
	if (!check(result, name, err))
		return err_set(err, err->code, "migration %s: %s (SQLSTATE %s)", name,
			       error_field(result, PG_DIAG_MESSAGE_PRIMARY),
			       error_field(result, PG_DIAG_SQLSTATE));
	return note_applied(conn, migration, err);
}

/* One transaction: the first missing migration, if any. An error leaves it to the closing
 * connection. */
static bool
step(PGconn *conn, char name[static MIGRATION_NAME_MAX], const struct migration **ret_missing,
     struct err *err)
{
	if (!run(conn, &sql_begin, err) || !run(conn, &sql_lock_migrations, err) ||
	    !find_missing(conn, ret_missing, err))
		return false;
	if (*ret_missing) {
		migration_format(*ret_missing, name);
		if (!apply(conn, *ret_missing, name, err))
			return false;
	}
	return run(conn, &sql_commit, err);
}

bool
db_migrate(const struct db_options *options, db_migrated_fn *report, void *owner, struct err *err)
{
	CLEANUP(pgconn_finish_at) PGconn *conn = NULL;
	const struct migration *missing;
	char name[MIGRATION_NAME_MAX];

	if (!connect_first(options, &conn, err))
		return false;
	do {
		missing = NULL;
		if (!step(conn, name, &missing, err))
			return false;
		if (missing && report)
			report(owner, name);
	} while (missing);
	return true;
}
