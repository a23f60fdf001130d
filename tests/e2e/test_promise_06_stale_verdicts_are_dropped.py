# SPDX-License-Identifier: Apache-2.0
"""Promise 6: a verdict is written only on the revision that was selected. Case Q01."""

import threading

from target import NOT_FOUND


def test_the_worker_confirms_while_the_target_is_slow(world, crm):
    asked, go_on = threading.Event(), threading.Event()

    def slow(request):
        asked.set()
        assert go_on.wait(30)
        return NOT_FOUND

    world.policy()
    crm.answer = slow
    world.send("op-7")
    running = world.start_once()
    assert asked.wait(30)
    world.app.execute("SELECT reconcile.confirm('op-7', remote_id => 'c7')")
    go_on.set()
    out, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    assert '"stale":1' in out and '"missing":0' in out and '"operations":[]' in out
    operation = world.operation("op-7")
    assert (operation["status"], operation["remote_id"]) == ("confirmed", "c7")
    assert [row["actor"].split(":")[0] for row in world.journal("op-7")] == ["app"] * 4
    assert world.events("op-7") == ["operation.requested", "operation.confirmed"]


def test_counters_of_a_look_that_changes_nothing_are_dropped_too(world, crm):
    asked, go_on = threading.Event(), threading.Event()

    def slow(request):
        asked.set()
        assert go_on.wait(30)
        return (502, {}, "")

    world.policy()
    world.send("op-7")
    crm.answer = lambda request: (502, {}, "")
    world.once(expect=3)  # the first look without a verdict is told, the next one only counted
    world.make_due("op-7")
    crm.answer = slow
    running = world.start_once()
    assert asked.wait(30)
    world.db.execute("UPDATE reconcile.operations SET checks = checks + 1")  # another one looked
    go_on.set()
    out, err = running.communicate(timeout=60)
    assert running.returncode == 3, err
    assert '"stale":1' in out
    assert world.operation("op-7")["checks"] == 2


def test_an_open_case_does_not_move_under_the_person_who_reads_it(world, crm):
    world.policy()
    crm.serve({"op-1": {"id": "c1", "version": "8"}})
    world.send("op-1")
    world.once()
    before = world.operation("op-1")
    world.once("--operation", "op-1")
    after = world.operation("op-1")
    assert after["revision"] == before["revision"] and after["checks"] == before["checks"] + 1
    assert len(world.journal("op-1")) == before["revision"] + 1


def test_a_wake_up_during_a_look_is_not_lost(world, crm):
    asked, go_on = threading.Event(), threading.Event()

    def slow(request):
        asked.set()
        assert go_on.wait(30)
        return (200, {}, '{"id": "c1", "version": "7"}')

    world.policy()
    crm.answer = slow
    world.send("op-7")
    running = world.start_once()
    assert asked.wait(30)
    world.make_due("op-7")  # an older version was sent meanwhile and may have landed on top
    woken = world.operation("op-7")["due_at"]
    go_on.set()
    out, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    operation = world.operation("op-7")
    assert (operation["status"], operation["due_at"]) == ("confirmed", woken)


def test_why_there_is_no_verdict_yet_is_told_once_for_each_reason(world, crm):
    world.policy()
    crm.answer = lambda request: (502, {}, "")
    world.send("op-1")
    for answer in ((502, {}, ""), (502, {}, ""), (429, {}, ""), (429, {}, "")):
        crm.answer = lambda request, answer=answer: answer
        world.once("--operation", "op-1", expect=3)
    looks = [(row["event"], row["class"], row["reason"], row["to_status"])
             for row in world.journal("op-1")[3:]]
    assert looks == [("looked", "inconclusive", "http_5xx", "awaiting_confirmation"),
                     ("looked", "inconclusive", "throttled", "awaiting_confirmation")]
    operation = world.operation("op-1")
    assert (operation["class"], operation["reason"], operation["checks"]) == (None, "throttled", 4)
    assert world.events("op-1") == ["operation.requested"]
