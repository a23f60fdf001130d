# SPDX-License-Identifier: Apache-2.0
"""reconciled --once beside running instances, and at targets that do not let everything be asked."""

import json
import threading
import time

import pytest

from fault_proxy import FaultProxy
from target import NOT_FOUND, Target, answer_json
from world import OTHER_POLICY



def correct(request):
    return answer_json({"id": "c1", "version": 7})


@pytest.fixture
def shop(world):
    """A second target with a type of its own, in order."""
    with Target() as running:
        running.answer = correct
        world.target(running.url, name="shop")
        world.policy(text=OTHER_POLICY)
        yield running


def live(world, instance_id, types="{}"):
    """An instance whose heartbeat stays fresh for the whole test."""
    world.db.execute(
        "INSERT INTO reconcile.instances (instance_id, name, version, heartbeat_at, types)"
        " VALUES (%s, %s, '0', clock_timestamp() + '1 hour'::interval, %s)",
        [instance_id, instance_id, types])


def members(world):
    """What an instance announces that takes part in all published types."""
    return world.db.execute("SELECT jsonb_object_agg(operation_type, policy)::text AS types"
                            " FROM reconcile.operation_types").fetchone()["types"]


def due(world, operation_type):
    return world.db.execute(
        "SELECT count(*) AS n FROM reconcile.operations WHERE operation_type = %s"
        " AND due_at <= clock_timestamp() AND checks = 0", [operation_type]).fetchone()["n"]


class Most:
    """Counts how many questions are under way at once."""

    def __init__(self):
        self.lock, self.now, self.most = threading.Lock(), 0, 0

    def __call__(self, request):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.03)
        with self.lock:
            self.now -= 1
        return correct(request)


def test_the_limits_of_targets_are_divided(world, crm):
    world.policy()
    world.target(crm.url, more="rate: {concurrent: 7}")
    live(world, "a-daemon")
    live(world, "b-daemon")
    crm.answer = counting = Most()
    for i in range(30):
        world.send(f"op-{i}")
    assert world.once().json["types"]["sync_customer"]["correct"] == 30
    assert counting.most == 2  # 7 = 3 + 2 + 2, and "once:test" is the last of three


def test_a_target_that_is_too_small_for_all_is_left_to_its_member(world, crm):
    world.policy()
    world.target(crm.url, more="rate: {concurrent: 1}")
    crm.answer = correct
    assert world.once().code == 0
    live(world, "a-daemon", members(world))
    assert world.once().code == 0  # nothing was due, nothing was left
    world.send("op-1")
    before = world.operation("op-1")
    run = world.once(expect=3)
    assert 'target "crm" belongs to another instance' in run.err
    assert run.json["types"]["sync_customer"]["checked"] == 0
    assert world.operation("op-1") == before and crm.requests == []


def test_it_is_counted_while_it_runs(world, crm):
    asked, released = threading.Event(), threading.Event()

    def silent(request):
        asked.set()
        released.wait(60)
        return correct(request)

    def row():
        return world.db.execute("SELECT * FROM reconcile.instances").fetchone()

    world.policy()
    crm.answer = silent
    world.send("op-1")
    running = world.start_once()
    assert asked.wait(20)
    first = row()
    assert (first["instance_id"], first["name"], first["types"]) == ("once:test", "test", {})
    assert first["stopped_at"] is None
    world.wait_for(lambda: row()["beats"] > first["beats"], what="another heartbeat")
    released.set()
    running.communicate(timeout=30)
    assert running.returncode == 0
    assert row()["stopped_at"] is not None


def test_it_leaves_also_when_it_is_interrupted(world, crm):
    asked = threading.Event()

    def slow(request):
        asked.set()
        time.sleep(0.5)
        return correct(request)

    world.policy()
    crm.answer = slow
    world.send("op-1")
    running = world.start_once()
    assert asked.wait(20)
    running.terminate()
    running.communicate(timeout=30)
    assert running.returncode == 1
    assert world.operation("op-1")["status"] == "confirmed"
    assert world.db.execute("SELECT stopped_at FROM reconcile.instances").fetchone()["stopped_at"]


def test_an_open_breaker_leaves_what_is_due_and_holds_nobody_else(world, crm, shop):
    world.policy()
    world.target(crm.url, more="retry: {attempts: 1}\nbreaker: {failures: 3, open: 1m}\n"
                               "rate: {concurrent: 1}")
    crm.answer = lambda request: (500, {}, "")
    for i in range(20):
        world.send(f"op-{i}")
        world.send(f"order-{i}", operation_type="order")
    run = world.once(expect=3)
    assert run.json["types"]["order"]["correct"] == 20
    assert run.json["types"]["sync_customer"]["inconclusive"] == 3 == len(crm.requests)
    assert due(world, "sync_customer") == 17
    assert 'operations of type "sync_customer" were left: target "crm" lets nothing' in run.err
    assert '"order"' not in run.err


def test_named_operations_of_a_closed_target_hold_no_others(world, crm, shop):
    world.policy()
    world.target(crm.url, more="retry: {attempts: 1}\nbreaker: {failures: 1, open: 1m}\n"
                               "rate: {concurrent: 1}")
    crm.answer = lambda request: (500, {}, "")
    named = []
    for i in range(5):
        world.send(f"a-{i}")
        world.send(f"b-{i}", operation_type="order")
        named += ["--operation", f"a-{i}", "--operation", f"b-{i}"]
    run = world.once(*named, expect=3)
    assert run.json["types"]["order"]["correct"] == 5
    assert len(crm.requests) == 1 and due(world, "sync_customer") == 4


def test_a_long_pause_that_the_target_asks_for_is_not_waited_for(world, crm):
    world.policy()
    world.target(crm.url, more="rate: {concurrent: 1}")
    crm.answer = lambda request: answer_json({}, 429, **{"retry-after": "600"})
    for i in range(5):
        world.send(f"op-{i}")
    began = time.monotonic()
    run = world.once(expect=3)
    assert time.monotonic() - began < 60
    assert len(crm.requests) == 1 and due(world, "sync_customer") == 4
    assert "lets nothing be asked" in run.err


def test_a_short_pause_is_waited_for(world, crm):
    answers = iter([answer_json({}, 429, **{"retry-after": "2"})])
    world.policy()
    world.target(crm.url, more="rate: {concurrent: 1}")
    crm.answer = lambda request: next(answers, correct(request))
    for i in range(5):
        world.send(f"op-{i}")
    assert world.once().json["types"]["sync_customer"]["correct"] == 5


def test_what_a_guard_holds_back_waits(world, crm):
    world.policy()
    world.db.execute("INSERT INTO reconcile.guards (kind, name, reason) VALUES ('type', 'sync_customer', 'share')")
    crm.serve({"there": {"id": "c1", "version": 7}})
    world.send("there")
    world.send("missing")
    line = world.once().of("missing")
    assert (line["class"], line["action"], line["status"]) == ("missing", "wait", "awaiting_confirmation")
    assert world.operation("there")["status"] == "confirmed"
    assert world.events("missing") == ["operation.requested"]
    world.make_due("missing")
    run = world.run("reconciled", "--once")
    assert run.code == 0
    assert "sync_customer: held back because a guard is tripped: 1" in run.out


def test_a_guard_that_trips_in_the_batch_replaces_what_was_decided(world, crm):
    """Nobody knew of it when the cases were judged; the recording statement did."""
    world.policy(more="guard: {max: 3, window: 1h, share: 100%, sample: 100}\n")
    for i in range(8):
        world.send(f"op-{i}")
    types = world.once().json["types"]["sync_customer"]
    assert types["missing"] == 8 and types["stale"] == 0
    assert sum(types["actions"].values()) == 8 and types["actions"]["wait"] >= 5
    rows = world.db.execute("SELECT operation_id, status FROM reconcile.operations").fetchall()
    reviewed = [row["operation_id"] for row in rows if row["status"] == "manual_review"]
    assert len(reviewed) == types["actions"].get("review", 0) <= 3
    for row in rows:
        evidence = world.evidence(row["operation_id"])
        held = row["status"] == "awaiting_confirmation"
        assert evidence["decided"] == ("guard-wait" if held else "missing-review")


def test_a_correction_that_comes_too_late_is_not_started(world, crm):
    """What the database hears arrives 1.5 seconds after the answer, and 1 second is allowed."""
    world.policy(more="idempotent: natural\nactions: {missing: requeue}\n")
    world.target(crm.url, more="control: {get: /customers/control, found: {status: 200}}")
    world.send("op-1")
    with FaultProxy(f"unix:{world.cluster.directory}/.s.PGSQL.5432", postgres=True) as proxy:
        def answer(request):
            if request.path.endswith("/control"):
                return answer_json({})
            proxy.up(delay=1.5)
            return NOT_FOUND

        crm.answer = answer
        world.settings(max_verdict_age="1s", database=json.dumps(
            f"host=127.0.0.1 port={proxy.port} user=daemon_login dbname={world.database}"))
        for time_in_a_row in (1, 2):
            line = world.once("--operation", "op-1").of("op-1")
            proxy.up(delay=0)
            assert (line["class"], line["action"], line["status"]) == \
                ("missing", "wait", "awaiting_confirmation")
            assert world.operation("op-1")["postponed"] == time_in_a_row
        line = world.once("--operation", "op-1").of("op-1")
        assert (line["action"], line["status"]) == ("review", "manual_review")
        assert world.evidence("op-1")["decided"] == "missing-late-review"
        assert world.operation("op-1")["requeues"] == 0
        assert "operation.requeued" not in world.events("op-1")
