# SPDX-License-Identifier: Apache-2.0
"""Two at once, and whose clock counts."""

import time

import pytest


@pytest.fixture
def wait_for_lock(root):
    """Returns when some session of this database waits for a lock."""
    def wait():
        for _ in range(1000):
            if root.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                            " AND datname = current_database()").fetchone():
                return
            time.sleep(0.01)
        raise AssertionError("nobody waits")
    return wait


def attempt(function):
    """(row, None) or (None, SQLSTATE)."""
    try:
        return function(), None
    except Exception as error:  # compared by the caller
        return None, error.sqlstate


def test_two_starts_at_once_one_wins(call, connect, background, wait_for_lock, journal):
    call("request", operation_type="job", operation_id="two")
    first, second = connect("app", autocommit=False), connect("app")
    assert call("start", operation_id="two", worker="w1", on=first)["attempts"] == 1
    task = background(lambda: attempt(lambda: call("start", operation_id="two", on=second)))
    wait_for_lock()
    first.commit()
    assert task.result() == (None, "RC422")
    assert [row["event"] for row in journal("two")] == ["requested", "started"]


def test_the_second_start_goes_on_when_the_first_rolls_back(call, connect, background,
                                                            wait_for_lock):
    call("request", operation_type="job", operation_id="back")
    first, second = connect("app", autocommit=False), connect("app")
    call("start", operation_id="back", on=first)
    task = background(lambda: call("start", operation_id="back", worker="w2", on=second))
    wait_for_lock()
    first.rollback()
    assert task.result()["attempts"] == 1


def test_two_requests_at_once_are_one(call, connect, background, wait_for_lock, journal, events):
    first, second = connect("app", autocommit=False), connect("app")
    call("request", operation_type="job", operation_id="req", payload='{"a":1}', on=first)
    task = background(lambda: call("request", operation_type="job", operation_id="req",
                                   payload='{"a":1.0}', on=second))
    wait_for_lock()
    first.commit()
    assert task.result()["revision"] == 0
    assert len(journal("req")) == 1 and events("req") == ["operation.requested"]


def test_two_requests_at_once_with_other_payload_conflict(call, connect, background,
                                                          wait_for_lock):
    first, second = connect("app", autocommit=False), connect("app")
    call("request", operation_type="job", operation_id="req2", payload='{"a":1}', on=first)
    task = background(lambda: attempt(lambda: call(
        "request", operation_type="job", operation_id="req2", payload='{"a":2}', on=second)))
    wait_for_lock()
    first.commit()
    assert task.result() == (None, "RC409")


def test_a_request_in_a_stricter_isolation_is_told_to_repeat(call, connect, background,
                                                             wait_for_lock):
    first, second = connect("app", autocommit=False), connect("app")
    second.execute("SET default_transaction_isolation = 'repeatable read'")
    call("request", operation_type="job", operation_id="req3", on=first)
    task = background(lambda: attempt(lambda: call(
        "request", operation_type="job", operation_id="req3", on=second)))
    wait_for_lock()
    first.commit()
    assert task.result() == (None, "40001")
    assert call("request", operation_type="job", operation_id="req3", on=second)["revision"] == 0


def test_confirm_and_reject_at_once(call, connect, background, wait_for_lock, journal, events):
    call("request", operation_type="job", operation_id="both")
    call("start", operation_id="both")
    call("sent", operation_id="both")
    first, second = connect("app", autocommit=False), connect("app")
    call("confirm", operation_id="both", on=first)
    task = background(lambda: attempt(lambda: call("reject", operation_id="both", on=second)))
    wait_for_lock()
    first.commit()
    assert task.result() == (None, "RC422")
    assert journal("both")[-1]["to_status"] == "confirmed"
    assert events("both") == ["operation.requested", "operation.confirmed"]


def test_q03_the_clock_is_read_after_the_lock(call, connect, background, wait_for_lock, one):
    """A start that waits longer than its lease does not begin with a lease that is over."""
    call("request", operation_type="job", operation_id="slow")
    holder, worker = connect("superuser", autocommit=False), connect("app")
    holder.execute("SELECT FROM reconcile.operations WHERE operation_id = 'slow' FOR UPDATE")
    task = background(lambda: call("start", operation_id="slow", lease="2 s", on=worker))
    wait_for_lock()
    time.sleep(2.2)
    released = one("SELECT clock_timestamp() AS at")["at"]
    holder.commit()
    row = task.result()
    assert row["sent_at"] >= released
    assert (row["attempt_until"] - row["sent_at"]).total_seconds() == 2


@pytest.mark.parametrize("function", ["start", "claim"])
def test_q03_now_stands_still_in_a_transaction_but_leases_do_not(call, connect, function, one):
    """now() is the beginning of the transaction; the lease counts from the statement."""
    call("request", operation_type=f"late-{function}", operation_id=f"late-{function}")
    app = connect("app", autocommit=False)
    began = app.execute("SELECT now() AS at").fetchone()["at"]
    time.sleep(0.3)
    called = one("SELECT clock_timestamp() AS at")["at"]
    if function == "start":
        row = call("start", operation_id="late-start", lease="60 s", on=app)
    else:
        row = call("claim", operation_types=["late-claim"], lease="60 s", on=app)
    app.commit()
    assert row["sent_at"] >= called > began
    assert (row["attempt_until"] - row["sent_at"]).total_seconds() == 60


def test_q03_a_request_bears_the_time_of_its_statement(call, connect, one):
    app = connect("app", autocommit=False)
    app.execute("SELECT now()")
    time.sleep(0.2)
    called = one("SELECT clock_timestamp() AS at")["at"]
    row = call("request", operation_type="job", operation_id="stamp", on=app)
    app.commit()
    assert row["created_at"] >= called


def test_sent_after_the_commit_of_start_in_a_transaction_of_its_own(call, connect):
    call("request", operation_type="job", operation_id="apart")
    app = connect("app", autocommit=False)
    call("start", operation_id="apart", on=app)
    app.commit()
    assert call("sent", operation_id="apart", on=app)["status"] == "awaiting_confirmation"
    app.commit()


def test_a_verdict_of_an_old_revision_finds_no_row(call, connect):
    """What the daemon's statement relies on: every change of a function moves the revision."""
    revision = call("request", operation_type="job", operation_id="stale")["revision"]
    for function, arguments in (("start", {}), ("extend", {}), ("sent", {}),
                                ("receipt", {"receipt": "r"}), ("cancel", {}),
                                ("confirm", {})):
        row = call(function, operation_id="stale", **arguments)
        assert row["revision"] == revision + 1, function
        done = connect("daemon").execute(
            "UPDATE reconcile.operations SET checks = checks + 1"
            " WHERE operation_id = 'stale' AND revision = %s", [revision])
        assert done.rowcount == 0
        revision = row["revision"]
