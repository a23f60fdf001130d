# SPDX-License-Identifier: Apache-2.0
"""What workers do: start, extend, sent, confirm, reject, retry. Every transition they can make,
every one that is refused, and how the times move."""

import datetime
import json

import pytest

MINUTE = datetime.timedelta(minutes=1)
OPEN = ("pending", "processing", "awaiting_confirmation", "retry_scheduled", "manual_review",
        "compensating")
FINAL = ("confirmed", "compensated", "not_applicable")


@pytest.fixture(autouse=True)
def types(root):
    root.execute("INSERT INTO reconcile.operation_types (operation_type, target, policy, mode,"
                 " latency_window, attempts_max, attempts_delay, attempts_factor, key_valid,"
                 " verify_after, verify_share) VALUES"
                 " ('job', 'crm', 'd', 'enforce', '2 min', 3, '10 s', 3, NULL, NULL, 1),"
                 " ('keyed', 'crm', 'd', 'enforce', '2 min', 3, '0 s', 1, '30 min', NULL, 1),"
                 " ('verified', 'crm', 'd', 'enforce', '2 min', 3, '0 s', 1, NULL, '10 min', 1),"
                 " ('unverified', 'crm', 'd', 'enforce', '2 min', 3, '0 s', 1, NULL, '1 h', 0),"
                 " ('observed', 'crm', 'd', 'observe', '2 min', 3, '0 s', 1, NULL, NULL, 1)"
                 " ON CONFLICT DO NOTHING")


@pytest.fixture
def put(call, root):
    """An operation in any state, by the functions as far as they lead; attempt 1 was begun."""
    def at(name, status, kind="job", **columns):
        call("request", operation_type=kind, operation_id=name)
        if status != "pending":
            call("start", operation_id=name)
        if status not in ("pending", "processing", "retry_scheduled"):
            call("sent", operation_id=name)
        if status == "retry_scheduled":
            call("retry", operation_id=name, delay="0 s")
        path = {"manual_review": ["manual_review"], "compensating": ["compensating"],
                "compensated": ["compensating", "compensated"], "confirmed": ["confirmed"],
                "not_applicable": ["not_applicable"]}.get(status, [])
        for step in path:
            columns_of(name, status=step, due_at=None,
                       closed_at="now" if step in FINAL else None)
        if columns:
            columns_of(name, **columns)

    def columns_of(name, **columns):
        root.execute("UPDATE reconcile.operations SET "
                     + ", ".join(f"{column} = %s" for column in columns)
                     + " WHERE operation_id = %s", [*columns.values(), name])
    return at


# start ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("status", ["pending", "retry_scheduled"])
def test_start(put, call, journal, events, status):
    put(f"s-{status}", status, absences=2, absent_since="2026-01-01T00:00Z", inconclusive=4,
        earning="missing")
    first_sent_at = None if status == "pending" else \
        call("request", operation_type="job", operation_id=f"s-{status}")["first_sent_at"]
    row = call("start", operation_id=f"s-{status}", worker="w1", lease="3 min", request_ref="q1",
               traceparent="00-2")
    assert (row["status"], row["attempts"]) == ("processing", 1 if status == "pending" else 2)
    assert row["sent_at"] == row["updated_at"]
    assert row["first_sent_at"] == (first_sent_at or row["sent_at"])
    assert row["attempt_until"] - row["sent_at"] == 3 * MINUTE
    assert row["due_at"] - row["attempt_until"] == 2 * MINUTE
    assert row["next_attempt_at"] is None
    assert (row["absences"], row["absent_since"], row["inconclusive"], row["earning"]) == \
        (0, None, 0, None)
    last = journal(f"s-{status}")[-1]
    assert (last["event"], last["from_status"], last["to_status"]) == \
        ("started", status, "processing")
    evidence = json.loads(last["evidence"])
    assert evidence.pop("lease_until").endswith("Z")
    assert evidence == {"attempt": row["attempts"], "worker": "w1", "request_ref": "q1",
                        "traceparent": "00-2"}
    assert events(f"s-{status}") == ["operation.requested"]


@pytest.mark.parametrize("status", [s for s in OPEN + FINAL
                                    if s not in ("pending", "retry_scheduled")])
def test_start_is_refused(put, call, refused, status):
    put(f"sr-{status}", status)
    with refused("RC422"):
        call("start", operation_id=f"sr-{status}")


def test_start_waits_for_the_next_attempt(put, call, refused):
    put("s-early", "retry_scheduled", next_attempt_at="2999-01-01T00:00Z")
    with refused("RC422"):
        call("start", operation_id="s-early")


def test_start_names_a_revision(put, call, refused):
    put("s-rev", "pending")
    with refused("RC409"):
        call("start", operation_id="s-rev", revision=1)
    assert call("start", operation_id="s-rev", revision=0)["status"] == "processing"


@pytest.mark.parametrize("lease", [None, "-1 s", "1 day 1 s", "2 days"])
def test_a_lease_is_at_most_a_day(put, call, refused, lease):
    name = f"s-lease-{lease}".replace(" ", "_")
    put(name, "pending")
    with refused("RC400"):
        call("start", operation_id=name, lease=lease)


@pytest.mark.parametrize("lease,seconds", [("1 day", 86400), ("0 s", 0)])
def test_a_lease_is_elapsed_time(connect, put, call, lease, seconds):
    """Also over the night of 2026-03-29 in Berlin, when a day has 23 hours."""
    app = connect("app")
    app.execute("SET timezone = 'Europe/Berlin'")
    put(f"s-day-{seconds}", "pending")
    row = call("start", operation_id=f"s-day-{seconds}", lease=lease, on=app)
    assert (row["attempt_until"] - row["sent_at"]).total_seconds() == seconds


def test_a_day_has_24_hours_in_every_time_zone(root):
    root.execute("SET timezone = 'Europe/Berlin'")
    row = root.execute("SELECT '2026-03-28 12:00+01'::timestamptz + reconcile.elapsed('1 day')"
                       " = '2026-03-29 12:00+01'::timestamptz AS same").fetchone()
    assert row["same"]


def test_a_key_that_would_not_outlive_the_lease_goes_to_review(put, call, journal, events, root):
    put("s-key", "retry_scheduled", kind="keyed")
    root.execute("UPDATE reconcile.operations SET first_sent_at = clock_timestamp() - interval"
                 " '26 min' WHERE operation_id = 's-key'")
    row = call("start", operation_id="s-key", lease="5 min")
    assert row == call("request", operation_type="keyed", operation_id="s-key")
    assert (row["status"], row["reason"], row["attempts"]) == ("manual_review", "key_expired", 1)
    assert journal("s-key")[-1]["action"] == "review"
    assert events("s-key") == ["operation.requested", "operation.review"]


def test_a_key_that_outlives_the_lease_starts(put, call, root):
    put("s-key2", "retry_scheduled", kind="keyed")
    root.execute("UPDATE reconcile.operations SET first_sent_at = clock_timestamp() - interval"
                 " '24 min' WHERE operation_id = 's-key2'")
    assert call("start", operation_id="s-key2", lease="5 min")["status"] == "processing"


def test_nothing_starts_while_the_rewind_guard_is_tripped(put, call, refused, root):
    put("s-rewind", "pending")
    root.execute("INSERT INTO reconcile.guards (kind, name, reason)"
                 " VALUES ('rewind', 'i1', 'beats went back')")
    try:
        with refused("RC422"):
            call("start", operation_id="s-rewind")
        with refused("RC422"):
            call("claim", operation_types=["job"])
    finally:
        root.execute("UPDATE reconcile.guards SET released_at = clock_timestamp()")
    assert call("start", operation_id="s-rewind")["status"] == "processing"


# extend -----------------------------------------------------------------------------------------

def test_extend(put, call, journal):
    put("x1", "processing")
    row = call("extend", operation_id="x1", attempt=1, lease="10 min")
    assert row["attempt_until"] - row["updated_at"] == 10 * MINUTE
    assert row["due_at"] - row["attempt_until"] == 2 * MINUTE
    assert row["sent_at"] < row["updated_at"]
    assert journal("x1")[-1]["event"] == "extended"


@pytest.mark.parametrize("status", [s for s in OPEN + FINAL if s != "processing"])
def test_extend_is_refused(put, call, refused, status):
    put(f"xr-{status}", status)
    with refused("RC422"):
        call("extend", operation_id=f"xr-{status}")


def test_who_overslept_its_lease_cannot_extend_it(put, call, refused):
    put("x2", "processing", attempt_until="2026-01-01T00:00Z")
    with refused("RC422"):
        call("extend", operation_id="x2")


def test_extend_does_not_outlive_the_key(put, call, refused, root):
    put("x3", "retry_scheduled", kind="keyed")
    call("start", operation_id="x3", lease="1 min")
    root.execute("UPDATE reconcile.operations SET first_sent_at = clock_timestamp() - interval"
                 " '26 min' WHERE operation_id = 'x3'")
    with refused("RC422"):
        call("extend", operation_id="x3", lease="5 min")
    assert call("extend", operation_id="x3", lease="2 min")["status"] == "processing"


# sent -------------------------------------------------------------------------------------------

def test_sent(put, call, journal, events):
    put("t1", "processing", absences=1, absent_since="2026-01-01T00:00Z", inconclusive=2)
    row = call("sent", operation_id="t1", attempt=1, request_ref="q", remote_id="r1")
    assert (row["status"], row["remote_id"], row["attempt_until"]) == \
        ("awaiting_confirmation", "r1", None)
    assert row["sent_at"] == row["updated_at"] > row["first_sent_at"]
    assert row["due_at"] - row["sent_at"] == 2 * MINUTE
    assert (row["absences"], row["absent_since"], row["inconclusive"]) == (0, None, 0)
    last = journal("t1")[-1]
    assert (last["event"], last["evidence"]) == ("sent", '{"attempt":1,"request_ref":"q"}')
    assert events("t1") == ["operation.requested"]


@pytest.mark.parametrize("status", [s for s in OPEN + FINAL if s != "processing"])
def test_sent_is_refused(put, call, refused, status):
    put(f"tr-{status}", status)
    with refused("RC422"):
        call("sent", operation_id=f"tr-{status}")


@pytest.mark.parametrize("first", ["start", "claim"])
def test_sent_is_refused_in_the_transaction_of_its_start(put, call, app, refused, first):
    put(f"t2-{first}", "pending", kind="job" if first == "start" else "unverified")
    with refused("RC422") as refusal, app.transaction():
        if first == "start":
            call("start", operation_id=f"t2-{first}")
        else:
            assert call("claim", operation_types=["unverified"])["operation_id"] == "t2-claim"
        call("sent", operation_id=f"t2-{first}")
    assert "commit" in refusal.message
    call("start", operation_id=f"t2-{first}")
    assert call("sent", operation_id=f"t2-{first}")["status"] == "awaiting_confirmation"


# confirm ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("status", ["processing", "awaiting_confirmation", "retry_scheduled",
                                    "manual_review"])
def test_confirm_also_late(put, call, journal, events, status):
    put(f"c-{status}", status)
    row = call("confirm", operation_id=f"c-{status}", remote_id="r1", evidence='{"status": 201}')
    assert (row["status"], row["class"], row["reason"], row["remote_id"]) == \
        ("confirmed", "correct", "validated_answer", "r1")
    assert row["closed_at"] == row["updated_at"]
    assert (row["due_at"], row["attempt_until"], row["next_attempt_at"]) == (None, None, None)
    last = journal(f"c-{status}")[-1]
    assert (last["event"], last["from_status"], last["to_status"], last["class"], last["action"]) \
        == ("confirmed", status, "confirmed", "correct", "confirm")
    assert json.loads(last["evidence"]) == {"attempt": 1, "status": 201}
    since = (row["closed_at"] - row["first_sent_at"]) / datetime.timedelta(milliseconds=1)
    assert abs(last["elapsed_ms"] - since) <= 0.5
    assert events(f"c-{status}") == ["operation.requested", "operation.confirmed"]


def test_confirm_of_what_never_began_is_refused(put, call, refused):
    put("c-pending", "pending")
    with refused("RC422"):
        call("confirm", operation_id="c-pending")


def test_confirm_while_compensating_stores_the_remote_id(put, call, journal, events):
    put("c-comp", "compensating")
    row = call("confirm", operation_id="c-comp", remote_id="r2")
    assert (row["status"], row["remote_id"], row["closed_at"]) == ("compensating", "r2", None)
    assert journal("c-comp")[-1]["to_status"] == "compensating"
    assert events("c-comp") == ["operation.requested"]


@pytest.mark.parametrize("status", ["compensated", "not_applicable"])
def test_a_late_effect_reopens_the_case(put, call, journal, events, status):
    put(f"c-{status}", status)
    row = call("confirm", operation_id=f"c-{status}", remote_id="r3")
    assert (row["status"], row["reason"], row["class"], row["closed_at"]) == \
        ("manual_review", "late_effect", None, None)
    assert row["due_at"] == row["updated_at"]
    assert journal(f"c-{status}")[-1]["event"] == "review"
    assert events(f"c-{status}") == ["operation.requested", "operation.review"]


def test_a_repeated_confirmation_changes_nothing(put, call, journal):
    put("c-twice", "awaiting_confirmation")
    first = call("confirm", operation_id="c-twice", remote_id="r1")
    assert call("confirm", operation_id="c-twice", remote_id="r1") == first
    assert call("confirm", operation_id="c-twice") == first
    assert len(journal("c-twice")) == first["revision"] + 1


def test_another_remote_id_is_a_conflict(put, call, refused):
    put("c-other", "awaiting_confirmation")
    call("confirm", operation_id="c-other", remote_id="r1")
    with refused("RC409"):
        call("confirm", operation_id="c-other", remote_id="r2")


def test_a_remote_id_may_follow(put, call, journal, events):
    put("c-later", "awaiting_confirmation")
    call("confirm", operation_id="c-later")
    row = call("confirm", operation_id="c-later", remote_id="r1")
    assert (row["status"], row["remote_id"]) == ("confirmed", "r1")
    assert journal("c-later")[-1]["elapsed_ms"] is None
    assert events("c-later") == ["operation.requested", "operation.confirmed"]


def test_an_answer_of_another_version_is_a_conflict(call, refused):
    call("request", operation_type="job", operation_id="c-version", version="7")
    call("start", operation_id="c-version")
    with refused("RC409"):
        call("confirm", operation_id="c-version", version="8")
    assert call("confirm", operation_id="c-version", version="007")["status"] == "confirmed"


def test_what_was_seen_divergent_or_several_stays_in_review(put, call, journal, events):
    put("c-disputed", "manual_review", disputed=True)
    row = call("confirm", operation_id="c-disputed", remote_id="r1")
    assert (row["status"], row["remote_id"]) == ("manual_review", "r1")
    assert journal("c-disputed")[-1]["to_status"] == "manual_review"
    assert events("c-disputed") == ["operation.requested"]


def test_what_is_disputed_comes_to_review_unless_the_type_only_observes(put, call, events):
    put("c-disputed2", "awaiting_confirmation", disputed=True)
    assert call("confirm", operation_id="c-disputed2")["status"] == "manual_review"
    assert events("c-disputed2") == ["operation.requested", "operation.review"]
    put("c-disputed3", "awaiting_confirmation", kind="observed", disputed=True)
    assert call("confirm", operation_id="c-disputed3")["status"] == "confirmed"


def test_an_earlier_attempt_may_confirm_late(put, call, refused):
    put("c-old", "retry_scheduled")
    call("start", operation_id="c-old")
    for attempt in (0, 3, -1):
        with refused("RC422"):
            call("confirm", operation_id="c-old", attempt=attempt)
    assert call("confirm", operation_id="c-old", attempt=1)["status"] == "confirmed"


@pytest.mark.parametrize("kind,after", [("verified", 10 * MINUTE), ("unverified", None)])
def test_a_confirmation_may_be_checked_once(put, call, kind, after):
    put(f"c-{kind}", "awaiting_confirmation", kind=kind)
    row = call("confirm", operation_id=f"c-{kind}")
    assert (row["due_at"] and row["due_at"] - row["closed_at"]) == after


@pytest.mark.parametrize("given,stored", [
    (None, {"attempt": 1}),
    ("{}", {"attempt": 1}),
    (' { "a" : [1] } ', {"attempt": 1, "a": [1]}),
    ('{"attempt":"x"}', {"attempt": "x"}),
    ("[1]", {"attempt": 1, "given": [1]}),
    ("null", {"attempt": 1, "given": None}),
    (r'{"n":"\ud83d\ude00"}', {"attempt": 1, "n": "😀"}),
    (r'{"n":"x\u0000y"}', {"attempt": 1, "not_storable": "not_exact", "text": r'{"n":"x\u0000y"}'}),
    (r'{"n":"\ud800"}', {"attempt": 1, "not_storable": "not_exact", "text": r'{"n":"\ud800"}'}),
    ('{"n":1e131072}', {"attempt": 1, "not_storable": "not_exact", "text": '{"n":1e131072}'}),
])
def test_j02_evidence_is_always_stored(put, call, journal, one, given, stored):
    name = f"j02-{abs(hash(given))}"
    put(name, "awaiting_confirmation")
    assert call("confirm", operation_id=name, evidence=given)["status"] == "confirmed"
    assert json.loads(journal(name)[-1]["evidence"]) == stored
    assert one("SELECT evidence::jsonb AS e FROM reconcile.journal WHERE operation_id = %s"
               " AND event = 'confirmed'", name)["e"] == stored


def test_j02_too_much_evidence_is_kept_as_its_digest(put, call, journal):
    put("j02-long", "awaiting_confirmation")
    call("confirm", operation_id="j02-long", evidence=json.dumps({"a": "x" * 65536}))
    stored = json.loads(journal("j02-long")[-1]["evidence"])
    assert (stored["not_storable"], stored["bytes"]) == ("too_large", 65545)
    assert len(stored["sha256"]) == 64


# reject -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("status", ["processing", "awaiting_confirmation"])
def test_reject(put, call, journal, events, status):
    put(f"r-{status}", status)
    row = call("reject", operation_id=f"r-{status}", attempt=1, code="declined", reason="no funds")
    assert (row["status"], row["class"], row["reason"], row["closed_reason"], row["due_at"]) == (
        "not_applicable", "not_applicable", "rejected", "rejected: declined: no funds", None)
    last = journal(f"r-{status}")[-1]
    assert (last["event"], last["action"]) == ("rejected", "close")
    assert json.loads(last["evidence"]) == {"attempt": 1, "code": "declined",
                                            "reason": "no funds"}
    assert events(f"r-{status}") == ["operation.requested", "operation.closed"]


@pytest.mark.parametrize("status", [s for s in OPEN + FINAL
                                    if s not in ("processing", "awaiting_confirmation")])
def test_reject_is_refused(put, call, refused, status):
    put(f"rr-{status}", status)
    with refused("RC422"):
        call("reject", operation_id=f"rr-{status}")


@pytest.fixture
def requeued(put, call, root):
    """Attempt 1 was sent and never answered, a verdict handed it out again: attempt 2 runs."""
    def operation(name):
        put(name, "awaiting_confirmation")
        root.execute("WITH u AS (UPDATE reconcile.operations SET status = 'retry_scheduled',"
                     " requeues = 1, revision = revision + 1 WHERE operation_id = %s RETURNING *)"
                     " INSERT INTO reconcile.journal (operation_id, revision, actor, event,"
                     " from_status, to_status) SELECT operation_id, revision, 'reconciled:a',"
                     " 'requeued', 'awaiting_confirmation', status FROM u", [name])
        assert call("start", operation_id=name)["attempts"] == 2
    return operation


@pytest.mark.parametrize("function", ["reject", "retry"])
def test_while_an_earlier_outcome_is_open_only_the_target_knows(requeued, call, journal, events,
                                                                refused, function):
    name = f"open-{function}"
    requeued(name)
    row = call(function, operation_id=name)
    assert (row["status"], row["attempt_until"], row["closed_at"]) == ("processing", None, None)
    assert row["due_at"] == row["updated_at"]
    assert journal(name)[-1]["to_status"] == "processing"
    assert events(name) == ["operation.requested"]
    for over in ("retry", "sent", "extend"):
        with refused("RC422"):
            call(over, operation_id=name)


def test_an_attempt_that_ended_in_retry_is_not_open(put, call):
    put("r-closed", "retry_scheduled")
    call("start", operation_id="r-closed")
    assert call("reject", operation_id="r-closed")["status"] == "not_applicable"


# retry ------------------------------------------------------------------------------------------

def test_retry_spaces_attempts_and_ends_with_a_person(call, journal, events, root):
    """10 s, then three times as long; the third of three attempts is the last."""
    call("request", operation_type="job", operation_id="y1")
    for attempt, seconds in ((1, 10), (2, 30)):
        assert call("start", operation_id="y1")["attempts"] == attempt
        row = call("retry", operation_id="y1", attempt=attempt, cause="connect")
        assert (row["status"], row["attempt_until"]) == ("retry_scheduled", None)
        assert (row["next_attempt_at"] - row["updated_at"]).total_seconds() == seconds
        assert row["due_at"] - row["next_attempt_at"] == 2 * MINUTE
        assert json.loads(journal("y1")[-1]["evidence"]) == {"attempt": attempt,
                                                             "cause": "connect"}
        root.execute("UPDATE reconcile.operations SET next_attempt_at = NULL"
                     " WHERE operation_id = 'y1'")
    call("start", operation_id="y1")
    row = call("retry", operation_id="y1", attempt=3, cause="connect")
    assert (row["status"], row["reason"], row["class"]) == \
        ("manual_review", "attempts_exhausted", None)
    assert row["due_at"] - row["updated_at"] == 2 * MINUTE
    last = journal("y1")[-1]
    assert (last["event"], last["reason"], last["action"]) == \
        ("retried", "attempts_exhausted", "review")
    assert events("y1") == ["operation.requested", "operation.review"]


def test_a_permanent_cause_goes_to_a_person_at_once(put, call):
    put("y2", "processing")
    row = call("retry", operation_id="y2", cause="config", permanent=True)
    assert (row["status"], row["reason"]) == ("manual_review", "permanent_failure")


def test_retry_of_an_unknown_type_uses_the_defaults(call):
    call("request", operation_type="free", operation_id="y3")
    call("start", operation_id="y3")
    row = call("retry", operation_id="y3")
    assert row["next_attempt_at"] - row["updated_at"] == MINUTE
    assert row["due_at"] - row["next_attempt_at"] == 5 * MINUTE


def test_the_worker_may_name_the_delay(put, call):
    put("y4", "processing")
    row = call("retry", operation_id="y4", delay="1 day")
    assert (row["next_attempt_at"] - row["updated_at"]).total_seconds() == 86400


@pytest.mark.parametrize("delay", ["-1 s", "2 years"])
def test_bad_delay(put, call, refused, delay):
    name = f"y5{delay}".replace(" ", "")
    put(name, "processing")
    with refused("RC400"):
        call("retry", operation_id=name, delay=delay)


@pytest.mark.parametrize("status", [s for s in OPEN + FINAL if s != "processing"])
def test_retry_is_refused(put, call, refused, status):
    put(f"yr-{status}", status)
    with refused("RC422"):
        call("retry", operation_id=f"yr-{status}")


def test_the_delay_stays_bounded(one):
    for attempts, seconds in ((1, 60), (2, 120), (11, 61440), (12, 86400), (100000, 86400)):
        row = one("SELECT extract(epoch FROM reconcile.attempt_delay("
                  "reconcile.type_of('nobody'), %s))::int AS s", attempts)
        assert row["s"] == seconds


# any of them ------------------------------------------------------------------------------------

@pytest.mark.parametrize("function", ["sent", "reject", "retry", "extend"])
@pytest.mark.parametrize("attempt", [0, 1, 3])
def test_a_worker_that_slept_does_no_harm(put, call, refused, journal, function, attempt):
    """Attempt 2 is the newest one: whatever speaks for another is refused and changes nothing."""
    name = f"z-{function}-{attempt}"
    put(name, "retry_scheduled")
    call("start", operation_id=name)
    before = len(journal(name))
    with refused("RC422"):
        call(function, operation_id=name, attempt=attempt)
    assert len(journal(name)) == before
