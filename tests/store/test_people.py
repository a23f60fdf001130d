# SPDX-License-Identifier: Apache-2.0
"""What people say about types and guards: pause, resume, release_guard."""

import pytest


@pytest.fixture(autouse=True)
def kind(root):
    root.execute("INSERT INTO reconcile.operation_types (operation_type, target, policy)"
                 " VALUES ('job', 'crm', 'd') ON CONFLICT (operation_type) DO UPDATE"
                 " SET paused = false, paused_at = NULL, paused_by = NULL, pause_reason = NULL")


@pytest.fixture
def operator(connect):
    return connect("operator")


def says(connection, function, *arguments):
    places = ", ".join(["%s"] * len(arguments))
    return connection.execute(f"SELECT * FROM reconcile.{function}({places})",
                              arguments).fetchone()


def test_pause_and_resume_tell_who_and_why(operator, root):
    row = says(operator, "pause", "job", "the CRM is being moved")
    assert (row["paused"], row["paused_by"], row["pause_reason"]) == \
        (True, "operator:operator_login", "the CRM is being moved")
    again = says(root, "pause", "job", "me too")
    assert again == row  # the first one stays
    row = says(operator, "resume", "job", "moved")
    assert (row["paused"], row["pause_reason"]) == (False, "moved")
    assert row["paused_at"] > again["paused_at"]
    assert says(operator, "resume", "job", "once more") == row


def test_resume_wakes_the_daemon(operator, root):
    says(operator, "pause", "job", "r")
    root.execute("LISTEN reconciled")
    says(operator, "resume", "job", "r")
    notify = next(root.notifies())
    assert (notify.channel, notify.payload) == ("reconciled", "job")
    root.execute("UNLISTEN *")


@pytest.mark.parametrize("function", ["pause", "resume"])
def test_unknown_types_and_missing_reasons(operator, refused, function):
    with refused("RC404"):
        says(operator, function, "nobody", "r")
    for reason in (None, "", " \t\n", "x" * 2001):
        with refused("RC400"):
            says(operator, function, "job", reason)


def test_only_a_tripped_guard_is_released(operator, root, refused):
    with refused("RC404"):
        says(operator, "release_guard", "type", "job", 1, "r")
    root.execute("INSERT INTO reconcile.guards (kind, name, reason) VALUES ('type', 'job', 'max')")
    with refused("RC404"):
        says(operator, "release_guard", "rewind", "job", 1, "r")
    with refused("RC400"):
        says(operator, "release_guard", "type", "job", -1, "r")
    with refused("RC400"):
        says(operator, "release_guard", "type", "job", 1, "")
    row = says(operator, "release_guard", "type", "job", 0, "r")
    assert (row["action_limit"], row["released_by"]) == (0, "operator:operator_login")
    with refused("RC404"):
        says(operator, "release_guard", "type", "job", 1, "r")


def test_a_guard_is_tripped_once(connect, root):
    """Two at the same moment: one row, and no error."""
    trip = "SELECT reconcile.trip_guard('type', 'twice', 'max', 1, NULL)"
    first, second = connect("superuser", autocommit=False), connect("superuser")
    first.execute(trip)
    second.execute("SET statement_timeout = '5s'")
    first.commit()
    second.execute(trip)
    assert root.execute("SELECT count(*) AS n FROM reconcile.guards"
                        " WHERE name = 'twice'").fetchone()["n"] == 1


@pytest.mark.parametrize("role", ["app", "daemon", "auditor", "retention"])
@pytest.mark.parametrize("call", ["pause('job', 'r')", "resume('job', 'r')",
                                  "release_guard('type', 'job', 1, 'r')"])
def test_nobody_else_may(connect, refused, role, call):
    with refused("42501"):
        connect(role).execute(f"SELECT reconcile.{call}")


@pytest.mark.parametrize("call", ["pause('job', 'r')", "resume('job', 'r')"])
def test_the_owner_may(root, call):
    with root.transaction():
        root.execute("SET LOCAL ROLE reconcile_owner")
        root.execute(f"SELECT reconcile.{call}")


def test_a_tripped_guard_shows_among_the_exceptions(root, operator):
    root.execute("INSERT INTO reconcile.guards (kind, name, reason, count, share)"
                 " VALUES ('type', 'seen', 'share', 12, 0.75)")
    row = operator.execute("SELECT * FROM reconcile.exceptions WHERE kind = 'guard'"
                           " AND operation_type = 'seen'").fetchone()
    assert (row["reason"], row["count"], row["evidence"]["share"]) == ("share", 12, 0.75)
