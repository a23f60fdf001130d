# SPDX-License-Identifier: Apache-2.0
"""What is final is looked at when it is named or woken, and the look is recorded like any other."""


def found(version):
    return {"op-1": {"id": "c1", "version": version}}


def test_a_confirmed_one_that_is_named_stays_as_it_is(world, crm):
    world.policy()
    crm.serve(found("7"))
    world.send("op-1")
    world.once()
    before = world.operation("op-1")
    run = world.once("--operation", "op-1")
    assert run.of("op-1")["class"] == "correct" and run.of("op-1")["action"] == "wait"
    after = world.operation("op-1")
    assert (after["status"], after["revision"]) == ("confirmed", before["revision"])
    assert after["checks"] == before["checks"] + 1


def test_a_closed_one_with_a_receipt_is_asked_and_rests_again(world, crm):
    world.policy()
    crm.serve({})
    world.request("op-1")
    world.app.execute("SELECT reconcile.cancel('op-1')")
    world.app.execute("SELECT reconcile.receipt('op-1', 'r')")
    world.once()
    operation = world.operation("op-1")
    assert (operation["status"], operation["due_at"]) == ("not_applicable", None)
