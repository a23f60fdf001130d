# SPDX-License-Identifier: Apache-2.0
"""Promise 4: missing needs the window, repeated looks over a time, the control object, the horizon. Case P02."""

from target import NOT_FOUND, answer_json

CONTROL = "control: {get: /customers/control, found: {status: 200, /id: {present: true}}}"


def test_absent_looks_must_be_several_over_a_time(world, crm):
    world.policy(confirm=2, over="10m")
    world.send("op-1", ago="1 hour")
    first = world.once().of("op-1")
    assert (first["class"], first["reason"], first["action"]) == \
        ("waiting", "absent_unconfirmed", "wait")
    again = world.once("--operation", "op-1").of("op-1")  # a second look, too soon after the first
    assert (again["class"], again["reason"]) == ("waiting", "absent_unconfirmed")
    world.db.execute("UPDATE reconcile.operations SET absent_since = absent_since - '10 min'::interval")
    last = world.once("--operation", "op-1").of("op-1")
    assert (last["class"], last["reason"], last["status"]) == \
        ("missing", "absent_confirmed", "manual_review")
    assert world.evidence("op-1")["looks"]["absences"] == 3


def test_inside_the_window_absence_is_nothing(world, crm):
    world.policy()
    world.send("op-1", ago="1 minute")
    line = world.once("--operation", "op-1").of("op-1")
    assert (line["class"], line["reason"]) == ("waiting", "too_early")
    operation = world.operation("op-1")
    assert operation["absences"] == 0
    left = operation["due_at"] - operation["sent_at"]
    assert abs(left.total_seconds() - 300) < 2  # asked again when the window has passed


def test_without_the_control_object_absence_does_not_count(world, crm):
    world.policy()
    world.target(crm.url, more=CONTROL)
    world.send("op-1")
    line = world.once(expect=3).of("op-1")  # the control is a 404 as well
    assert (line["class"], line["reason"], line["rule"]) == ("inconclusive", "control", "control")
    crm.serve({"control": {"id": "c0"}})
    assert world.once("--operation", "op-1").of("op-1")["class"] == "missing"


def test_what_is_found_counts_without_the_control(world, crm):
    world.policy()
    world.target(crm.url, more=CONTROL)
    crm.answer = lambda request: NOT_FOUND if "control" in request.path \
        else answer_json({"id": "c1", "version": 7})
    world.send("op-1")
    assert world.once().of("op-1")["status"] == "confirmed"


def test_beyond_what_the_target_remembers_absence_is_ambiguous(world, crm):
    world.policy(more="", text="""
operation_type: sync_customer
target: crm
mode: enforce
describe: {effect: e, truth: t, proof: p, owner: o}
probes:
  - get: /customers/{business_key}
    found: {status: 200}
    absent: {status: 404, /error: not_found}
absence: {confirm: 1, horizon: 60d}
compare: {version: {found: /version, type: version, is: op.version}}
""")
    world.send("op-1", ago="61 days")
    line = world.once().of("op-1")
    assert (line["class"], line["reason"], line["action"]) == ("ambiguous", "beyond_horizon", "review")


def test_an_answer_older_than_the_window_is_not_evidence(world, crm):
    world.policy()
    crm.answer = lambda request: answer_json({"error": "not_found"}, 404, Age="55")
    world.send("op-1", ago="5 minutes 20 seconds")
    line = world.once().of("op-1")
    assert (line["class"], line["reason"]) == ("inconclusive", "not_covered")
    assert crm.requests[0].headers["cache-control"] == "no-cache"


def test_an_outage_between_two_absent_looks_neither_confirms_nor_resets(world, crm):
    world.policy(confirm=2, over="10m")
    world.send("op-1", ago="1 hour")
    world.once()
    crm.answer = lambda request: (502, {}, "")
    world.once("--operation", "op-1", expect=3)
    assert world.operation("op-1")["absences"] == 1
    world.db.execute("UPDATE reconcile.operations SET absent_since = absent_since - '10 min'::interval")
    crm.answer = lambda request: NOT_FOUND
    assert world.once("--operation", "op-1").of("op-1")["class"] == "missing"


def test_never_started_is_never_missing(world, crm):
    world.policy()
    world.request("op-1")
    world.age("op-1", "1 hour")
    line = world.once().of("op-1")
    assert (line["class"], line["reason"], line["status"]) == ("waiting", "never_sent", "pending")


def test_an_older_copy_before_the_first_send_waits_for_its_worker(world, crm):
    world.policy()
    crm.serve({"op-1": {"id": "c1", "version": 6}})
    world.request("op-1")
    world.age("op-1", "1 hour")
    line = world.once().of("op-1")
    assert (line["class"], line["reason"], line["action"], line["status"]) == \
        ("divergent", "older", "wait", "pending")
    assert world.operation("op-1")["disputed"] is False
    world.app.execute("SELECT reconcile.start('op-1')")  # its worker comes after all
    world.app.execute("SELECT reconcile.sent('op-1')")
    world.age("op-1", "1 hour")
    crm.serve({"op-1": {"id": "c1", "version": 7}})
    assert world.once().of("op-1")["status"] == "confirmed"
