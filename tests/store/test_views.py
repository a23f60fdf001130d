# SPDX-License-Identifier: Apache-2.0
"""exceptions and overview: what a person sees."""

import datetime

import pytest


@pytest.fixture(autouse=True)
def types(root):
    root.execute("INSERT INTO reconcile.operation_types (operation_type, target, policy, mode,"
                 " latency_window, pickup_window, key_valid) VALUES"
                 " ('job', 'crm', 'd1', 'enforce', '5 min', NULL, NULL),"
                 " ('quick', 'shop', 'd2', 'observe', '5 min', '10 s', '1 h')"
                 " ON CONFLICT DO NOTHING")


@pytest.fixture
def seen(connect):
    """Rows of exceptions, as an operator sees them."""
    def rows(**where):
        clause = " AND ".join(f"{column} = %({column})s" for column in where) or "true"
        return connect("operator").execute(
            f"SELECT * FROM reconcile.exceptions WHERE {clause}", where or None).fetchall()
    return rows


def test_a_case_in_review_with_its_evidence(call, root, seen):
    call("request", operation_type="job", operation_id="v1", scope="s", entity_type="c",
         entity_id="42", version="7")
    call("start", operation_id="v1")
    call("sent", operation_id="v1")
    root.execute("WITH u AS (UPDATE reconcile.operations SET status = 'manual_review',"
                 " class = 'divergent', reason = 'newer', recommended_action = 'review',"
                 " updated_at = clock_timestamp() - interval '1 h', revision = revision + 1"
                 " WHERE operation_id = 'v1' RETURNING *)"
                 " INSERT INTO reconcile.journal (operation_id, revision, actor, event,"
                 " to_status, rule, evidence) SELECT operation_id, revision, 'reconciled:a',"
                 " 'review', status, 'compare', '{\"reading\":\"found\"}' FROM u")
    call("receipt", operation_id="v1", receipt="r")
    row, = seen(operation_id="v1")
    expected = {"kind": "review", "operation_type": "job", "scope": "s", "entity_type": "c",
                "entity_id": "42", "version": "7", "target": "crm", "status": "manual_review",
                "class": "divergent", "reason": "newer", "recommended_action": "review",
                "evidence": {"reading": "found"}, "duplication_risk": "certain", "count": 1}
    assert {name: row[name] for name in expected} == expected
    assert row["age"] >= datetime.timedelta(0) and row["since"] <= row["since"] + row["age"]


def test_past_its_deadline_and_never_picked_up(call, root, seen):
    call("request", operation_type="job", operation_id="w1", deadline="2026-01-01T00:00Z")
    call("start", operation_id="w1")
    call("request", operation_type="quick", operation_id="w2")
    call("request", operation_type="quick", operation_id="w3")
    call("request", operation_type="job", operation_id="w4")
    root.execute("UPDATE reconcile.operations SET created_at = created_at - interval '11 s'"
                 " WHERE operation_id IN ('w2', 'w4')")
    assert [(row["kind"], row["duplication_risk"]) for row in seen(operation_id="w1")] == \
        [("deadline", "high")]
    assert [(row["kind"], row["duplication_risk"]) for row in seen(operation_id="w2")] == \
        [("not_picked_up", "none")]
    assert seen(operation_id="w3") == seen(operation_id="w4") == []
    call("cancel", operation_id="w2")
    assert seen(operation_id="w2") == []


def test_types_without_policy_are_one_row_each(call, seen):
    for name in ("n1", "n2", "n3"):
        call("request", operation_type="nobody", operation_id=name)
    row, = seen(kind="no_policy")
    assert (row["operation_type"], row["count"], row["operation_id"]) == ("nobody", 3, None)


def test_a_target_that_gives_no_verdicts(root, seen):
    root.execute("INSERT INTO reconcile.tallies (instance_id, minute, operation_type, class,"
                 " action, n) SELECT 'i', date_trunc('minute', clock_timestamp()), t, c, 'wait', 5"
                 " FROM (VALUES ('quick', 'inconclusive'), ('job', 'inconclusive'),"
                 " ('job', 'correct')) k (t, c) ON CONFLICT DO NOTHING")
    row, = seen(kind="target_away")
    assert (row["operation_type"], row["target"], row["count"]) == ("quick", "shop", 5)


def test_guards_and_parked_events(call, root, seen):
    root.execute("INSERT INTO reconcile.guards (kind, name, reason, count, share)"
                 " VALUES ('type', 'job', 'share', 7, 0.6), ('rewind', 'i1', 'beats', NULL, NULL)")
    guards = {row["evidence"]["kind"]: row for row in seen(kind="guard")}
    assert (guards["type"]["operation_type"], guards["type"]["reason"]) == ("job", "share")
    assert guards["rewind"]["operation_type"] is None
    root.execute("UPDATE reconcile.guards SET released_at = clock_timestamp()")
    assert seen(kind="guard") == []
    root.execute("UPDATE reconcile.operation_types SET deliver_to = 'shop /e'"
                 " WHERE operation_type = 'quick'")
    call("request", operation_type="quick", operation_id="e1")
    root.execute("UPDATE reconcile.outbox SET parked_at = clock_timestamp(), attempts = 10,"
                 " last_error = 'http 500' WHERE aggregateid = 'e1'")
    row, = seen(kind="event_parked")
    assert (row["operation_id"], row["operation_type"], row["evidence"]["attempts"]) == \
        ("e1", "quick", 10)


@pytest.mark.parametrize("evidence,shown", [
    (r'{"a":"\u0000"}', r'{"a":"\u0000"}'), ("no json", "no json"),
    (r'"\ud800"', r'"\ud800"'),
])
def test_one_unreadable_row_does_not_break_the_view(call, root, seen, evidence, shown):
    name = f"bad{len(evidence)}"
    call("request", operation_type="job", operation_id=name)
    root.execute("WITH u AS (UPDATE reconcile.operations SET status = 'manual_review',"
                 " revision = 1 WHERE operation_id = %s RETURNING *)"
                 " INSERT INTO reconcile.journal (operation_id, revision, actor, event, to_status,"
                 " rule, evidence) SELECT operation_id, 1, 'reconciled:a', 'review', status,"
                 " 'compare', %s FROM u", [name, evidence])
    row, = seen(operation_id=name)
    assert row["evidence"] == shown


@pytest.mark.parametrize("kind,sent,until,key,risk", [
    ("missing", None, None, None, "none"),
    ("missing", "-1 h", "1 min", "1 day", "high"),
    ("missing", "-1 h", None, "2 h", "low"),
    ("missing", "-1 h", None, "30 min", "medium"),
    ("missing", "-1 h", "-1 min", None, "medium"),
    ("correct", "-1 h", None, None, "certain"),
    ("divergent", "-1 h", None, None, "certain"),
    ("ambiguous", "-1 h", None, "2 h", "high"),
    (None, "-1 h", None, None, "high"),
])
def test_duplication_risk(one, kind, sent, until, key, risk):
    assert one("SELECT reconcile.duplication_risk(%s, now() + %s::interval, now() + %s::interval,"
               " %s, now()) AS r", kind, sent, until, key)["r"] == risk


def test_overview_counts_open_operations(call, root, connect):
    root.execute("INSERT INTO reconcile.operation_types (operation_type, target, policy)"
                 " VALUES ('counted', 'crm', 'd'), ('idle', 'crm', 'd') ON CONFLICT DO NOTHING")
    for name in ("o1", "o2", "o3"):
        call("request", operation_type="counted", operation_id=name)
    call("start", operation_id="o3")
    call("request", operation_type="counted", operation_id="o4")
    call("cancel", operation_id="o4")
    root.execute("UPDATE reconcile.operations SET due_at = '2026-01-01T00:00Z'"
                 " WHERE operation_id = 'o1'")
    root.execute("INSERT INTO reconcile.tallies (instance_id, minute, operation_type, class,"
                 " action, n) SELECT 'i', date_trunc('minute', clock_timestamp()), 'counted', c,"
                 " a, n FROM (VALUES ('correct', 'confirm', 6), ('divergent', 'review', 2),"
                 " ('waiting', 'wait', 10), ('inconclusive', 'wait', 3)) k (c, a, n)")
    rows = {row["status"]: row for row in connect("auditor").execute(
        "SELECT * FROM reconcile.overview WHERE operation_type = 'counted'")}
    assert set(rows) == {"pending", "processing"}
    pending = rows["pending"]
    assert (pending["operations"], pending["due"], pending["target"], pending["mode"]) == \
        (2, 1, "crm", "observe")
    assert (pending["looks_24h"], pending["verdicts_24h"], pending["confirmed_24h"],
            pending["inconclusive_24h"], float(pending["divergent_share_24h"])) == \
        (21, 8, 6, 3, 0.25)
    idle, = connect("auditor").execute(
        "SELECT * FROM reconcile.overview WHERE operation_type = 'idle'").fetchall()
    assert (idle["status"], idle["operations"], idle["divergent_share_24h"]) == (None, 0, None)


def test_no_view_scans_closed_operations(root):
    """20,000 closed rows beside a few open ones: no plan reads the table from end to end."""
    root.execute("ALTER TABLE reconcile.operations DISABLE TRIGGER USER;"
                 " INSERT INTO reconcile.operations (operation_id, operation_type, status,"
                 " closed_at) SELECT 'old' || n, 'job', 'confirmed', clock_timestamp()"
                 " FROM generate_series(1, 20000) n;"
                 " ALTER TABLE reconcile.operations ENABLE TRIGGER USER")
    root.execute("VACUUM ANALYZE reconcile.operations")
    for view in ("exceptions", "overview"):
        plan = "\n".join(row["QUERY PLAN"] for row in root.execute(
            f"EXPLAIN SELECT * FROM reconcile.{view}"))
        assert "Seq Scan on operations" not in plan, plan


def test_promise_13_reading_changes_nothing(connect):
    reader = connect("auditor")
    reader.execute("SET default_transaction_read_only = on")
    reader.execute("SELECT * FROM reconcile.exceptions")
    reader.execute("SELECT * FROM reconcile.overview")
