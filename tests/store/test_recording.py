# SPDX-License-Identifier: Apache-2.0
"""What of a batch is written: paused types, other policies, late answers, requeue, and a database
that was restored."""

import json

import pytest
from statements import record

REQUEUE = {"to_status": "retry_scheduled", "class": "missing", "reason": "absent_confirmed",
           "event": "requeued", "event_type": "operation.requeued", "tally_class": "missing",
           "journal_class": "missing", "journal_reason": "absent_confirmed",
           "tally_action": "requeue", "action": "requeue", "requeue": True,
           "next_attempt_in": 30_000_000, "due_in": 330_000_000}
CONFIRM = {"to_status": "confirmed", "class": "correct", "reason": "fields_equal",
           "closed_reason": "fields_equal", "event": "confirmed", "tally_class": "correct",
           "event_type": "operation.confirmed", "journal_class": "correct",
           "journal_reason": "fields_equal", "tally_action": "confirm", "action": "confirm"}
JUDGED = {"to_status": "awaiting_confirmation", "class": "missing", "reason": "absent_confirmed",
          "event": "judged", "tally_class": "missing", "journal_class": "missing",
          "journal_reason": "absent_confirmed", "tally_action": "wait", "due_in": 60_000_000}
COUNTED = {"changed": False, "to_status": "awaiting_confirmation", "tally_class": "waiting",
           "journal_class": "waiting", "journal_reason": "too_early", "tally_action": "wait",
           "due_in": 60_000_000}


@pytest.fixture(autouse=True)
def types(root):
    for name, policy, paused in (("job", "d", False), ("resting", "d", True)):
        root.execute("INSERT INTO reconcile.operation_types (operation_type, target, policy, mode,"
                     " paused, guard_max, guard_share) VALUES (%s, 'crm', %s, 'enforce', %s, 100, 1)"
                     " ON CONFLICT DO NOTHING", [name, policy, paused])


@pytest.fixture
def sent(call):
    """An operation that was sent; its row."""

    def make(name, kind="job", **fields):
        call("request", operation_type=kind, operation_id=name, **fields)
        call("start", operation_id=name)
        return call("sent", operation_id=name)

    return make


@pytest.fixture
def recorded(connect):
    def one(row, *parts, **more):
        look = {"operation_id": row["operation_id"], "operation_type": row["operation_type"],
                "revision": row["revision"], "checks": row["checks"], "changed": True,
                "from_status": row["status"], "due_was": row["due_at"], "policy": "d"}
        for part in (*parts, more):
            look.update(part)
        return record(connect("daemon"), [look])[0][0]

    return one


@pytest.mark.parametrize("kind,policy", [("resting", "d"), ("job", "old")])
def test_paused_or_judged_by_another_policy_only_confirms(sent, recorded, one, kind, policy):
    name = f"{kind}-{policy}"
    row = sent(name, kind)
    for what in (REQUEUE, JUDGED, COUNTED):
        assert recorded(row, what, policy=policy) == "stale"
    assert one("SELECT status, checks, revision FROM reconcile.operations WHERE operation_id = %s",
               name) == {"status": "awaiting_confirmation", "checks": 0, "revision": 2}
    assert recorded(row, CONFIRM, policy=policy) == "done"


def test_without_a_published_policy_everything_is_written(sent, recorded):
    assert recorded(sent("np1", "unpublished"), JUDGED, policy="any") == "done"


def test_an_answer_that_is_too_old_is_not_acted_upon(sent, recorded, one):
    row = sent("late1")
    now = one("SELECT clock_timestamp() AS now")["now"]
    assert recorded(row, REQUEUE, not_after=now) == "late"
    assert one("SELECT status, checks, requeues FROM reconcile.operations"
               " WHERE operation_id = 'late1'") == \
        {"status": "awaiting_confirmation", "checks": 0, "requeues": 0}
    later = one("SELECT clock_timestamp() + interval '1 min' AS at")["at"]
    assert recorded(row, REQUEUE, not_after=later) == "done"


def test_late_draws_nothing(sent, recorded, one):
    root_before = one("SELECT coalesce(sum(used), 0) AS n FROM reconcile.budgets")["n"]
    row = sent("late2")
    now = one("SELECT clock_timestamp() AS now")["now"]
    assert recorded(row, REQUEUE, not_after=now, guarded=True) == "late"
    assert one("SELECT coalesce(sum(used), 0) AS n FROM reconcile.budgets")["n"] == root_before


def test_requeue_hands_out_the_same_key_and_payload(sent, recorded, one, call, app, journal, events):
    payload = '{"amount": 1.10,  "b": 1, "note": "two  spaces"}'
    row = sent("rq1", idempotency_key="k-77", payload=payload)
    assert recorded(row, REQUEUE, guarded=True) == "done"
    o = one("SELECT *, round(extract(epoch FROM next_attempt_at - updated_at)) AS waits,"
            " round(extract(epoch FROM due_at - updated_at)) AS due"
            " FROM reconcile.operations WHERE operation_id = 'rq1'")
    assert (o["status"], o["requeues"], o["attempts"], o["attempt_until"], o["waits"], o["due"]) == \
        ("retry_scheduled", 1, 1, None, 30, 330)
    assert journal("rq1")[-1]["action"] == "requeue"
    assert events("rq1") == ["operation.requested", "operation.requeued"]
    assert call("claim", operation_types=["job"]) is None  # its time has not come
    with app.transaction():
        one("UPDATE reconcile.operations SET next_attempt_at = clock_timestamp()"
            " WHERE operation_id = 'rq1' RETURNING 1")
    again = call("claim", operation_types=["job"])
    assert (again["operation_id"], again["idempotency_key"], again["attempts"]) == \
        ("rq1", "k-77", 2)
    assert app.execute("SELECT payload::text AS text FROM reconcile.content"
                       " WHERE operation_id = 'rq1'").fetchone()["text"] == payload


def test_requeue_ends_an_attempt_that_is_over(call, recorded, one):
    call("request", operation_type="job", operation_id="rq2")
    row = call("start", operation_id="rq2", lease="0 s")
    assert recorded(row, REQUEUE) == "done"
    assert one("SELECT attempt_until FROM reconcile.operations WHERE operation_id = 'rq2'") == \
        {"attempt_until": None}


ANNOUNCED = {"to_status": "pending", "reason": "never_sent", "event": "announced",
             "event_type": "operation.requested", "announces": True, "tally_class": "waiting",
             "journal_class": "waiting", "journal_reason": "never_sent", "tally_action": "wait",
             "action": "wait", "due_in": 300_000_000}


def test_an_announcement_is_counted_and_is_an_event_of_its_own(call, recorded, one, journal, events):
    row = call("request", operation_type="job", operation_id="an1")
    for times in (1, 2):
        assert recorded(row, ANNOUNCED) == "done"
        row = one("SELECT *, announced_at = updated_at AS now FROM reconcile.operations"
                  " WHERE operation_id = 'an1'")
        assert (row["status"], row["announcements"], row["now"]) == ("pending", times, True)
    assert recorded(row, {**ANNOUNCED, "event": "judged", "event_type": None, "announces": False}) \
        == "done"
    assert one("SELECT announcements FROM reconcile.operations WHERE operation_id = 'an1'") == \
        {"announcements": 2}
    assert [line["event"] for line in journal("an1")] == ["requested", "announced", "announced",
                                                          "judged"]
    assert events("an1") == ["operation.requested"] * 3
    assert call("claim", operation_types=["job"])["operation_id"] == "an1"


def test_postponed_and_suspicion(sent, recorded, one, root):
    row = sent("po1")
    root.execute("UPDATE reconcile.operations SET suspect = 3 WHERE operation_id = 'po1'")
    assert recorded(row, COUNTED, postponed=2) == "done"
    assert one("SELECT postponed, suspect FROM reconcile.operations WHERE operation_id = 'po1'") \
        == {"postponed": 2, "suspect": 0}


@pytest.mark.parametrize("verdict,reason,cleared", [
    ("missing", "absent_confirmed", True), ("correct", "fields_equal", True),
    ("divergent", "field_differs", True), ("ambiguous", "several_at_target", True),
    ("not_applicable", "judged", True), ("waiting", "never_sent", True),
    ("waiting", "too_early", False), ("waiting", "absent_unconfirmed", False),
    ("inconclusive", "timeout", False)])
def test_look_first_ends_with_a_verdict(call, recorded, root, one, verdict, reason, cleared):
    name = f"lf-{verdict}-{reason}"
    row = call("request", operation_type="job", operation_id=name)
    root.execute("UPDATE reconcile.operations SET look_first = true WHERE operation_id = %s", [name])
    assert recorded(row, COUNTED, to_status="pending", tally_class=verdict, journal_class=verdict,
                    journal_reason=reason) == "done"
    assert one("SELECT look_first FROM reconcile.operations WHERE operation_id = %s", name) == \
        {"look_first": not cleared}


def test_after_a_rewind_nothing_starts_before_a_look(call, connect, root, refused, recorded, one):
    """Every operation that a worker could take, whether it was ever started here or not."""
    for name in ("rw-new", "rw-again", "rw-sent"):
        call("request", operation_type="rewound", operation_id=name)
    call("start", operation_id="rw-again")
    call("retry", operation_id="rw-again", delay="0 s")
    call("start", operation_id="rw-sent")
    root.execute("INSERT INTO reconcile.guards (kind, name, reason)"
                 " VALUES ('rewind', 'database', 'beats')")
    for operation in ("start", "claim"):
        with refused("RC422"):
            call(operation, **({"operation_id": "rw-new"} if operation == "start"
                               else {"operation_types": ["rewound"]}))
    connect("operator").execute("SELECT reconcile.release_guard('rewind', 'database', 0, 'restored')")
    assert [tuple(row.values()) for row in root.execute(
        "SELECT operation_id, look_first, due_at <= clock_timestamp() FROM reconcile.operations"
        " WHERE operation_type = 'rewound' ORDER BY 1")] == [
        ("rw-again", True, True), ("rw-new", True, True), ("rw-sent", False, False)]
    with refused("RC422") as block:
        call("start", operation_id="rw-new")
    assert "look at the target" in block.message
    assert call("claim", operation_types=["rewound"]) is None
    row = one("SELECT * FROM reconcile.operations WHERE operation_id = 'rw-new'")
    recorded(row, COUNTED, to_status="pending", journal_reason="never_sent")
    assert call("claim", operation_types=["rewound"])["operation_id"] == "rw-new"
    assert json.loads(one("SELECT evidence FROM reconcile.journal WHERE operation_id = 'rw-new'"
                          " ORDER BY revision DESC LIMIT 1")["evidence"])["attempt"] == 1
