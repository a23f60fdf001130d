# SPDX-License-Identifier: Apache-2.0
"""Three requests that timed out: version 7 there, version 8 there, nothing there.

The simulated target keeps books, so it is known what really happened and that nobody wrote again.
"""

import socket

import pytest

from simulator import Simulator

POLICY = """
operation_type: sync_customer
target: crm
mode: enforce
describe: {effect: the customer is in the CRM, truth: the CRM, proof: its version, owner: sales}
latency_window: 5m
idempotent: natural
probes:
  - get: /customers/{business_key}
    found: {status: 200, /id: {present: true}}
    absent: {status: 404, /error: not_found}
    remote_id: /crm_id
absence: {confirm: 2, over: 1m}
compare: {version: {found: /version, type: version, is: op.version}}
actions: {missing: requeue}
"""

CONTROL = "control: {get: /customers/control, found: {status: 200, /id: control}}"


@pytest.fixture
def crm(world, tmp_path):
    directory = tmp_path / "simulator"
    directory.mkdir()
    sim = Simulator(directory, {
        "collections": {"customers": {"seed": [{"id": "control"}]}},
        "behaviours": [
            {"operation": "op-there", "on": "effect", "lose": "hang"},
            {"operation": "op-newer", "on": "effect", "lose": "hang"},
            {"operation": "op-never", "on": "effect", "outage": "hang"},
        ],
    })
    world.target(sim.base, more=CONTROL)
    world.policy(text=POLICY)
    yield sim
    assert sim.stop() == 0


def work(world, sim, name):
    """A worker: its request times out, so it knows nothing and says so."""
    world.request(f"op-{name}", entity_id=name, business_key=name)
    world.app.execute("SELECT reconcile.start(%s)", [f"op-{name}"])
    with pytest.raises(socket.timeout):
        sim.request("PUT", f"/customers/{name}", {"version": 7, "crm_id": f"CRM-{name}"},
                    {"Operation-Id": f"op-{name}"}, timeout=0.5)
    world.app.execute("SELECT reconcile.sent(%s)", [f"op-{name}"])
    world.age(f"op-{name}", "1 hour")


def test_three_timeouts(world, crm):
    for name in ("there", "newer", "never"):
        work(world, crm, name)
    crm.request("PUT", "/customers/newer", {"version": 8, "crm_id": "CRM-newer"})
    written = crm.counts()["effects"]

    first = world.once()
    assert [first.of(f"op-{name}")["status"] for name in ("there", "newer", "never")] == \
        ["confirmed", "manual_review", "awaiting_confirmation"]
    world.db.execute("UPDATE reconcile.operations SET absent_since = absent_since - '1 min'::interval"
                     " WHERE operation_id = 'op-never'")
    world.once("--operation", "op-never")

    there, newer, never = (world.operation(f"op-{name}") for name in ("there", "newer", "never"))
    assert (there["status"], there["class"], there["remote_id"]) == \
        ("confirmed", "correct", "CRM-there")
    assert (newer["status"], newer["class"], newer["reason"], newer["recommended_action"]) == \
        ("manual_review", "divergent", "newer", "review")
    assert (never["status"], never["class"], never["reason"], never["requeues"]) == \
        ("retry_scheduled", "missing", "absent_confirmed", 1)

    assert crm.counts()["effects"] == written
    assert crm.get("/customers/newer").body["version"] == 8
    assert len(crm.effects("op-there")) == 1 and crm.effects("op-never") == []
    assert {line["method"] for line in crm.lines("request") if line["purpose"] == "probe"} == {"GET"}
