# SPDX-License-Identifier: Apache-2.0
"""Promise 7: status, journal row, outbox row and tallies of a decision are written together or not at all."""

import signal
import time

COUNTS = """
SELECT (SELECT count(*) FROM reconcile.operations WHERE status = 'confirmed') AS confirmed,
       (SELECT count(*) FROM reconcile.journal WHERE to_status = 'confirmed') AS journal,
       (SELECT count(*) FROM reconcile.outbox WHERE type = 'operation.confirmed') AS events,
       (SELECT coalesce(sum(n), 0)::bigint FROM reconcile.tallies WHERE action = 'confirm') AS tallied
"""


def refuse(world, table, condition):
    world.db.execute(f"""
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'refused by a test' USING ERRCODE = '22000'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON reconcile.{table} FOR EACH ROW
            WHEN ({condition}) EXECUTE FUNCTION refuse()""")


def send_many(world, crm, count):
    crm.serve({f"op-{i:04}": {"id": f"c{i}", "version": 7} for i in range(count)})
    for i in range(count):
        world.send(f"op-{i:04}")


def test_a_row_that_the_outbox_refuses_changes_nothing_and_holds_up_nobody(world, crm):
    world.policy()
    send_many(world, crm, 40)
    refuse(world, "outbox", "new.aggregateid = 'op-0013' AND new.type <> 'operation.requested'")
    run = world.once(expect=1)
    assert run.json["types"]["sync_customer"]["correct"] == 39
    assert "op-0013" in run.err and "22000" in run.err
    assert set(world.db.execute(COUNTS).fetchone().values()) == {39}
    left = world.operation("op-0013")
    assert left["status"] == "awaiting_confirmation" and left["due_at"] is not None
    assert len(world.journal("op-0013")) == left["revision"] + 1


def test_evidence_that_is_refused_goes_to_a_person_not_in_circles(world, crm):
    world.policy()
    send_many(world, crm, 5)
    refuse(world, "journal", "new.operation_id = 'op-0003' AND new.reason IS DISTINCT FROM"
                             " 'not_storable' AND new.actor LIKE 'reconciled:%%'")
    world.once()
    assert world.db.execute(COUNTS).fetchone()["confirmed"] == 4
    operation = world.operation("op-0003")
    assert (operation["status"], operation["class"], operation["reason"]) == \
        ("manual_review", "ambiguous", "not_storable")
    assert world.events("op-0003") == ["operation.requested", "operation.review"]


def test_evidence_alone_that_is_refused_is_replaced_by_a_mark(world, crm):
    world.policy()
    send_many(world, crm, 5)
    refuse(world, "journal", "new.operation_id = 'op-0003' AND new.evidence LIKE '%%kept%%'")
    world.once()
    assert set(world.db.execute(COUNTS).fetchone().values()) == {5}
    assert world.evidence("op-0003") == {"not_storable": True}


def test_kill_9_in_the_middle_leaves_whole_decisions(world, crm):
    world.policy()
    world.settings(batch=10)
    send_many(world, crm, 400)
    running = world.start_once()
    deadline = time.monotonic() + 30
    while world.db.execute(COUNTS).fetchone()["confirmed"] < 50:
        assert time.monotonic() < deadline
    running.send_signal(signal.SIGKILL)
    running.communicate()
    counts = world.db.execute(COUNTS).fetchone()
    assert len(set(counts.values())) == 1, counts
    world.once()
    assert set(world.db.execute(COUNTS).fetchone().values()) == {400}


def test_a_locked_row_is_left_for_the_next_pass(world, crm):
    world.policy()
    send_many(world, crm, 10)
    with world.cluster.connect(world.database, autocommit=False) as holder:
        holder.execute("SELECT 1 FROM reconcile.operations WHERE operation_id = 'op-0004' FOR UPDATE")
        counts = world.once().json["types"]["sync_customer"]
        assert (counts["correct"], counts["stale"]) == (9, 1)
        holder.rollback()
    assert world.once().json["types"]["sync_customer"]["correct"] == 1
    assert set(world.db.execute(COUNTS).fetchone().values()) == {10}
