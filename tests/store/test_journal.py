# SPDX-License-Identifier: Apache-2.0
"""The journal is append-only, for each role and for whoever owns it."""

import pytest

CHANGES = {
    "update": "UPDATE reconcile.journal SET event = 'forged'",
    "evidence": "UPDATE reconcile.journal SET evidence = NULL",
    "delete": "DELETE FROM reconcile.journal",
    "truncate": "TRUNCATE reconcile.journal",
}


@pytest.fixture
def row(root):
    root.execute("INSERT INTO reconcile.journal (operation_id, revision, actor, event, to_status,"
                 " evidence) VALUES ('j', 0, 'app:x', 'requested', 'pending', '{}')"
                 " ON CONFLICT DO NOTHING")


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("role", ["app", "daemon", "operator", "auditor", "stranger",
                                  "superuser", "migrator"])
def test_nobody_changes_the_journal(connect, cluster, database, refused, row, one, role, change):
    if role == "migrator":
        with cluster.connect(database, "migrator") as connection, refused("42501"):
            connection.execute(CHANGES[change])
    else:
        with refused("42501"):
            connect(role).execute(CHANGES[change])
    assert one("SELECT event, evidence FROM reconcile.journal WHERE operation_id = 'j'") == \
        {"event": "requested", "evidence": "{}"}


@pytest.mark.parametrize("change", CHANGES)
def test_the_owner_does_not_either(root, refused, row, change):
    with root.transaction(force_rollback=True):
        root.execute("SET LOCAL ROLE reconcile_owner")
        with refused("42501") as refusal:
            root.execute(CHANGES[change])
    assert "append-only" in refusal.message


def test_the_daemon_inserts_and_selects(connect):
    daemon = connect("daemon")
    daemon.execute("INSERT INTO reconcile.journal (operation_id, revision, actor, event,"
                   " to_status) VALUES ('d', 0, 'reconciled:a', 'requested', 'pending')")
    assert daemon.execute("SELECT count(*) AS n FROM reconcile.journal"
                          " WHERE operation_id = 'd'").fetchone()["n"] == 1


def test_one_row_for_each_revision(connect, row, refused):
    with refused("23505"):
        connect("daemon").execute(
            "INSERT INTO reconcile.journal (operation_id, revision, actor, event, to_status)"
            " VALUES ('j', 0, 'reconciled:a', 'requested', 'pending')")


def test_retention_blanks_evidence_and_nothing_else(connect, row, refused, one):
    retention = connect("retention")
    with refused("42501"):
        retention.execute(CHANGES["update"])
    with refused("42501"):
        retention.execute(CHANGES["truncate"])
    retention.execute("UPDATE reconcile.journal SET evidence = '{\"erased\":true}'"
                      " WHERE operation_id = 'j'")
    assert one("SELECT evidence FROM reconcile.journal WHERE operation_id = 'j'")["evidence"] == \
        '{"erased":true}'


def test_retention_as_a_role_taken_by_a_superuser_changes_evidence_only(root, row, refused):
    """The trigger itself, where no right on the columns stands before it."""
    root.execute("GRANT UPDATE ON reconcile.journal TO reconcile_retention")
    with root.transaction(force_rollback=True):
        root.execute("SET LOCAL ROLE reconcile_retention")
        with refused("42501"):
            root.execute("UPDATE reconcile.journal SET event = 'forged', evidence = NULL")
    root.execute("REVOKE UPDATE ON reconcile.journal FROM reconcile_retention;"
                 " GRANT UPDATE (evidence) ON reconcile.journal TO reconcile_retention")


def test_retention_deletes(connect, row, one):
    connect("retention").execute("DELETE FROM reconcile.journal WHERE operation_id = 'j'")
    assert one("SELECT FROM reconcile.journal WHERE operation_id = 'j'") is None
