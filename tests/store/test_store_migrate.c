/* SPDX-License-Identifier: Apache-2.0
 *
 * Migrations as the program applies them: once, in order, also when two start at once; and what it
 * says about a schema that is not its own.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "migration.h"
#include "store_test.h"

static const char *conninfo;

static void
on_applied(void *owner, const char *name)
{
	struct strbuf *names = owner;

	strbuf_printf(names, "%s\n", name);
}

static struct err
migrate(struct strbuf *names)
{
	const struct db_options options = test_options(conninfo);
	struct err err = { 0 };

	if (!db_migrate(&options, on_applied, names, &err))
		printf("# %s\n", err.text);
	return err;
}

static struct err
check_schema(void)
{
	struct db *db = test_connect(conninfo);
	struct told told = { 0 };

	store_check_schema(db, told_done, &told);
	test_wait(&told, 1);
	db_destroy(db);
	return told.err;
}

static size_t
lines(const struct strbuf *text)
{
	size_t count = 0;

	for (size_t i = 0; i < text->len; i++)
		count += text->data[i] == '\n';
	return count;
}

static void
test_missing(void)
{
	struct err err = check_schema();

	tap_int(err.code, ERR_FATAL, "without schema nothing starts");
	tap_str(err.text, "the database has no schema \"reconcile\": run reconciled --migrate",
		"and the message says what mends it");
}

static void
test_once(void)
{
	struct strbuf names = { 0 };

	tap_int(migrate(&names).code, ERR_NONE, "an empty database is migrated");
	tap_int((long long)lines(&names), (long long)migrations_count,
		"each migration is reported");
	tap_ok(strncmp(names.data, "0001_roles_and_schema\n0002_", 26) == 0,
	       "by its name, in order");
	tap_int(check_schema().code, ERR_NONE, "the schema is right");
	strbuf_reset(&names);
	tap_int(migrate(&names).code, ERR_NONE, "a second time");
	tap_int((long long)names.len, 0, "nothing is left to do");
	strbuf_finish(&names);
}

/* Two processes; what each applied comes through a pipe. */
static pid_t
migrate_in_child(int to)
{
	struct strbuf names = { 0 };
	pid_t child = fork();

	if (child != 0)
		return child;
	bool failed = migrate(&names).code != ERR_NONE;

	failed |= write(to, strbuf_text(&names), names.len) != (ssize_t)names.len;
	_exit(failed);
}

static void
test_two_at_once(void)
{
	pid_t children[2];
	struct strbuf names = { 0 };
	char bytes[512];
	int ends[2], status, failed = 0;
	ssize_t len;

	fflush(stdout);
	if (pipe(ends) != 0)
		abort();
	for (size_t i = 0; i < 2; i++)
		children[i] = migrate_in_child(ends[1]);
	close(ends[1]);
	while ((len = read(ends[0], bytes, sizeof(bytes))) > 0)
		strbuf_add(&names, bytes, (size_t)len);
	close(ends[0]);
	for (size_t i = 0; i < 2; i++)
		failed += waitpid(children[i], &status, 0) != children[i] || status != 0;
	tap_int(failed, 0, "two migrate at once and both succeed");
	tap_int((long long)lines(&names), (long long)migrations_count,
		"each migration is applied by one of them");
	tap_int(check_schema().code, ERR_NONE, "the schema is right");
	strbuf_finish(&names);
}

static void
test_older(PGconn *plain)
{
	struct err err;

	test_sql(plain, "CREATE TABLE kept AS SELECT * FROM reconcile.schema_migrations;"
			"DELETE FROM reconcile.schema_migrations WHERE version > 2");
	err = check_schema();
	tap_int(err.code, ERR_FATAL, "an older schema");
	tap_ok(strstr(err.text, "is at version 2") && strstr(err.text, "run reconciled --migrate"),
	       "the command is named: %s", err.text);
	test_sql(plain,
		 "INSERT INTO reconcile.schema_migrations SELECT * FROM kept WHERE version > 2");
}

static void
test_newer(PGconn *plain)
{
	struct strbuf none = { 0 };
	struct err err;

	test_sql(plain, "INSERT INTO reconcile.schema_migrations VALUES (9999, 'future', 'x')");
	err = check_schema();
	tap_int(err.code, ERR_FATAL, "a newer schema refuses to start");
	tap_ok(strstr(err.text, "newer") != NULL, "it says: %s", err.text);
	tap_int(migrate(&none).code, ERR_INVALID, "and to migrate");
	test_sql(plain, "DELETE FROM reconcile.schema_migrations WHERE version = 9999");
}

static void
test_changed(PGconn *plain)
{
	struct strbuf none = { 0 };
	struct err err;

	test_sql(plain, "UPDATE reconcile.schema_migrations SET sha256 = 'x' WHERE version = 2");
	err = migrate(&none);
	tap_int(err.code, ERR_INVALID, "a migration that was another one when it was applied");
	tap_ok(strstr(err.text, "0002_operations") != NULL, "is named");
	test_sql(plain, "UPDATE reconcile.schema_migrations s SET sha256 = kept.sha256 FROM kept "
			"WHERE s.version = kept.version");
	tap_int(check_schema().code, ERR_NONE, "all is well again");
}

static void
test_refused(void)
{
	struct strbuf none = { 0 };
	PGconn *admin = test_plain(test_empty_database("weak"));
	struct err err;

	test_sql(admin, "CREATE ROLE weak LOGIN");
	PQfinish(admin);
	conninfo = test_format("%s dbname=weak user=weak", getenv("RECONCILED_TEST_DATABASE"));
	err = migrate(&none);
	tap_ok(err.code != ERR_NONE, "without the rights it is refused");
	tap_ok(strstr(err.text, "0001_roles_and_schema") && strstr(err.text, "42501"),
	       "naming the migration: %s", err.text);
}

int
main(void)
{
	PGconn *plain;

	conninfo = test_empty_database("migrate");
	test_missing();
	test_once();
	conninfo = test_empty_database("at_once");
	test_two_at_once();
	plain = test_plain(conninfo);
	test_older(plain);
	test_newer(plain);
	test_changed(plain);
	PQfinish(plain);
	test_refused();
	return tap_done();
}
