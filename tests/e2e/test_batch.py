# SPDX-License-Identifier: Apache-2.0
"""One request for many operations: each is judged by its own part, and none suffers for another."""

import json
import threading

import pytest

from fleet import Fleet
from target import answer_json

POLICY = """
operation_type: sync_customer
target: crm
mode: enforce
describe: {{effect: e, truth: t, proof: p, owner: o}}
latency_window: 5m
probes:
  - name: read
    post: /batch/read
    reads: true
    json: {{inputs: "{{batch|each id=business_key}}"}}
    found: {{status: [200, 207], /results: {{present: true}}}}
    items: /results
    where: {{/id: op.business_key}}
    batch: {{max: {max}, match: /id}}
    remote_id: /id
judge: [{{when: {{/error: {{present: true}}}}, class: ambiguous, why: part_failed}}]
absence: {{confirm: 1, over: 0s}}
compare: {{version: {{found: /version, type: version, is: op.version}}}}
"""


def asked_for(request):
    return [part["id"] for part in json.loads(request.body)["inputs"]]


def whole(request):
    return answer_json({"results": [{"id": i, "version": 7} for i in asked_for(request)]})


@pytest.fixture
def batch(world, crm):
    """Sends so many operations, "op-000" …; at most 100 of them in a request."""
    world.policy(text=POLICY.format(max=100))
    crm.answer = whole

    def send(count):
        ids = [f"op-{number:03}" for number in range(count)]
        for operation_id in ids:
            world.send(operation_id)
        return ids
    return send


def statuses(world):
    rows = world.db.execute("SELECT status, count(*) FROM reconcile.operations GROUP BY 1")
    return {row["status"]: row["count"] for row in rows.fetchall()}


def test_a_hundred_operations_with_one_request(world, crm, batch):
    ids = batch(100)
    world.once()
    [request] = crm.asked("/batch/read")
    assert sorted(asked_for(request)) == ids
    assert statuses(world) == {"confirmed": 100}
    assert world.operation("op-042")["remote_id"] == "op-042"


def test_more_than_one_request_holds(world, crm, batch):
    ids = batch(250)
    world.settings(max_in_flight=1000)
    world.once()
    sizes = sorted(len(asked_for(request)) for request in crm.asked("/batch/read"))
    assert sizes == [50, 100, 100]
    assert sorted(i for request in crm.asked("/batch/read") for i in asked_for(request)) == ids
    assert statuses(world) == {"confirmed": 250}


def test_what_may_be_in_flight_bounds_a_batch(world, crm, batch):
    batch(30)
    world.settings(max_in_flight=10)
    world.once()
    sizes = [len(asked_for(request)) for request in crm.asked("/batch/read")]
    assert max(sizes) <= 10 and sum(sizes) == 30
    assert statuses(world) == {"confirmed": 30}


def test_parts_that_fail_or_are_missing_are_each_on_their_own(world, crm, batch):
    def partly(request):
        parts = {i: {"id": i, "version": 7} for i in asked_for(request)}
        del parts["op-001"]
        parts["op-002"] = {"id": "op-002", "error": {"code": 500}}
        parts["op-003"] = {"id": "op-003", "version": 6}
        return answer_json({"results": list(parts.values())}, 207)

    batch(6)
    crm.answer = partly
    run = world.once()
    assert len(crm.asked("/batch/read")) == 1
    assert {i: run.of(i)["class"] for i in ("op-000", "op-001", "op-002", "op-003", "op-004")} == {
        "op-000": "correct", "op-001": "missing", "op-002": "ambiguous", "op-003": "divergent",
        "op-004": "correct"}
    assert run.of("op-002")["reason"] == "part_failed"
    evidence = world.evidence("op-001")
    assert evidence["reading"] == "absent"
    assert evidence["response"]["sha256"] == world.evidence("op-000")["response"]["sha256"]


def test_a_part_that_is_there_twice_is_several(world, crm, batch):
    def twice(request):
        return answer_json({"results": [{"id": "op-000", "version": 7},
                                        {"id": "op-000", "version": 6},
                                        {"id": "op-001", "version": 7}]})
    batch(2)
    crm.answer = twice
    run = world.once()
    assert run.of("op-000")["class"] == "ambiguous"
    assert run.of("op-001")["class"] == "correct"


def test_a_batch_that_is_refused_is_asked_again_as_a_whole(world, crm, batch):
    answers = []

    def refuse_once(request):
        answers.append(request)
        if len(answers) == 1:
            return answer_json({}, 429, **{"retry-after": "1"})
        return whole(request)

    batch(20)
    crm.answer = refuse_once
    world.once()
    first, second = crm.asked("/batch/read")
    assert asked_for(first) == asked_for(second)
    assert statuses(world) == {"confirmed": 20}


def test_a_batch_that_stays_refused_says_nothing_about_anybody(world, crm, batch):
    ids = batch(20)
    world.target(crm.url, more="retry: {attempts: 1}")
    crm.answer = lambda request: answer_json({}, 503)
    run = world.once(expect=3)
    assert {run.of(i)["class"] for i in ids} == {"inconclusive"}
    assert {run.of(i)["reason"] for i in ids} == {"throttled"}
    assert len(crm.asked("/batch/read")) == 1
    assert statuses(world) == {"awaiting_confirmation": 20}


def test_single_and_batch_probes_in_one_policy(world, crm, batch):
    """Who has a remote id is asked for by it, the others together."""
    text = POLICY.format(max=100).replace("probes:\n", """probes:
  - get: /customers/{remote_id}
    found: {status: 200}
    absent: {status: 404, /error: not_found}
""")
    world.policy(text=text)
    crm.answer = lambda request: (whole(request) if request.method == "POST"
                                  else answer_json({"version": 7}))
    batch(20)
    world.db.execute("UPDATE reconcile.operations SET remote_id = operation_id"
                     " WHERE operation_id < 'op-010'")
    world.once()
    assert len(crm.asked("/customers/")) == 10
    assert sum(len(asked_for(request)) for request in crm.asked("/batch/read")) == 10
    assert statuses(world) == {"confirmed": 20}


def test_killed_in_a_batch_each_suspect_is_asked_alone(world, crm, batch):
    began, released = threading.Event(), threading.Event()

    def hang(request):
        if not released.is_set():
            began.set()
            released.wait(60)
            return None
        return whole(request)

    ids = batch(5)
    crm.answer = hang
    world.target(crm.url, more="timeout: {total: 30s}")
    fleet = Fleet(world)
    fleet.start("a", interval="1s")
    assert began.wait(20)
    fleet.kill("a")
    released.set()
    assert sorted(fleet.rows()["a"]["in_flight"]) == ids
    with crm.lock:
        crm.requests.clear()
    fleet.start("a", interval="1s")
    assert {world.operation(i)["suspect"] for i in ids} == {1}
    world.make_due(*ids)
    for operation_id in ids:
        world.wait_status(operation_id, "confirmed")
    assert sorted(map(asked_for, crm.asked("/batch/read"))) == [[i] for i in ids]
    assert {world.operation(i)["suspect"] for i in ids} == {0}
