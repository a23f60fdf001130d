# SPDX-License-Identifier: Apache-2.0
"""request, cancel, set_entity_state, receipt."""

import datetime
import json

import pytest

MINUTE = datetime.timedelta(minutes=1)


@pytest.fixture(autouse=True)
def types(root):
    root.execute("INSERT INTO reconcile.operation_types (operation_type, target, policy,"
                 " latency_window, deadline, deliver_to) VALUES"
                 " ('known', 'crm', 'd1', '90 s', '2 hours', 'crm /events') ON CONFLICT DO NOTHING")


def test_request_stores_what_it_was_given(call, one):
    deadline = datetime.datetime(2030, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
    row = call("request", operation_type="free", operation_id="r1", scope="s", entity_type="c",
               entity_id="42", version="7", idempotency_key="k", business_key="b",
               correlation_id="x", expected='{"amount": 1.10}', payload=' {"b" : 1, "a":2}',
               deadline=deadline)
    given = {"operation_type": "free", "operation_id": "r1", "scope": "s", "entity_type": "c",
             "entity_id": "42", "version": "7", "idempotency_key": "k", "business_key": "b",
             "correlation_id": "x", "deadline_at": deadline, "status": "pending", "attempts": 0,
             "revision": 0, "entity_state": "active", "first_sent_at": None, "sent_at": None,
             "class": None, "closed_at": None, "superseded_by": None, "disputed": False}
    assert {name: row[name] for name in given} == given
    assert one("SELECT expected::text AS t FROM reconcile.operations WHERE operation_id = 'r1'") \
        == {"t": '{"amount": 1.10}'}
    assert one("SELECT payload::text AS t FROM reconcile.content WHERE operation_id = 'r1'") == \
        {"t": ' {"b" : 1, "a":2}'}  # the same bytes


def test_due_and_deadline_of_a_known_type(call):
    row = call("request", operation_type="known", operation_id="r2")
    assert row["due_at"] - row["created_at"] == 1.5 * MINUTE
    assert row["deadline_at"] - row["created_at"] == 120 * MINUTE


def test_due_of_an_unknown_type_is_five_minutes(call):
    row = call("request", operation_type="free", operation_id="r3")
    assert row["due_at"] - row["created_at"] == 5 * MINUTE
    assert row["deadline_at"] is None


def test_already_sent(call, journal, events):
    row = call("request", operation_type="known", operation_id="r4", already_sent=True)
    assert (row["status"], row["attempts"]) == ("awaiting_confirmation", 1)
    assert row["sent_at"] == row["first_sent_at"] == row["created_at"]
    assert row["due_at"] - row["sent_at"] == 1.5 * MINUTE
    assert [r["to_status"] for r in journal("r4")] == ["awaiting_confirmation"]
    assert events("r4") == ["operation.requested"]


def test_journal_and_event_of_a_request(call, journal, one):
    call("request", operation_type="known", operation_id="r5", entity_type="c", entity_id="9",
         correlation_id="x", idempotency_key="secret-key", payload='{"secret": 1}',
         expected='{"name": "secret"}', traceparent="00-1")
    row, = journal("r5")
    assert (row["actor"], row["event"], row["from_status"], row["to_status"], row["evidence"]) == \
        ("app:app_login", "requested", None, "pending", '{"traceparent":"00-1"}')
    event = one("SELECT * FROM reconcile.outbox WHERE aggregateid = 'r5'")
    assert (event["type"], event["aggregatetype"], event["revision"], event["deliver_to"]) == \
        ("operation.requested", "operation", 0, "crm /events")
    assert event["next_attempt_at"] == event["created_at"] == row["at"]
    at = row["at"].astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert event["payload"] == {
        "operation_id": "r5", "operation_type": "known", "scope": "", "entity_type": "c",
        "entity_id": "9", "entity_state": "active", "version": None, "business_key": None,
        "remote_id": None, "correlation_id": "x", "attempts": 0, "from_status": None,
        "status": "pending", "class": None, "reason": None, "revision": 0, "at": at}
    assert "secret" not in json.dumps(event["payload"])


def test_the_event_disappears_with_the_business_transaction(app, call, one):
    with app.transaction(force_rollback=True):
        call("request", operation_type="known", operation_id="r6")
    assert one("SELECT FROM reconcile.operations WHERE operation_id = 'r6'") is None
    assert one("SELECT FROM reconcile.outbox WHERE aggregateid = 'r6'") is None


def test_a_repeated_request_gives_the_row_that_is_there(call, journal, events, one):
    first = call("request", operation_type="free", operation_id="r7", payload='{"a":1,"b":2}')
    call("start", operation_id="r7")
    again = call("request", operation_type="free", operation_id="r7", payload='{"b":2.0,"a":1}')
    assert (again["status"], again["revision"]) == ("processing", 1)
    assert again["created_at"] == first["created_at"]
    assert [r["event"] for r in journal("r7")] == ["requested", "started"]
    assert events("r7") == ["operation.requested"]
    assert one("SELECT payload::text AS t FROM reconcile.content WHERE operation_id = 'r7'") == \
        {"t": '{"a":1,"b":2}'}


@pytest.mark.parametrize("other", [{"payload": '{"a":2}'}, {"payload": None}, {"scope": "s2"},
                                   {"operation_type": "other"}])
def test_any_other_request_of_the_same_id_is_a_conflict(call, refused, journal, other):
    wanted = {"operation_type": "free", "operation_id": "r8", "payload": '{"a":1}', "scope": ""}
    call("request", **wanted)
    with refused("RC409"):
        call("request", **{**wanted, **other})
    assert len(journal("r8")) == 1


def test_a_null_payload_equals_a_null_payload(call):
    call("request", operation_type="free", operation_id="r9")
    assert call("request", operation_type="free", operation_id="r9")["revision"] == 0


def test_a_purged_operation_is_gone(call, root, refused):
    root.execute("INSERT INTO reconcile.tombstones (operation_id, status)"
                 " VALUES ('r10', 'confirmed') ON CONFLICT DO NOTHING")
    with refused("RC410"):
        call("request", operation_type="free", operation_id="r10")
    with refused("RC410"):
        call("start", operation_id="r10")


@pytest.mark.parametrize("bad", [
    {"operation_id": ""}, {"operation_id": "a b"}, {"operation_id": "é"}, {"operation_id": None},
    {"operation_id": "x" * 181}, {"operation_id": "x~c12"}, {"operation_type": None},
    {"operation_type": ""}, {"scope": None}, {"expected": "[]"}, {"expected": "null"},
    {"expected": '{"a":"\\u0000"}'}, {"expected": '{"a":1,"a":2}'}, {"expected": '{"a":1e1001}'},
    {"payload": '{"n":"\\ud800"}'}, {"entity_id": "x" * 501}, {"scope": "x" * 501},
    {"traceparent": "x" * 501}, {"expected": json.dumps({"a": "x" * 262144})},
], ids=lambda bad: next(iter(bad)))
def test_bad_arguments(call, refused, bad):
    with refused("RC400"):
        call("request", **{"operation_type": "free", "operation_id": "bad", **bad})


@pytest.mark.parametrize("good", ["x" * 180, "~c", "a~c1b", "!#%&/()=?:;", "~c1~"])
def test_good_ids(call, good):
    assert call("request", operation_type="free", operation_id=good)["operation_id"] == good


def test_cancel_before_any_send_closes(call, journal, events):
    call("request", operation_type="free", operation_id="c1")
    row = call("cancel", operation_id="c1", reason="customer left")
    assert (row["status"], row["entity_state"], row["class"], row["reason"]) == \
        ("not_applicable", "cancelled", "not_applicable", "cancelled")
    assert row["closed_reason"] == "cancelled: customer left"
    assert row["closed_at"] and row["due_at"] is None
    last = journal("c1")[-1]
    assert (last["event"], last["from_status"], last["to_status"], last["action"]) == \
        ("cancelled", "pending", "not_applicable", "close")
    assert events("c1") == ["operation.requested", "operation.closed"]


@pytest.mark.parametrize("status", ["processing", "awaiting_confirmation", "retry_scheduled"])
def test_cancel_after_a_send_asks_the_target(call, connect, journal, events, status):
    listener = connect("daemon")
    listener.execute("LISTEN reconciled")
    name = f"c-{status}"
    call("request", operation_type="free", operation_id=name)
    call("start", operation_id=name)
    if status == "awaiting_confirmation":
        call("sent", operation_id=name)
    if status == "retry_scheduled":
        call("retry", operation_id=name)
    row = call("cancel", operation_id=name)
    assert (row["status"], row["entity_state"]) == (status, "cancelled")
    assert row["due_at"] == row["updated_at"]
    assert journal(name)[-1]["event"] == "cancelled"
    assert events(name) == ["operation.requested"]
    assert next(listener.notifies()).payload == "free"
    again = call("cancel", operation_id=name)
    assert again["revision"] == row["revision"] and again["due_at"] > row["due_at"]


def test_cancel_of_a_final_operation_is_refused(call, refused):
    call("request", operation_type="free", operation_id="c2")
    call("cancel", operation_id="c2")
    with refused("RC422"):
        call("cancel", operation_id="c2")


def test_entity_state_reaches_open_operations_of_the_entity(call, one, journal):
    for name, scope, entity in (("e1", "", "1"), ("e2", "", "1"), ("e3", "", "2"),
                                ("e4", "t", "1"), ("e5", "", "1")):
        call("request", operation_type="free", operation_id=name, scope=scope, entity_type="order",
             entity_id=entity)
    call("cancel", operation_id="e5")
    changed = call("set_entity_state", entity_type="order", entity_id="1", state="refunded")
    assert changed == {"set_entity_state": 2}
    for name, state in (("e1", "refunded"), ("e2", "refunded"), ("e3", "active"),
                        ("e4", "active"), ("e5", "cancelled")):
        assert one("SELECT entity_state FROM reconcile.operations WHERE operation_id = %s",
                   name)["entity_state"] == state
    last = journal("e1")[-1]
    assert (last["event"], last["evidence"]) == \
        ("entity_state", '{"entity_state":{"from":"active","to":"refunded"}}')
    assert one("SELECT due_at = updated_at AS now FROM reconcile.operations"
               " WHERE operation_id = 'e1'")["now"]
    assert call("set_entity_state", entity_type="order", entity_id="1",
                state="refunded") == {"set_entity_state": 0}


def test_entity_state_without_type(call):
    call("request", operation_type="free", operation_id="e6", entity_id="6")
    assert call("set_entity_state", entity_type=None, entity_id="6",
                state="deleted") == {"set_entity_state": 1}


@pytest.mark.parametrize("bad", [{"state": None}, {"state": ""}, {"state": "a b"},
                                 {"entity_id": None}, {"scope": None}])
def test_entity_state_with_bad_arguments(call, refused, bad):
    with refused("RC400"):
        call("set_entity_state", **{"entity_type": "c", "entity_id": "1", "state": "x", **bad})


def test_receipt_is_stored_and_makes_due(call, one, journal):
    call("request", operation_type="free", operation_id="p1", payload='{"a":1}')
    row = call("receipt", operation_id="p1", receipt="abc", signature="sig")
    assert row["due_at"] == row["updated_at"] and row["revision"] == 1
    kept = one("SELECT payload::text, receipt, receipt_signature, receipt_at"
               " FROM reconcile.content WHERE operation_id = 'p1'")
    assert kept == {"payload": '{"a":1}', "receipt": "abc", "receipt_signature": "sig",
                    "receipt_at": row["updated_at"]}
    # SHA-256 of "abc" from FIPS 180-4
    assert json.loads(journal("p1")[-1]["evidence"]) == {"receipt": {
        "bytes": 3,
        "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}}
    call("receipt", operation_id="p1", receipt="later")
    assert one("SELECT receipt, receipt_signature FROM reconcile.content"
               " WHERE operation_id = 'p1'") == {"receipt": "later", "receipt_signature": None}


def test_receipt_without_payload_and_after_confirmation(call, one):
    call("request", operation_type="free", operation_id="p2")
    call("start", operation_id="p2")
    call("confirm", operation_id="p2")
    assert call("receipt", operation_id="p2", receipt="r")["due_at"] is None
    assert one("SELECT payload FROM reconcile.content WHERE operation_id = 'p2'") == \
        {"payload": None}


@pytest.mark.parametrize("bad", [{"receipt": None}, {"receipt": "x" * 1048577},
                                 {"receipt": "x", "signature": "x" * 65537}])
def test_receipt_with_bad_arguments(call, refused, bad):
    call("request", operation_type="free", operation_id="p3")
    with refused("RC400"):
        call("receipt", operation_id="p3", **bad)


@pytest.mark.parametrize("function,more", [
    ("start", {}), ("extend", {}), ("sent", {}), ("confirm", {}), ("reject", {}), ("retry", {}),
    ("receipt", {"receipt": "r"}), ("cancel", {}),
])
def test_unknown_operation(call, refused, function, more):
    with refused("RC404"):
        call(function, operation_id="nobody", **more)
    with refused("RC400"):
        call(function, operation_id=None, **more)
