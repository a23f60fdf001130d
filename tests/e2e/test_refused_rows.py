# SPDX-License-Identifier: Apache-2.0
"""A verdict that the database refuses goes to a person, and only a person confirms it."""

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
