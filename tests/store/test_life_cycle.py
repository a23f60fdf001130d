# SPDX-License-Identifier: Apache-2.0
"""The trigger behind the life cycle: every pair of states, one by one."""

import pytest

STATES = ("pending", "processing", "awaiting_confirmation", "retry_scheduled", "manual_review",
          "compensating", "confirmed", "compensated", "not_applicable")
FINAL = ("confirmed", "compensated", "not_applicable")

# Written by hand from the table of the life cycle. A state may always be written again.
LEGAL = {
    "pending": "processing confirmed manual_review not_applicable",
    "processing": "awaiting_confirmation retry_scheduled confirmed manual_review compensating"
                  " not_applicable",
    "awaiting_confirmation": "retry_scheduled confirmed manual_review compensating"
                             " not_applicable",
    "retry_scheduled": "processing confirmed manual_review compensating not_applicable",
    "manual_review": "awaiting_confirmation retry_scheduled confirmed compensating"
                     " not_applicable",
    "compensating": "compensated manual_review not_applicable",
    "confirmed": "manual_review awaiting_confirmation",
    "compensated": "manual_review awaiting_confirmation",
    "not_applicable": "manual_review awaiting_confirmation",
}


def arrange(root, operation_id, status):
    """A row in any state, which no function would make at once."""
    root.execute("ALTER TABLE reconcile.operations DISABLE TRIGGER USER")
    root.execute("INSERT INTO reconcile.operations (operation_id, operation_type, status,"
                 " closed_at) VALUES (%s, 't', %s, CASE WHEN %s THEN clock_timestamp() END)",
                 [operation_id, status, status in FINAL])
    root.execute("ALTER TABLE reconcile.operations ENABLE TRIGGER USER")


def move(connection, operation_id, status):
    connection.execute("UPDATE reconcile.operations SET status = %s, closed_at = CASE WHEN %s"
                       " THEN clock_timestamp() END WHERE operation_id = %s",
                       [status, status in FINAL, operation_id])


@pytest.mark.parametrize("old", STATES)
@pytest.mark.parametrize("new", STATES)
def test_pair(connect, root, refused, old, new):
    """As the daemon's role, which writes the table itself; a superuser is refused as well."""
    arrange(root, f"{old}-{new}", old)
    if new == old or new in LEGAL[old].split():
        move(connect("daemon"), f"{old}-{new}", new)
        return
    for connection in (connect("daemon"), root):
        with refused("RC422") as refusal:
            move(connection, f"{old}-{new}", new)
        assert f"cannot change from {old} to {new}" in refusal.message
    assert root.execute("SELECT status FROM reconcile.operations WHERE operation_id = %s",
                        [f"{old}-{new}"]).fetchone()["status"] == old


@pytest.mark.parametrize("status", STATES)
def test_first_status(connect, refused, status):
    """A row begins as pending, or as awaiting_confirmation if something was sent."""
    def insert(sent):
        connect("daemon").execute(
            "INSERT INTO reconcile.operations (operation_id, operation_type, status, sent_at,"
            " closed_at) VALUES (%s, 't', %s, CASE WHEN %s THEN clock_timestamp() END,"
            " CASE WHEN %s THEN clock_timestamp() END)",
            [f"begin-{status}-{sent}", status, sent, status in FINAL])

    for sent in (False, True):
        if status == "pending" or (status == "awaiting_confirmation" and sent):
            insert(sent)
            continue
        with refused("RC422"):
            insert(sent)


def test_an_unknown_status_is_refused(root, connect, refused):
    arrange(root, "odd", "pending")
    with refused("RC422"):
        move(connect("daemon"), "odd", "done")


@pytest.mark.parametrize("status", FINAL)
def test_final_states_bear_their_time(root, connect, refused, status):
    arrange(root, f"time-{status}", "manual_review" if status != "compensated" else "compensating")
    with refused("23514"):
        connect("daemon").execute("UPDATE reconcile.operations SET status = %s"
                                  " WHERE operation_id = %s", [status, f"time-{status}"])


def test_the_function_knows_the_same_pairs(root):
    for old in STATES:
        for new in STATES:
            known = root.execute("SELECT reconcile.lifecycle_ok(%s, %s) AS ok",
                                 [old, new]).fetchone()["ok"]
            assert known == (old == new or new in LEGAL[old].split()), (old, new)
