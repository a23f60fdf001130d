# SPDX-License-Identifier: Apache-2.0
"""Instances that share and die: parts of the operations, heartbeats, what was in flight."""

import json

import pytest
from statements import record, run

FRESH = 10_000_000  # microseconds


@pytest.fixture
def daemon(connect):
    return connect("daemon")


@pytest.fixture
def beat(daemon):
    def once(instance="i1", known=0, types=(), digests=()):
        row = run(daemon, "beat", instance, "name", "1.0", list(types), list(digests), known,
                  FRESH).fetchone()
        return row["beats"], row["rewound"]

    return once


@pytest.fixture
def dead(root, call):
    """An instance that died a while ago with these operations in flight, all of them due."""

    def make(*names, instance="gone", kind="job"):
        for name in names:
            call("request", operation_type=kind, operation_id=name, already_sent=True)
        root.execute("UPDATE reconcile.operations SET due_at = clock_timestamp()"
                     " WHERE operation_id = ANY (%s)", [list(names)])
        root.execute("DELETE FROM reconcile.instances")
        root.execute("INSERT INTO reconcile.instances (instance_id, name, version, heartbeat_at,"
                     " in_flight) VALUES (%s, 'n', '1', clock_timestamp() - interval '11 s', %s)",
                     [instance, list(names)])

    return make


@pytest.fixture
def again(root):
    """It dies once more with this one alone."""

    def make(name, instance="gone"):
        root.execute("UPDATE reconcile.instances SET stopped_at = NULL, in_flight = %s,"
                     " heartbeat_at = clock_timestamp() - interval '11 s' WHERE instance_id = %s",
                     [[name], instance])
        root.execute("UPDATE reconcile.operations SET due_at = clock_timestamp()"
                     " WHERE operation_id = %s", [name])

    return make


@pytest.fixture
def bury(daemon):
    def once(instance="i1", at_start=False):
        return run(daemon, "bury", "reconciled:one", instance, at_start, FRESH).fetchone()["count"]

    return once


@pytest.fixture
def suspicion(root):
    def of(*names):
        return [tuple(row.values()) for row in root.execute(
            "SELECT suspect, due_at >= clock_timestamp() + interval '29 s'"
            " AND due_at < clock_timestamp() + interval '41 s' FROM reconcile.operations"
            " WHERE operation_id = ANY (%s) ORDER BY operation_id", [list(names)])]

    return of


def test_parts_are_complete_apart_and_even(root):
    """10,000 operations, three instances: each takes a third within a tenth."""
    rows = root.execute(
        "SELECT sum(reconcile.in_part(id, 3, 0)::int) AS a, sum(reconcile.in_part(id, 3, 1)::int)"
        " AS b, sum(reconcile.in_part(id, 3, 2)::int) AS c, count(*) FILTER (WHERE"
        " reconcile.in_part(id, 3, 0)::int + reconcile.in_part(id, 3, 1)::int"
        " + reconcile.in_part(id, 3, 2)::int <> 1) AS wrong"
        " FROM (SELECT 'order-' || n AS id FROM generate_series(1, 10000) n) k").fetchone()
    assert rows["wrong"] == 0
    assert rows["a"] + rows["b"] + rows["c"] == 10000
    for part in "abc":
        assert 3000 <= rows[part] <= 3667
    assert root.execute("SELECT bool_and(reconcile.in_part('x' || n, 1, 0)) AS all"
                        " FROM generate_series(1, 100) n").fetchone()["all"]


def test_beats_are_counted(beat, one):
    assert beat(types=["job"], digests=["d"]) == (1, False)
    assert beat(known=1) == (2, False)
    assert beat(known=1) == (3, False)  # the answer to the second was lost
    row = one("SELECT *, heartbeat_at > clock_timestamp() - interval '5 s' AS fresh"
              " FROM reconcile.instances WHERE instance_id = 'i1'")
    assert (row["types"], row["stopped_at"], row["fresh"]) == ({}, None, True)


@pytest.mark.parametrize("known", [3, 100])
def test_a_database_behind_an_instance_trips_the_rewind_guard(beat, root, known):
    root.execute("DELETE FROM reconcile.guards; DELETE FROM reconcile.instances")
    for expected in (1, 2):
        assert beat() == (expected, False)
    assert beat(known=known) == (3, True)
    assert beat(known=3) == (4, True)  # until it is released
    assert beat("other") == (1, True)
    assert beat(known=50)[1]  # another one that is behind: it is tripped already
    assert [tuple(row.values()) for row in root.execute(
        "SELECT kind, name, reason, count FROM reconcile.guards")] == \
        [("rewind", "database", "beats", known - 2)]
    root.execute("DELETE FROM reconcile.guards; DELETE FROM reconcile.instances")


def test_who_was_dead_or_stopped_begins_anew(beat, root, one):
    root.execute("DELETE FROM reconcile.instances")
    started = "SELECT started_at FROM reconcile.instances WHERE instance_id = 'i1'"
    beat()
    first = one(started)
    beat()
    assert one(started) == first
    root.execute("UPDATE reconcile.instances SET stopped_at = clock_timestamp()")
    beat()
    second = one(started)
    assert second["started_at"] > first["started_at"]
    root.execute("UPDATE reconcile.instances SET heartbeat_at = heartbeat_at - interval '11 s'")
    beat()
    assert one(started)["started_at"] > second["started_at"]


def test_members_judge_by_the_policy_of_now(beat, root, daemon):
    root.execute("DELETE FROM reconcile.instances; DELETE FROM reconcile.operation_types;"
                 "INSERT INTO reconcile.operation_types (operation_type, target, policy, paused)"
                 " VALUES ('a', 't', 'd2', false), ('b', 't', 'd1', true), ('c', 't', 'x', false);"
                 "INSERT INTO reconcile.guards (kind, name, reason) VALUES ('type', 'c', 'max'),"
                 " ('type', 'b', 'max');"
                 "UPDATE reconcile.guards SET released_at = now() WHERE name = 'b'")
    beat("i3", types=["a", "b"], digests=["d2", "d1"])
    beat("i1", types=["a", "b"], digests=["d1", "d1"])
    beat("i2", types=["a"], digests=["d2"])
    beat("joining")
    beat("stopped", types=["a"], digests=["d2"])
    beat("stale", types=["a"], digests=["d2"])
    run(daemon, "leave", "stopped")
    root.execute("UPDATE reconcile.instances SET heartbeat_at = clock_timestamp() - interval '11 s'"
                 " WHERE instance_id = 'stale'")
    rows = [tuple(row.values()) for row in run(daemon, "look_around", FRESH)]
    assert rows == [
        (None, "", False, False, "i1"), (None, "", False, False, "i2"),
        (None, "", False, False, "i3"), (None, "", False, False, "joining"),
        ("a", "d2", False, False, "i2"), ("a", "d2", False, False, "i3"),
        ("b", "d1", True, False, "i1"), ("b", "d1", True, False, "i3"),
        ("c", "x", False, True, None)]


def test_nobody_is_dead(beat, bury, root):
    root.execute("DELETE FROM reconcile.instances")
    beat("alive")
    assert bury() == -1


def test_a_dead_one_is_buried_once(dead, bury, suspicion, one, journal):
    dead("d1", "d2", "d3")
    assert bury() == 3
    assert suspicion("d1", "d2", "d3") == [(1, True)] * 3
    assert bury() == -1
    row = one("SELECT stopped_at IS NOT NULL AS stopped, in_flight FROM reconcile.instances")
    assert row == {"stopped": True, "in_flight": []}
    assert len(journal("d1")) == 1  # due times and counters are no change


def test_what_was_recorded_or_purged_since_is_no_suspect(dead, bury, suspicion, root):
    dead("r1", "r2", "r3")
    root.execute("UPDATE reconcile.operations SET due_at = clock_timestamp() + interval '1 h'"
                 " WHERE operation_id = 'r1'")
    root.execute("UPDATE reconcile.operations SET due_at = NULL WHERE operation_id = 'r2'")
    root.execute("DELETE FROM reconcile.operations WHERE operation_id = 'r3'")
    assert bury() == 0
    assert [s for s, _ in suspicion("r1", "r2")] == [0, 0]


def test_one_instance_a_call(dead, bury, root):
    dead("o1")
    root.execute("INSERT INTO reconcile.instances (instance_id, name, version, heartbeat_at)"
                 " VALUES ('also', 'n', '1', clock_timestamp() - interval '1 h')")
    assert sorted([bury(), bury()]) == [0, 1]
    assert bury() == -1


def test_our_own_row_at_start(dead, bury, beat, root, suspicion):
    """Before the first beat nobody is alive under this name, however fresh the last one is."""
    dead("s1", instance="i1")
    root.execute("UPDATE reconcile.instances SET heartbeat_at = clock_timestamp()")
    assert bury("i1") == -1
    assert bury("i1", at_start=True) == 1
    assert bury("i1", at_start=True) == -1
    assert suspicion("s1") == [(1, True)]
    assert bury("new", at_start=True) == -1


def test_two_that_bury_at_once(dead, connect, background, suspicion):
    dead("t1", "t2")
    tasks = [background(lambda c=connect("daemon"): run(
        c, "bury", "reconciled:one", "i1", False, FRESH).fetchone()["count"]) for _ in range(2)]
    assert sorted(task.result() for task in tasks) == [-1, 2]
    assert suspicion("t1", "t2") == [(1, True)] * 2


def test_once_in_company_and_three_times_alone_is_enough(dead, again, bury, one, journal, events):
    dead("k1", "k2")
    assert bury() == 2
    for count in (2, 3):
        again("k1")
        assert bury() == 1
        assert one("SELECT suspect, status FROM reconcile.operations WHERE operation_id = 'k1'") \
            == {"suspect": count, "status": "awaiting_confirmation"}
    again("k1")
    assert bury() == 1
    row = one("SELECT * FROM reconcile.operations WHERE operation_id = 'k1'")
    assert (row["status"], row["reason"], row["class"], row["disputed"], row["suspect"],
            row["due_at"], row["revision"]) == \
        ("manual_review", "suspect", None, True, 4, None, 1)
    last = journal("k1")[-1]
    assert (last["actor"], last["event"], last["from_status"], last["to_status"], last["reason"],
            last["action"]) == ("reconciled:one", "review", "awaiting_confirmation",
                                "manual_review", "suspect", "review")
    assert json.loads(last["evidence"]) == {"reason": "suspect", "suspect": 4, "instance": "gone"}
    assert events("k1") == ["operation.requested", "operation.review"]


def test_alone_from_the_start_takes_four(dead, again, bury, one):
    dead("al1")
    for _ in range(3):
        bury()
        again("al1")
    assert one("SELECT status FROM reconcile.operations WHERE operation_id = 'al1'") == \
        {"status": "awaiting_confirmation"}
    bury()
    assert one("SELECT status FROM reconcile.operations WHERE operation_id = 'al1'") == \
        {"status": "manual_review"}


def test_a_recorded_look_clears_the_suspicion(dead, again, bury, one, daemon):
    dead("c1")
    bury()
    again("c1")
    bury()
    record(daemon, [{"operation_id": "c1", "operation_type": "job", "revision": 0, "changed": False,
                     "from_status": "awaiting_confirmation", "to_status": "awaiting_confirmation",
                     "tally_class": "waiting", "tally_action": "wait", "due_in": 1}])
    assert one("SELECT suspect FROM reconcile.operations WHERE operation_id = 'c1'") == \
        {"suspect": 0}


def test_in_company_a_suspicion_does_not_grow(dead, bury, root, suspicion):
    dead("g1", "g2")
    root.execute("UPDATE reconcile.operations SET suspect = 3 WHERE operation_id = 'g1'")
    bury()
    assert [s for s, _ in suspicion("g1", "g2")] == [3, 1]


def test_who_killed_again_and_again_is_not_woken_with_the_resting(dead, again, bury, one, daemon):
    dead("w1", kind="woken")
    for _ in range(3):
        bury()
        again("w1")
    bury()
    run(daemon, "wake_observed", ["woken"])
    assert one("SELECT due_at FROM reconcile.operations WHERE operation_id = 'w1'") == \
        {"due_at": None}
