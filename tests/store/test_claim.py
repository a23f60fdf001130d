# SPDX-License-Identifier: Apache-2.0
"""claim: who gets what, in which order, and never twice."""

import json

import pytest


@pytest.fixture(autouse=True)
def nothing_waits(root):
    root.execute("UPDATE reconcile.operations SET status = 'manual_review'"
                 " WHERE status IN ('pending', 'retry_scheduled')")


@pytest.fixture
def want(call):
    return lambda *names, kind="job": [call("request", operation_type=kind, operation_id=name)
                                       for name in names]


@pytest.fixture
def claim(app):
    def names(*, on=None, **arguments):
        named = ", ".join(f"{name} => %({name})s" for name in arguments)
        return [row["operation_id"] for row in (on or app).execute(
            f"SELECT * FROM reconcile.claim({named})", arguments)]
    return names


def test_claim_begins_an_attempt(want, call, journal):
    want("a1")
    row = call("claim", operation_types=["job"], worker="w7", lease="1 min")
    assert (row["operation_id"], row["status"], row["attempts"]) == ("a1", "processing", 1)
    assert (row["attempt_until"] - row["sent_at"]).total_seconds() == 60
    assert row["first_sent_at"] == row["sent_at"]
    last = journal("a1")[-1]
    assert last["event"] == "started"
    assert json.loads(last["evidence"])["worker"] == "w7"


def test_oldest_first_over_all_types(want, claim, root):
    want("b1", kind="x")
    want("b2", kind="y")
    want("b3", kind="x")
    root.execute("UPDATE reconcile.operations SET next_attempt_at = created_at - interval '1 h'"
                 " WHERE operation_id = 'b3'")
    assert claim(operation_types=["x", "y"], max=2) == ["b3", "b1"]
    assert claim(operation_types=["x", "y"], max=5) == ["b2"]
    assert claim(operation_types=["x", "y"], max=5) == []


def test_only_the_types_that_were_named(want, claim, root):
    want("c1", kind="x")
    want("c2", kind="z")
    assert claim(operation_types=["z", None, "z"], max=9) == ["c2"]
    assert claim(operation_types=[]) == []
    root.execute("INSERT INTO reconcile.operation_types (operation_type, target, policy)"
                 " VALUES ('x', 'crm', 'd') ON CONFLICT DO NOTHING")
    want("c3", kind="z")
    assert claim(max=9) == ["c1"]  # null: every type that has a policy


def test_what_is_not_due_is_left(want, claim, call, root):
    want("d1", "d2")
    call("start", operation_id="d1")
    call("retry", operation_id="d1", delay="1 h")
    call("start", operation_id="d2")
    call("retry", operation_id="d2", delay="0 s")
    assert claim(operation_types=["job"], max=9) == ["d2"]


def test_types_are_data(want, claim):
    want("e1", kind="a'b%s\"$1")
    assert claim(operation_types=["a'b%s\"$1"]) == ["e1"]


def test_an_expired_key_is_passed_over_into_review(want, claim, call, root, one):
    root.execute("INSERT INTO reconcile.operation_types (operation_type, target, policy,"
                 " key_valid) VALUES ('keyed', 'crm', 'd', '30 min') ON CONFLICT DO NOTHING")
    want("f1", "f2", kind="keyed")
    call("start", operation_id="f1")
    call("retry", operation_id="f1", delay="0 s")
    root.execute("UPDATE reconcile.operations SET next_attempt_at = '2026-01-01T00:00Z',"
                 " first_sent_at = clock_timestamp() - interval '29 min'"
                 " WHERE operation_id = 'f1'")
    assert claim(operation_types=["keyed"], max=9) == ["f2"]
    assert one("SELECT status, reason FROM reconcile.operations WHERE operation_id = 'f1'") == \
        {"status": "manual_review", "reason": "key_expired"}


@pytest.mark.parametrize("bad", [{"max": 0}, {"max": None}, {"max": 1001}, {"lease": "-1 s"},
                                 {"lease": "25 h"}])
def test_bad_arguments(claim, refused, bad):
    with refused("RC400"):
        claim(operation_types=["job"], **bad)


def test_what_another_worker_is_taking_is_passed_over(want, claim, connect):
    want("g1", "g2")
    other = connect("app", autocommit=False)
    assert claim(operation_types=["job"], on=other) == ["g1"]
    assert claim(operation_types=["job"], max=9) == ["g2"]  # does not wait
    other.rollback()
    assert claim(operation_types=["job"], max=9) == ["g1"]


def test_many_workers_never_get_the_same_one(want, connect, claim, background, one):
    want(*[f"m{n:03}" for n in range(120)])
    workers = [connect("app") for _ in range(6)]

    def work(connection):
        taken = []
        while True:
            names = claim(operation_types=["job"], max=3, on=connection)
            if not names:
                return taken
            taken += names

    results = [task.result() for task in [background(lambda c=c: work(c)) for c in workers]]
    taken = [name for names in results for name in names]
    assert sorted(taken) == [f"m{n:03}" for n in range(120)]
    assert one("SELECT max(attempts) AS n, min(attempts) AS m FROM reconcile.operations"
               " WHERE operation_id LIKE 'm%'") == {"n": 1, "m": 1}


def pages(connection, statement):
    """Pages that a statement touches, once its plans and the catalog are in memory."""
    for _ in range(2):
        with connection.transaction(force_rollback=True):
            plan = connection.execute("EXPLAIN (ANALYZE, BUFFERS, FORMAT json) " + statement)
            top = plan.fetchone()["QUERY PLAN"][0]["Plan"]
    return top["Shared Hit Blocks"] + top["Shared Read Blocks"]


def test_q02_a_claim_costs_what_it_takes_not_what_waits(root, app):
    def wait(first, last):
        root.execute("INSERT INTO reconcile.operations (operation_id, operation_type)"
                     " SELECT 'p' || n, CASE n %% 2 WHEN 0 THEN 'x' ELSE 'y' END"
                     " FROM generate_series(%s::int, %s) n", [first, last])
        root.execute("VACUUM ANALYZE reconcile.operations")

    claim = "SELECT * FROM reconcile.claim('{x,y}', max => 5)"
    wait(1, 200)
    few = pages(app, claim)
    wait(201, 30000)
    assert pages(app, claim) <= 1.5 * few


def test_locked_ones_at_the_head_do_not_hide_the_rest(want, claim, connect):
    """More are locked than one batch of candidates holds."""
    want(*[f"q{n:02}" for n in range(60)])
    other = connect("app", autocommit=False)
    assert len(claim(operation_types=["job"], max=50, on=other)) == 50
    assert claim(operation_types=["job"], max=3) == ["q50", "q51", "q52"]
    other.rollback()


def test_expired_keys_are_passed_over_in_portions(want, claim, root, one):
    """One call puts at most a hundred into review, however many wait."""
    root.execute("INSERT INTO reconcile.operation_types (operation_type, target, policy, key_valid)"
                 " VALUES ('flood', 'crm', 'd', '30 min') ON CONFLICT DO NOTHING")
    want(*[f"flood-{i}" for i in range(130)], kind="flood")
    root.execute("UPDATE reconcile.operations SET attempts = 1,"
                 " first_sent_at = clock_timestamp() - interval '1 hour'"
                 " WHERE operation_type = 'flood'")
    seen = []
    for _ in range(3):
        assert claim(operation_types=["flood"]) == []
        seen.append(one("SELECT count(*) FROM reconcile.operations WHERE reason = 'key_expired'"
                        " AND operation_type = 'flood'")["count"])
    assert seen == [100, 130, 130]
