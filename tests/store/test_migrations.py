# SPDX-License-Identifier: Apache-2.0
"""Migrations: by whom, how often, and what they leave behind."""

import pytest

from cluster import migrate, migrations

TABLES = {"operations", "content", "journal", "outbox", "idempotency_records", "operation_types",
          "policies", "instances", "guards", "budgets", "tallies", "tombstones",
          "schema_migrations", "entity_versions"}


@pytest.fixture
def fresh(cluster):
    """A new database, and a connection of the role that migrates."""
    name = "fresh"
    cluster.create_database(name, owner="migrator")
    connection = cluster.connect(name, "migrator")
    yield connection
    connection.close()
    with cluster.connect() as admin:
        admin.execute("DROP DATABASE fresh WITH (FORCE)")


def shape(connection):
    """Everything that a migration could change, as text."""
    return connection.execute(
        "SELECT array_agg(t ORDER BY t) FROM ("
        " SELECT c.oid::regclass::text || c.relkind::text || coalesce(c.relacl::text, '')"
        " || coalesce(c.reloptions::text, '') FROM pg_class c"
        " WHERE c.relnamespace = 'reconcile'::regnamespace"
        " UNION ALL SELECT p.oid::regprocedure::text || md5(p::text) FROM pg_proc p"
        " WHERE p.pronamespace = 'reconcile'::regnamespace) k (t)").fetchone()[0]


def test_a_role_without_superuser_rights_migrates(fresh):
    role = fresh.execute("SELECT rolsuper, rolcreaterole FROM pg_roles"
                         " WHERE rolname = current_user").fetchone()
    assert role == (False, True)
    assert migrate(fresh) == [version for version, _, _ in migrations()]


def test_a_second_run_changes_nothing(fresh):
    migrate(fresh)
    before = shape(fresh)
    assert migrate(fresh) == []
    assert shape(fresh) == before


def test_two_at_once_apply_each_file_once(fresh, cluster, background):
    def run():
        with cluster.connect("fresh", "migrator") as connection:
            return migrate(connection)

    first, second = background(run), background(run)
    applied = first.result() + second.result()
    assert sorted(applied) == [version for version, _, _ in migrations()]


def test_schema_and_list_may_exist_before_the_first_file(fresh):
    fresh.execute("CREATE SCHEMA reconcile; CREATE TABLE reconcile.schema_migrations ("
                  "version int PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL,"
                  " applied_at timestamptz NOT NULL DEFAULT clock_timestamp())")
    migrate(fresh)
    assert fresh.execute("SELECT count(*) FROM reconcile.schema_migrations").fetchone()[0] == \
        len(migrations())


def test_versions_are_consecutive():
    assert [version for version, _, _ in migrations()] == list(range(1, len(migrations()) + 1))


def test_files_hold_sql_only():
    for _, _, path in migrations():
        assert not [line for line in path.read_text().splitlines() if line.startswith("\\")], path


def test_a_database_in_another_encoding_is_refused(cluster, refused):
    with cluster.connect() as admin:
        admin.execute("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    with cluster.connect("latin") as connection, refused("P0001") as refusal:
        migrate(connection)
    assert "LATIN1, not UTF8" in refusal.message


def test_tables_are_complete(root):
    found = {row["relname"] for row in root.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'reconcile'::regnamespace"
        " AND relkind = 'r'")}
    assert found == TABLES


def test_everything_belongs_to_the_owner_role(root):
    assert root.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'reconcile'::regnamespace"
        " AND relowner <> 'reconcile_owner'::regrole UNION ALL"
        " SELECT proname FROM pg_proc WHERE pronamespace = 'reconcile'::regnamespace"
        " AND proowner <> 'reconcile_owner'::regrole UNION ALL"
        " SELECT nspname FROM pg_namespace WHERE nspname = 'reconcile'"
        " AND nspowner <> 'reconcile_owner'::regrole").fetchall() == []


def test_every_table_and_column_is_described(root):
    assert root.execute(
        "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
        " WHERE c.relnamespace = 'reconcile'::regnamespace AND c.relkind = 'r' AND a.attnum > 0"
        " AND col_description(c.oid, a.attnum) IS NULL UNION ALL"
        " SELECT c.relname, '' FROM pg_class c"
        " WHERE c.relnamespace = 'reconcile'::regnamespace AND c.relkind IN ('r', 'v')"
        " AND obj_description(c.oid) IS NULL").fetchall() == []


def test_group_roles_cannot_log_in(root):
    assert root.execute("SELECT rolname FROM pg_roles WHERE rolname IN ('reconcile_owner',"
                        " 'reconcile_app', 'reconcile_daemon', 'reconcile_operator',"
                        " 'reconcile_auditor', 'reconcile_retention') AND NOT rolcanlogin"
                        " AND NOT rolsuper").rowcount == 6


def test_due_index_and_partial_indexes(root):
    """Closing a row writes no index but the key: all others are partial on open or due rows."""
    found = {row["relname"]: row["pred"] for row in root.execute(
        "SELECT c.relname, pg_get_expr(i.indpred, i.indrelid) AS pred FROM pg_index i"
        " JOIN pg_class c ON c.oid = i.indexrelid"
        " WHERE i.indrelid = 'reconcile.operations'::regclass AND NOT i.indisprimary")}
    assert found["operations_due"] == "(due_at IS NOT NULL)"
    assert all(found.values())
    columns = root.execute("SELECT pg_get_indexdef('reconcile.operations_due'::regclass) AS d")
    assert "(operation_type, due_at, operation_id)" in columns.fetchone()["d"]
