# SPDX-License-Identifier: Apache-2.0
"""Rows that no usual day makes: final ones that are due, times without end, long texts."""

import psycopg
import pytest

from target import answer_json


def set_columns(world, operation_id, **columns):
    names = ", ".join(f"{name} = %({name})s" for name in columns)
    world.db.execute(f"UPDATE reconcile.operations SET {names} WHERE operation_id = %(id)s",
                     {"id": operation_id, **columns})


@pytest.mark.parametrize("answer, verdict", [
    (answer_json({"id": "c9", "version": 7}), "correct"),
    (answer_json({"id": "c9", "version": 8}), "divergent"),
    (answer_json({"error": "not_found"}, 404), "missing"),
], ids=["correct", "divergent", "missing"])
def test_a_final_row_that_is_due_keeps_what_it_is(world, crm, answer, verdict):
    """Also its remote id, whatever was found; nothing is announced."""
    world.policy()
    crm.serve({"op-1": {"id": "c1", "version": 7}})
    world.send("op-1")
    world.once()
    before, events = world.operation("op-1"), world.events("op-1")
    world.make_due("op-1")
    crm.answer = lambda request: answer
    line = world.once().of("op-1")
    assert (line["class"], line["action"], line["status"]) == (verdict, "wait", "confirmed")
    after = world.operation("op-1")
    for column in ("status", "class", "reason", "remote_id", "closed_at", "closed_reason", "revision"):
        assert after[column] == before[column], column
    assert after["due_at"] is None and after["checks"] == before["checks"] + 1
    assert world.events("op-1") == events


def test_a_superseded_attempt_that_ends_late_wakes_its_successor(world, crm):
    """Nobody has to do anything odd for a confirmed operation to be due again."""
    world.policy()
    crm.answer = lambda request: answer_json({"id": "c1", "version": request.path[-1]})
    world.request("op-7", entity_id="e1", version="7")
    world.app.execute("SELECT reconcile.start('op-7')")
    world.request("op-8", entity_id="e1", version="8")
    world.app.execute("SELECT reconcile.start('op-8')")
    world.app.execute("SELECT reconcile.sent('op-8')")
    world.app.execute("SELECT reconcile.confirm('op-8', remote_id => 'c1')")
    world.app.execute("SELECT reconcile.sent('op-7')")
    assert world.operation("op-8")["due_at"] is not None
    assert world.once().of("op-8")["class"] == "correct"
    assert world.operation("op-8")["status"] == "confirmed"


def test_a_reversal_under_way_is_left_alone(world, crm):
    world.policy()
    world.send("op-1")
    set_columns(world, "op-1", status="compensating")
    line = world.once().of("op-1")
    assert (line["class"], line["action"], line["status"]) == ("missing", "wait", "compensating")
    assert world.operation("op-1")["class"] is None


@pytest.mark.parametrize("moment", ["infinity", "294276-12-31"])
def test_absence_of_what_was_sent_in_the_far_future_is_too_early(world, crm, moment):
    world.policy()
    world.send("op-1")
    set_columns(world, "op-1", sent_at=moment)
    line = world.once().of("op-1")
    assert (line["class"], line["reason"]) == ("waiting", "too_early")


def test_views_survive_rows_without_a_moment(world, crm):
    world.policy()
    world.send("op-1")
    set_columns(world, "op-1", created_at="-infinity", deadline_at="-infinity")
    for arguments in (["status"], ["status", "--json"], ["list"], ["show", "op-1"]):
        assert world.run("reconcilectl", *arguments).code == 0, arguments


@pytest.mark.parametrize("moment", ["infinity", "-infinity"])
def test_a_deadline_is_a_moment(world, moment):
    with pytest.raises(psycopg.Error) as refused:
        world.request("op-1", deadline=moment)
    assert refused.value.sqlstate == "RC400"


def test_a_remote_id_is_as_long_as_other_references(world, crm):
    world.policy()
    crm.serve({"op-1": {"id": "x" * 500, "version": 7}, "op-2": {"id": "x" * 501, "version": 7}})
    world.send("op-1")
    world.send("op-2")
    world.once()
    assert world.operation("op-1")["remote_id"] == "x" * 500
    assert world.operation("op-2")["remote_id"] is None
    world.request("op-3")
    world.app.execute("SELECT reconcile.start('op-3')")
    for call in ("sent('op-3', remote_id => repeat('x', 501))",
                 "confirm('op-3', remote_id => repeat('x', 501))"):
        with pytest.raises(psycopg.Error) as refused:
            world.app.execute(f"SELECT reconcile.{call}")
        assert refused.value.sqlstate == "RC400"
