# SPDX-License-Identifier: Apache-2.0
"""Promise 5: sent again by a worker, the target has one effect. Case P05: the key never changes.

The simulated shop keeps books, so it is known what it was sent and what it did.
"""

import contextlib
import http.client
import json

import pytest

from fault_proxy import FaultProxy
from simulator import Simulator

POLICY = """
operation_type: create_order
target: shop
mode: enforce
describe: {effect: the order is in the shop, truth: shop, proof: its total, owner: sales}
latency_window: 1s
idempotent: key
resend: {key_valid: 1h}
probes:
  - get: /orders
    query: {number: "{business_key}", limit: "10"}
    found: {status: 200, /has_more: {present: true}}
    items: /data
    where: {/number: {is: op.business_key}}
    complete: {/has_more: "false"}
    remote_id: /id
absence: {confirm: 2, over: 1s}
compare: {total: {found: /total, is: op./expected/total}}
recheck: {first: 1s, factor: 1, max: 1s}
requeue: {max: 5, delay: 1s, factor: 1}
actions: {missing: requeue}
"""

CONTROL = "control: {get: /orders/control, found: {status: 200, /id: control}}"


class Worker:
    """Takes what it is given and sends it; notes what it sent."""

    def __init__(self, world, sim):
        self.world, self.sim = world, sim
        self.sent = []  # (operation_id, key, payload)

    def take(self):
        """The next operation, as soon as there is one."""
        def claimed():
            return self.world.app.execute(
                "SELECT o.operation_id, o.idempotency_key, o.attempts, c.payload::text AS payload"
                " FROM reconcile.claim(ARRAY['create_order'], lease => interval '30 s') o"
                " JOIN reconcile.content c USING (operation_id)").fetchone()
        return self.world.wait_for(claimed, what="work")

    def post(self, row, address=None, timeout=5):
        """The status, or None when no answer came."""
        self.sent.append((row["operation_id"], row["idempotency_key"], row["payload"]))
        host, _, port = (address or self.sim.address).rpartition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=timeout)
        with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
            connection.request("POST", "/orders", row["payload"], {
                "Content-Type": "application/json", "Idempotency-Key": row["idempotency_key"],
                "Operation-Id": row["operation_id"]})
            return connection.getresponse().status
        return None

    def unknown(self, row):
        self.world.app.execute("SELECT reconcile.sent(%s, attempt => %s)",
                               [row["operation_id"], row["attempts"]])

    def confirm(self, row):
        self.world.app.execute("SELECT reconcile.confirm(%s, attempt => %s)",
                               [row["operation_id"], row["attempts"]])


@pytest.fixture
def sim(world, tmp_path):
    directory = tmp_path / "simulator"
    directory.mkdir()
    running = Simulator(directory, {"collections": {"orders": {
        "indexes": ["number"], "idempotency": True,
        "seed": [{"id": "control", "number": "control"}]}}})
    world.target(running.base, more=CONTROL, name="shop")
    world.policy(text=POLICY)
    world.settings(interval="1s")
    yield running
    running.stop()


@pytest.fixture
def worker(world, sim):
    return Worker(world, sim)


def order(world):
    world.request("op-77", "create_order", entity_type="order", entity_id="77", version=None,
                  idempotency_key="k-77", business_key="n-77", expected={"total": "10.50"},
                  payload='{"total": "10.50",  "number":"n-77"}')


def effects(sim):
    return [line for line in sim.lines("effect") if line["operation_id"] == "op-77"]


def same(worker, times):
    """Sent so many times, and never anything else."""
    assert worker.sent == [("op-77", "k-77", '{"total": "10.50",  "number":"n-77"}')] * times


def test_the_first_send_arrives_after_the_second(world, sim, worker):
    order(world)
    with FaultProxy(sim.address) as network:
        network.up(delay=600)
        first = worker.take()
        assert worker.post(first, network.address, timeout=0.5) is None
        worker.unknown(first)
        world.start_daemon()
        world.wait_status("op-77", "retry_scheduled")
        assert effects(sim) == []
        second = worker.take()
        assert worker.post(second) == 201
        worker.confirm(second)
        # The first one was held up on its way, and comes after all.
        assert worker.post(first) in (200, 201)
    assert (second["attempts"], world.operation("op-77")["status"]) == (2, "confirmed")
    same(worker, 3)
    [effect] = effects(sim)
    assert effect["key"] == "k-77"


def test_the_first_send_arrives_between_the_verdict_and_the_second(world, sim, worker):
    order(world)
    first = worker.take()
    worker.unknown(first)  # nothing arrived yet
    world.start_daemon()
    world.wait_status("op-77", "retry_scheduled")
    assert worker.post(first) == 201
    second = worker.take()
    assert worker.post(second) in (200, 201)
    worker.confirm(second)
    same(worker, 2)
    assert len(effects(sim)) == 1


def test_it_is_confirmed_without_a_second_send_when_it_arrives_in_time(world, sim, worker):
    """After the verdict, but before a worker came for it."""
    order(world)
    first = worker.take()
    worker.unknown(first)
    world.start_daemon()
    world.wait_status("op-77", "retry_scheduled")
    assert worker.post(first) == 201
    world.wait_status("op-77", "confirmed")
    assert world.app.execute("SELECT * FROM reconcile.claim(ARRAY['create_order'])").fetchall() == []
    same(worker, 1)
    assert len(effects(sim)) == 1
    assert world.events("op-77") == ["operation.requested", "operation.requeued", "operation.confirmed"]


def test_a_target_that_shows_effects_late_is_sent_the_same_key_each_time(world, sim, worker):
    """Stored at once, the answer is lost, and nobody sees it for a while: missing, again missing."""
    sim.behave({"name": "lag", "on": "effect", "listed_after": "9s", "lose": "close"})
    order(world)
    world.start_daemon()
    for attempt in (1, 2):
        row = worker.take()
        assert row["attempts"] == attempt
        assert worker.post(row) is None
        worker.unknown(row)
        if attempt == 1:
            assert len(effects(sim)) == 1
            world.wait_status("op-77", "retry_scheduled")
    world.wait_for(lambda: finish(world, worker), 40, "confirmed")
    sends = len(worker.sent)
    assert sends >= 2
    same(worker, sends)
    assert len(effects(sim)) == 1
    assert json.loads(world.journal("op-77")[-1]["evidence"])["decided"] == "correct-confirm"


def finish(world, worker):
    """Goes on as the worker would until it is confirmed."""
    operation = world.operation("op-77")
    if operation["status"] == "retry_scheduled":
        rows = world.app.execute(
            "SELECT o.operation_id, o.idempotency_key, o.attempts, c.payload::text AS payload"
            " FROM reconcile.claim(ARRAY['create_order']) o"
            " JOIN reconcile.content c USING (operation_id)").fetchall()
        for row in rows:
            assert worker.post(row) is None
            worker.unknown(row)
    assert operation["status"] != "manual_review", operation
    return operation["status"] == "confirmed"
