# SPDX-License-Identifier: Apache-2.0
"""A verdict that the database refuses goes to a person, and only a person confirms it."""

from target import answer_json

REFUSE = """
CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'refused' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER refuse BEFORE INSERT ON reconcile.journal FOR EACH ROW
WHEN (NEW.reason = 'field_differs') EXECUTE FUNCTION public.refuse();
"""


def test_what_could_not_be_stored_is_not_confirmed_later(world, crm):
    world.policy(more="""
        judge:
          - {when: {/version: "8"}, class: divergent, why: field_differs}
        """)
    world.db.execute(REFUSE)
    crm.serve({"op-1": {"id": "c1", "version": "8"}})
    world.send("op-1")
    world.once()
    operation = world.operation("op-1")
    assert (operation["status"], operation["reason"]) == ("manual_review", "not_storable")
    crm.serve({"op-1": {"id": "c1", "version": "7"}})
    world.once("--operation", "op-1")
    operation = world.operation("op-1")
    assert (operation["status"], operation["class"]) == ("manual_review", "correct")


def test_what_is_wrong_with_every_row_is_told_once(world, crm):
    """Also with those that cannot even be given to a person; when it is mended they go on."""
    world.policy()
    world.settings(interval="1s")
    world.db.execute(REFUSE.replace("NEW.reason = 'field_differs'", "NEW.actor LIKE 'reconciled:%'"))
    crm.answer = lambda request: answer_json({"id": "c1", "version": 7})
    for i in range(20):
        world.send(f"op-{i}")
    daemon = world.start_daemon()
    world.wait_for(lambda: len(crm.requests) >= 60, what="three passes")
    assert daemon.log.count("the database refuses a verdict") == 1
    assert daemon.log.count("the database refuses to store a verdict") == 1
    world.db.execute("DROP TRIGGER refuse ON reconcile.journal")
    for i in range(20):
        world.wait_status(f"op-{i}", "confirmed")


def test_locked_rows_are_told_once(world, crm):
    world.policy()
    world.settings(interval="1s")
    crm.answer = lambda request: answer_json({"id": "c1", "version": 7})
    for i in range(20):
        world.send(f"op-{i}")
    with world.cluster.connect(world.database, autocommit=False) as locking:
        locking.execute("SELECT FROM reconcile.operations FOR UPDATE")
        daemon = world.start_daemon()
        world.wait_for(lambda: len(crm.requests) >= 40, timeout=60, what="two passes")
        assert daemon.log.count("rows of operations are locked") == 1
    for i in range(20):
        world.wait_status(f"op-{i}", "confirmed")
