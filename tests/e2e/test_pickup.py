# SPDX-License-Identifier: Apache-2.0
"""What waits for a worker and is taken by none is announced again, so often and no more."""

import pytest

import history
from target import answer_json

PICKUP = """
pickup_window: 1s
recheck: {first: 1s, factor: 1, max: 1s, jitter: 0%}
requeue: {max: 2}
"""
POLICY_AGAIN = """
operation_type: sync_customer
target: crm
mode: enforce
describe: {effect: customer in the CRM, truth: CRM, proof: version, owner: sales}
latency_window: 1s
idempotent: natural
probes:
  - get: /customers/{business_key}
    found: {status: 200, /id: {present: true}}
    absent: {status: 404, /error: not_found}
absence: {confirm: 1, over: 0s}
compare: {version: {found: /version, type: version, is: op.version}}
actions: {missing: requeue}
requeue: {max: 2, delay: 1s, factor: 1}
""" + PICKUP.replace("requeue: {max: 2}\n", "")


def nothing_there(request):
    if request.path == "/customers/control":
        return answer_json({"id": "c0", "version": 1})
    return answer_json({"error": "not_found"}, status=404)


@pytest.fixture
def daemon(world, crm):
    """A daemon that looks every second and finds nothing at the target."""
    crm.answer = nothing_there
    world.settings(interval="1s")

    def start(**policy):
        world.policy(**policy)
        return world.start_daemon()

    return start


def announced(world, operation_id):
    return [row["event"] for row in world.journal(operation_id)].count("announced")


def looks(world, operation_id):
    return world.operation(operation_id)["checks"]


def test_a_request_that_no_worker_takes(world, daemon):
    world.request("op-1")
    world.make_due("op-1")
    daemon(more=PICKUP)
    world.wait_for(lambda: announced(world, "op-1") == 2, what="two announcements")
    seen = looks(world, "op-1")
    world.wait_for(lambda: looks(world, "op-1") >= seen + 3, what="three more looks")
    assert world.events("op-1") == ["operation.requested"] * 3
    operation = world.operation("op-1")
    assert (operation["status"], operation["reason"], operation["announcements"]) == \
        ("pending", "never_sent", 2)
    ids = world.db.execute("SELECT count(DISTINCT id) AS n FROM reconcile.outbox").fetchone()["n"]
    assert ids == 3
    assert history.holes(world.db) == {}
    taken = world.app.execute("SELECT * FROM reconcile.claim(ARRAY['sync_customer'])").fetchall()
    assert [row["operation_id"] for row in taken] == ["op-1"]


def test_one_that_was_handed_back(world, crm, daemon):
    world.target(crm.url, more="control: {get: /customers/control, found: {status: 200}}")
    world.send("op-2")
    daemon(text=POLICY_AGAIN)
    world.wait_for(lambda: announced(world, "op-2") == 2, what="two announcements")
    assert world.events("op-2") == ["operation.requested"] + ["operation.requeued"] * 3
    assert world.operation("op-2")["status"] == "retry_scheduled"
    assert history.holes(world.db) == {}


def test_promise_09_who_observes_announces_nothing(world, daemon):
    world.request("op-3")
    world.make_due("op-3")
    daemon(mode="observe", more=PICKUP)
    world.wait_for(lambda: looks(world, "op-3") >= 4, what="four looks")
    assert world.events("op-3") == ["operation.requested"]
