/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the schema of a database is the one that this program was built for.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db_send.h"
#include "migration.h"
#include "reconciled/base/err.h"
#include "reconciled/base/hash.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/store/work.h"

extern const struct sql_statement sql_find_schema, sql_read_migrations;

void
migration_format(const struct migration *migration, char ret[static MIGRATION_NAME_MAX])
{
	snprintf(ret, MIGRATION_NAME_MAX, "%04d_%s", migration->version, migration->name);
}

/* The checksum that was stored when the migration was applied; NULL: it was not. */
static const char *
applied_sha256(const PGresult *applied, int version)
{
	for (int i = 0; i < PQntuples(applied); i++)
		if (atoi(PQgetvalue(applied, i, 0)) == version)
			return PQgetvalue(applied, i, 1);
	return NULL;
}

static int
newest_applied(const PGresult *applied)
{
	int newest = 0;

	for (int i = 0; i < PQntuples(applied); i++) {
		int version = atoi(PQgetvalue(applied, i, 0));

		newest = version > newest ? version : newest;
	}
	return newest;
}

static bool
is_same(const struct migration *migration, const char *sha256)
{
	unsigned char hash[HASH_SHA256_BYTES];
	char hex[HASH_SHA256_HEX];

	hash_sha256(migration->text, strlen(migration->text), hash);
	hash_hex(hash, sizeof(hash), hex);
	return strcmp(hex, sha256) == 0;
}

bool
migrations_compare(const PGresult *applied, const struct migration **ret_missing, struct err *err)
{
	const struct migration *missing = NULL;
	int ours = migrations[migrations_count - 1].version, theirs = newest_applied(applied);

	if (theirs > ours)
		return err_set(
			err, ERR_INVALID,
			"the schema is at version %d, newer than version %d of this program: "
			"install a newer reconciled",
			theirs, ours);
	for (size_t i = 0; i < migrations_count; i++) {
		const char *sha256 = applied_sha256(applied, migrations[i].version);
		char name[MIGRATION_NAME_MAX];

		if (!sha256) {
			missing = missing ? missing : &migrations[i];
			continue;
		}
		migration_format(&migrations[i], name);
		if (!is_same(&migrations[i], sha256))
			return err_set(
				err, ERR_INVALID,
				"migration \"%s\" is not the one that was applied to this database",
				name);
	}
	*ret_missing = missing;
	return true;
}

struct check {
	struct db *db;
	store_done_fn *done;
	void *owner;
};

static void
on_migrations(void *context, PGresult *got, const struct err *failed)
{
	CLEANUP(pgresult_clear_at) PGresult *applied = got;
	const struct check *check = context;
	const struct migration *missing = NULL;
	struct err err = { 0 };

	if (failed)
		err = *failed;
	else if (!migrations_compare(applied, &missing, &err))
		err.code = ERR_FATAL;
	else if (missing)
		err_fill(&err, ERR_FATAL,
			 "the schema is at version %d, this program needs version %d: "
			 "run reconciled --migrate",
			 newest_applied(applied), migrations[migrations_count - 1].version);
	check->done(check->owner, err.code == ERR_NONE ? NULL : &err);
}

static void
send(const struct check *check, const struct sql_statement *statement, db_result_fn *done)
{
	struct params none = { 0 };
	struct check *context = xcalloc(1, sizeof(*context));

	*context = *check;
	db_send(check->db,
		&(struct db_query){ .statement = statement, .params = &none, .text = true }, done,
		context);
}

static void
on_found(void *context, PGresult *got, const struct err *failed)
{
	CLEANUP(pgresult_clear_at) PGresult *found = got;
	const struct check *check = context;
	static const struct err missing = {
		ERR_FATAL, "the database has no schema \"reconcile\": run reconciled --migrate"
	};

	if (failed)
		check->done(check->owner, failed);
	else if (strcmp(PQgetvalue(found, 0, 0), "t") != 0)
		check->done(check->owner, &missing);
	else
		send(check, &sql_read_migrations, on_migrations);
}

void
store_check_schema(struct db *db, store_done_fn *done, void *owner)
{
	send(&(struct check){ db, done, owner }, &sql_find_schema, on_found);
}
