# SPDX-License-Identifier: Apache-2.0
"""Promise 9: observe mode changes no status and creates no outbox row."""

import pytest

OBJECTS = {"op-same": {"id": "c1", "version": 7}, "op-newer": {"id": "c2", "version": 8}}


def prepare(world, crm, mode):
    world.policy(mode=mode)
    crm.serve(OBJECTS)
    for name in ("op-same", "op-newer", "op-absent"):
        world.send(name)


@pytest.mark.parametrize("how", ["mode", "flag", "setting"])
def test_what_would_be_done_is_said_and_not_done(world, crm, how):
    prepare(world, crm, "observe" if how == "mode" else "enforce")
    if how == "setting":
        world.settings(observe="true")
    run = world.once(*(["--observe"] if how == "flag" else []))
    assert {o["operation_id"]: (o["class"], o["action"], o["mode"], o["status"])
            for o in run.json["operations"]} == {
        "op-same": ("correct", "confirm", "observe", "awaiting_confirmation"),
        "op-newer": ("divergent", "review", "observe", "awaiting_confirmation"),
        "op-absent": ("missing", "review", "observe", "awaiting_confirmation"),
    }
    for name, recommended in (("op-same", "confirm"), ("op-newer", "review"), ("op-absent", "review")):
        operation = world.operation(name)
        assert operation["status"] == "awaiting_confirmation"
        assert operation["recommended_action"] == recommended
        assert world.journal(name)[-1]["event"] == "observed"
        assert world.events(name) == ["operation.requested"]


def test_a_correct_one_is_asked_again_only_when_enforced(world, crm):
    prepare(world, crm, "observe")
    world.once()
    assert world.operation("op-same")["due_at"] is None
    assert world.once().json["types"]["sync_customer"]["checked"] == 0
    world.policy(mode="enforce")
    assert world.once().of("op-same")["status"] == "confirmed"


def test_observing_once_does_not_keep_an_enforced_type_waiting(world, crm):
    prepare(world, crm, "enforce")
    world.once("--observe")
    assert world.operation("op-same")["due_at"] is not None
    world.make_due("op-same")
    assert world.once().of("op-same")["status"] == "confirmed"


def test_a_locked_row_does_not_hold_up_the_start(world, crm):
    prepare(world, crm, "observe")
    world.once()
    world.policy(mode="enforce")
    with world.cluster.connect(world.database, autocommit=False) as holder:
        holder.execute("SELECT 1 FROM reconcile.operations WHERE operation_id = 'op-same' FOR UPDATE")
        run = world.once()
        assert "rows are locked" in run.err and run.json["types"]["sync_customer"]["checked"] == 0
        holder.rollback()
    assert world.once().of("op-same")["status"] == "confirmed"
