# SPDX-License-Identifier: Apache-2.0
"""Which changes are announced, and that worker and reconciler write the same."""

import json
import pathlib

import jsonschema
import pytest
from statements import record

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"

# event_type(from, to, event of the journal), by hand
TYPES = [
    (None, "pending", "requested", "operation.requested"),
    (None, "awaiting_confirmation", "requested", "operation.requested"),
    ("pending", "processing", "started", None),
    ("processing", "awaiting_confirmation", "sent", None),
    ("processing", "retry_scheduled", "retried", None),
    ("processing", "manual_review", "retried", "operation.review"),
    ("awaiting_confirmation", "retry_scheduled", "requeued", "operation.requeued"),
    ("awaiting_confirmation", "confirmed", "confirmed", "operation.confirmed"),
    ("awaiting_confirmation", "manual_review", "review", "operation.review"),
    ("manual_review", "manual_review", "judged", None),
    ("pending", "pending", "announced", "operation.requested"),
    ("retry_scheduled", "retry_scheduled", "announced", "operation.requeued"),
    ("pending", "pending", "looked", None),
    ("manual_review", "awaiting_confirmation", "recheck", None),
    ("processing", "not_applicable", "rejected", "operation.closed"),
    ("pending", "not_applicable", "cancelled", "operation.closed"),
    ("awaiting_confirmation", "compensating", "compensating", "operation.compensating"),
    ("compensating", "compensated", "compensated", "operation.compensated"),
    ("compensating", "compensating", "remote_id", None),
    ("confirmed", "manual_review", "review", "operation.review"),
]


@pytest.mark.parametrize("old,new,event,kind", TYPES)
def test_event_type(one, old, new, event, kind):
    assert one("SELECT reconcile.event_type(%s, %s, %s) AS t", old, new, event)["t"] == kind


def test_promise_10_at_most_one_event_for_each_change_of_status(call, root):
    """A life with everything in it: as many events as changes that are announced."""
    call("request", operation_type="job", operation_id="life", entity_id="1")
    for function, arguments in (
            ("start", {}), ("extend", {}), ("retry", {"delay": "0 s"}), ("start", {}), ("sent", {}),
            ("set_entity_state", None), ("receipt", {"receipt": "r"}), ("confirm", {}),
            ("confirm", {}), ("confirm", {"remote_id": "r1"})):
        if arguments is None:
            call(function, entity_type=None, entity_id="1", state="replaced")
        else:
            call(function, operation_id="life", **arguments)
    rows = root.execute(
        "SELECT j.revision, j.from_status IS DISTINCT FROM j.to_status AS moved, e.type"
        " FROM reconcile.journal j LEFT JOIN reconcile.outbox e"
        " ON e.aggregateid = j.operation_id AND e.revision = j.revision"
        " WHERE j.operation_id = 'life' ORDER BY 1").fetchall()
    assert [row["type"] for row in rows if row["type"]] == ["operation.requested",
                                                            "operation.confirmed"]
    assert all(row["moved"] for row in rows if row["type"])


def test_ids_are_unique_and_stay(call, root):
    call("request", operation_type="job", operation_id="id1")
    call("cancel", operation_id="id1")
    read = "SELECT id FROM reconcile.outbox WHERE aggregateid = 'id1' ORDER BY revision"
    first = root.execute(read).fetchall()
    assert len({row["id"] for row in first}) == 2
    root.execute("UPDATE reconcile.outbox SET attempts = attempts + 1")
    assert root.execute(read).fetchall() == first


def test_only_events_that_somebody_waits_for_are_to_be_delivered(call, one, root):
    root.execute("INSERT INTO reconcile.operation_types (operation_type, target, policy,"
                 " deliver_to) VALUES ('told', 'crm', 'd', 'shop /hook') ON CONFLICT DO NOTHING")
    call("request", operation_type="told", operation_id="told1")
    call("request", operation_type="job", operation_id="untold1")
    read = "SELECT deliver_to, next_attempt_at = created_at AS now FROM reconcile.outbox" \
           " WHERE aggregateid = %s"
    assert one(read, "told1") == {"deliver_to": "shop /hook", "now": True}
    assert one(read, "untold1") == {"deliver_to": None, "now": None}


def test_p07_worker_and_reconciler_confirm_by_one_path(call, connect, root):
    """Everything that is written is the same; only who it was, and how it was known, differs."""
    for name in ("by-worker", "by-reconciler"):
        call("request", operation_type="job", operation_id=name, entity_type="c", entity_id="1",
             version="7", business_key="b", correlation_id="x")
        call("start", operation_id=name)
        row = call("sent", operation_id=name)
    call("confirm", operation_id="by-worker", remote_id="r1", evidence='{"reading":"found"}')
    written = record(connect("daemon"), [{
        "operation_id": "by-reconciler", "operation_type": "job", "revision": row["revision"],
        "changed": True, "from_status": "awaiting_confirmation", "to_status": "confirmed",
        "class": "correct", "reason": "fields_equal", "closed_reason": "fields_equal",
        "remote_id": "r1", "event": "confirmed", "action": "confirm", "rule": "compare",
        "evidence": '{"reading":"found"}', "policy": "d", "journal_class": "correct",
        "journal_reason": "fields_equal", "event_type": "operation.confirmed",
        "tally_class": "correct", "tally_action": "confirm", "due_was": row["due_at"]}])
    assert written == [("done", row["revision"] + 1)]

    def lives(table, key, without):
        both = [dict(root.execute(
            f"SELECT * FROM reconcile.{table} WHERE {key} = %s ORDER BY revision DESC LIMIT 1",
            [name]).fetchone()) for name in ("by-worker", "by-reconciler")]
        for life in both:
            for column in (key, *without.split()):
                del life[column]
        return both

    worker, reconciler = lives("journal", "operation_id",
                               "at actor reason rule policy evidence elapsed_ms")
    assert worker == reconciler
    worker, reconciler = lives("operations", "operation_id",
                               "created_at updated_at closed_at first_sent_at sent_at reason"
                               " closed_reason checks")
    assert worker == reconciler
    worker, reconciler = lives("outbox", "aggregateid", "id created_at")
    for event in (worker, reconciler):
        for member in ("operation_id", "reason", "at"):
            del event["payload"][member]
    assert worker == reconciler
    counts = root.execute(
        "SELECT (SELECT count(*) FROM reconcile.journal WHERE to_status = 'confirmed'"
        " AND from_status <> 'confirmed') AS changes, (SELECT count(*) FROM reconcile.outbox"
        " WHERE type = 'operation.confirmed') AS events").fetchone()
    assert counts["changes"] == counts["events"]


def test_the_evidence_of_a_change_and_the_change_are_one(call, connect, one):
    """No status without its journal row: where the row cannot be written, nothing is."""
    row = call("request", operation_type="job", operation_id="whole")
    connect("daemon").execute(
        "INSERT INTO reconcile.journal (operation_id, revision, actor, event, to_status)"
        " VALUES ('whole', %s, 'reconciled:x', 'forged', 'pending')", [row["revision"] + 1])
    with pytest.raises(Exception, match="duplicate key"):
        call("start", operation_id="whole")
    assert one("SELECT status, revision FROM reconcile.operations WHERE operation_id = 'whole'") \
        == {"status": "pending", "revision": 0}


# what is documented


@pytest.fixture(scope="module")
def schema():
    read = json.loads((DOCS / "events/operation.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(read)
    return jsonschema.Draft7Validator(read)


def test_every_type_is_documented():
    text = (DOCS / "events.md").read_text()
    for kind in {kind for _, _, _, kind in TYPES if kind}:
        assert f"| `{kind}` |" in text, kind


def test_payloads_are_as_documented(call, root, schema):
    """Of the fullest and of the emptiest operation; and nothing secret is among them."""
    call("request", operation_type="job", operation_id="doc-1", scope="north", entity_type="order",
         entity_id="42", version="7", idempotency_key="key-secret", business_key="b-1",
         correlation_id="c-1", expected='{"total": "hidden"}', payload='{"total": "hidden"}')
    call("start", operation_id="doc-1")
    call("sent", operation_id="doc-1")
    call("confirm", operation_id="doc-1", remote_id="r-1")
    call("request", operation_type="job", operation_id="doc-2")
    call("cancel", operation_id="doc-2")
    rows = root.execute("SELECT payload, payload::text AS text FROM reconcile.outbox"
                        " WHERE aggregateid LIKE 'doc-%'").fetchall()
    assert len(rows) == 4
    for row in rows:
        schema.validate(row["payload"])
        assert "secret" not in row["text"] and "hidden" not in row["text"]


@pytest.mark.parametrize("wrong", [{"status": "done"}, {"revision": -1}, {"at": "now"},
                                   {"idempotency_key": "k"}, {"class": "waiting"}])
def test_the_schema_refuses(call, root, schema, wrong):
    call("request", operation_type="job", operation_id="doc-3")
    payload = root.execute("SELECT payload FROM reconcile.outbox WHERE aggregateid = 'doc-3'"
                           ).fetchone()["payload"]
    assert schema.is_valid(payload)
    assert not schema.is_valid({**payload, **wrong})
