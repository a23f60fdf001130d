# SPDX-License-Identifier: Apache-2.0
"""Who may do what: each role against each table and each function, and rows really refused."""

import pytest

ROLES = ("app", "daemon", "operator", "auditor", "retention")
WHOLE = "operations content journal outbox idempotency_records operation_types policies" \
        " instances guards budgets tallies tombstones entity_versions schema_migrations" \
        " exceptions overview open_types".split()
PEOPLE = {"operations", "journal", "outbox", "operation_types", "policies", "instances", "guards",
          "budgets", "tallies", "tombstones", "entity_versions", "schema_migrations",
          "exceptions", "overview", "open_types"}

# Rights on whole tables, written by hand.
RIGHTS = {
    ("app", "SELECT"): {"operations", "content", "operation_types", "schema_migrations"},
    ("daemon", "SELECT"): set(WHOLE),
    ("daemon", "INSERT"): {"operations", "content", "journal", "outbox", "tallies", "budgets",
                           "instances", "operation_types", "policies", "guards",
                           "idempotency_records", "entity_versions"},
    ("daemon", "UPDATE"): {"operations", "content", "outbox", "tallies", "budgets", "instances",
                           "operation_types", "policies", "guards", "idempotency_records",
                           "entity_versions"},
    ("operator", "SELECT"): PEOPLE,
    ("auditor", "SELECT"): PEOPLE,
    ("retention", "SELECT"): set(WHOLE),
    ("retention", "INSERT"): {"tombstones"},
    ("retention", "DELETE"): {"operations", "content", "journal", "outbox",
                              "idempotency_records", "tallies", "instances", "entity_versions"},
}

APPLICATION = {"request", "start", "extend", "claim", "sent", "confirm", "reject", "retry",
               "receipt", "cancel", "set_entity_state", "reserve", "complete", "fail", "uncertain",
               "purge"}
PEOPLES = {"pause", "resume", "release_guard"}
DAEMONS = {"draw", "bury"}
PURE = {"lifecycle_ok", "is_retention", "event_type", "event_payload", "rfc3339", "elapsed",
        "age", "readable", "duplication_risk"}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("right", ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE",
                                   "REFERENCES", "TRIGGER"])
def test_tables(root, role, right):
    held = {table for table in WHOLE if root.execute(
        "SELECT has_table_privilege(%s, %s, %s) AS it",
        [f"{role}_login", f"reconcile.{table}", right]).fetchone()["it"]}
    assert held == RIGHTS.get((role, right), set())


@pytest.mark.parametrize("role", ROLES)
def test_functions(root, role):
    held = {row["proname"] for row in root.execute(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'reconcile'::regnamespace"
        " AND has_function_privilege(%s, oid, 'EXECUTE')", [f"{role}_login"])}
    more = {"app": APPLICATION, "operator": PEOPLES, "retention": {"purge"}, "daemon": DAEMONS | {"in_part"}}
    assert held == PURE | more.get(role, set())


def test_a_stranger_reaches_nothing(root, connect, refused):
    assert root.execute("SELECT proname FROM pg_proc WHERE pronamespace = 'reconcile'::regnamespace"
                        " AND has_function_privilege('stranger', oid, 'EXECUTE')").fetchall() == []
    for table in WHOLE:
        with refused("42501"):
            connect("stranger").execute(f"SELECT FROM reconcile.{table}")
    with refused("42501"):
        connect("stranger").execute("SELECT reconcile.request('t', 'x')")


def test_definer_functions_are_sealed(root):
    """Owned by the owner role, with a fixed search path, not executable by everybody."""
    rows = root.execute(
        "SELECT proname, proconfig, proowner::regrole::text AS owner,"
        " has_function_privilege('stranger', oid, 'EXECUTE') AS open"
        " FROM pg_proc WHERE pronamespace = 'reconcile'::regnamespace AND prosecdef").fetchall()
    assert {row["proname"] for row in rows} == APPLICATION | PEOPLES | DAEMONS
    for row in rows:
        assert row["proconfig"] == ["search_path=reconcile, pg_temp"], row
        assert (row["owner"], row["open"]) == ("reconcile_owner", False)


def test_a_table_of_the_caller_does_not_get_in_between(call, connect):
    app = connect("app")
    app.execute("CREATE TEMP TABLE operations (operation_id text);"
                " CREATE TEMP TABLE operation_types (operation_type text);"
                " SET search_path = pg_temp, reconcile")
    assert call("request", operation_type="t", operation_id="shadow", on=app)["revision"] == 0
    assert call("start", operation_id="shadow", on=app)["status"] == "processing"


@pytest.mark.parametrize("role", ["operator", "auditor"])
def test_people_see_no_payload_and_no_stored_answer(connect, refused, role):
    person = connect(role)
    person.execute("SELECT operation_id, receipt_at FROM reconcile.content")
    person.execute("SELECT key, status, conflicts FROM reconcile.idempotency_records")
    for statement in ("SELECT payload FROM reconcile.content",
                      "SELECT receipt FROM reconcile.content",
                      "SELECT response_body FROM reconcile.idempotency_records",
                      "SELECT owner FROM reconcile.idempotency_records"):
        with refused("42501"):
            person.execute(statement)


@pytest.mark.parametrize("role", ["app", "operator", "auditor", "retention"])
@pytest.mark.parametrize("statement", [
    "UPDATE reconcile.operations SET status = 'confirmed'",
    "INSERT INTO reconcile.operations (operation_id, operation_type) VALUES ('x', 't')",
    "INSERT INTO reconcile.journal (operation_id, revision, actor, event, to_status)"
    " VALUES ('x', 0, 'operator:me', 'requested', 'pending')",
    "UPDATE reconcile.guards SET released_at = now()",
])
def test_only_the_daemon_writes_tables(connect, refused, role, statement):
    with refused("42501"):
        connect(role).execute(statement)


def test_the_daemon_deletes_nothing(connect, refused):
    for table in ("operations", "content", "journal", "outbox", "tallies"):
        with refused("42501"):
            connect("daemon").execute(f"DELETE FROM reconcile.{table}")


def test_retention_deletes_whole_operations(call, connect, one):
    call("request", operation_type="t", operation_id="old", payload="1")
    retention = connect("retention")
    for table, key in (("operations", "operation_id"), ("content", "operation_id"),
                       ("journal", "operation_id"), ("outbox", "aggregateid")):
        assert retention.execute(f"DELETE FROM reconcile.{table} WHERE {key} = 'old'").rowcount == 1
    retention.execute("INSERT INTO reconcile.tombstones (operation_id, status)"
                      " VALUES ('old', 'confirmed')")
    assert one("SELECT FROM reconcile.operations WHERE operation_id = 'old'") is None


def test_the_daemon_reads_the_views(connect):
    for role in ("daemon", "operator", "auditor"):
        connect(role).execute("SELECT * FROM reconcile.exceptions")
        connect(role).execute("SELECT * FROM reconcile.overview")
