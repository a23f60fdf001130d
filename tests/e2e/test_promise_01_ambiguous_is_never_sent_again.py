# SPDX-License-Identifier: Apache-2.0
"""Promise 1: an ambiguous operation is never sent again automatically."""

import pytest
from target import answer_json

UNKNOWN_STATE = """
judge:
  - {when: {/state: {not: done}}, class: ambiguous, why: unknown_state}
idempotent: natural
actions: {missing: requeue}
"""


@pytest.mark.parametrize("action", ["requeue", "compensate", "confirm", "close"])
def test_a_policy_that_acts_on_ambiguous_does_not_load(world, crm, action):
    world.policy(more=f"actions: {{ambiguous: {action}}}\n")
    run = world.run("reconciled", "--check-config")
    assert run.code == 2
    assert "sync_customer.yaml:" in run.err and "ambiguous" in run.err


def test_ambiguous_goes_to_a_person_and_stays_there(world, crm):
    world.target(crm.url, more="control: {get: /customers/control, found: {status: 200}}")
    world.policy(more=UNKNOWN_STATE)
    crm.serve({"control": {"id": "c"}, "op-1": {"id": "c1", "version": "7", "state": "initiated_v2"}})
    world.send("op-1")
    for _ in range(3):
        line = world.once("--operation", "op-1").of("op-1")
        assert (line["class"], line["reason"], line["status"]) == \
            ("ambiguous", "unknown_state", "manual_review")
    operation = world.operation("op-1")
    assert operation["requeues"] == 0 and operation["recommended_action"] == "review"
    assert world.events("op-1") == ["operation.requested", "operation.review"]


def test_several_by_business_key_are_ambiguous_not_sent_again(world, crm):
    world.policy(more="idempotent: no\n", text="""
operation_type: sync_customer
target: crm
mode: enforce
describe: {effect: e, truth: t, proof: p, owner: o}
probes:
  - get: /customers
    query: {source: "{business_key}"}
    found: {status: 200, /data: {present: true}}
    items: /data
    where: {/source: op.business_key}
compare:
  version: {found: /version, type: version, is: op.version}
""")
    crm.answer = lambda request: answer_json(
        {"data": [{"source": request.query["source"], "version": 7},
                  {"source": request.query["source"], "version": 7}]})
    world.send("op-1")
    line = world.once().of("op-1")
    assert (line["class"], line["reason"], line["action"]) == \
        ("ambiguous", "several_at_target", "review")
    assert world.operation("op-1")["disputed"] is True
