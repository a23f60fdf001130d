# SPDX-License-Identifier: Apache-2.0
"""Promise 12: in a window, so many actions of a type over all instances; confirmations go on."""

import pytest

from fleet import Fleet
from guarded_orders import AGAIN, guards, looked_again, one, requeued, statuses, wait_held, waiting
from shop_orders import Shop, failed, policy, send, send_many

MANY = 200


@pytest.fixture
def shop(world, target):
    made = Shop(world, target)
    policy(world, guard="{max: 20, share: 100%, window: 1h}", recheck=AGAIN)
    world.settings(interval="1s")
    return made


def check_tripped_once(world):
    assert requeued(world) == 20
    assert statuses(world) == {"retry_scheduled": 20, "awaiting_confirmation": MANY - 20}
    [guard] = guards(world)
    assert (guard["kind"], guard["name"], guard["reason"], guard["released_at"]) == \
        ("type", "create_order", "max", None)
    events = {row["type"]: row["n"] for row in world.db.execute(
        "SELECT type, count(*) AS n FROM reconcile.outbox GROUP BY 1").fetchall()}
    assert events == {"operation.requested": MANY, "operation.requeued": 20}


def test_one_daemon(world, shop):
    send_many(world, "op", MANY)
    world.start_daemon()
    wait_held(world, MANY - 20)
    check_tripped_once(world)
    held = one(world, "SELECT operation_id FROM reconcile.operations WHERE recommended_action = 'requeue'"
                      " ORDER BY operation_id LIMIT 1")
    assert world.evidence(held)["decided"] == "guard-wait"
    looked_again(world)
    check_tripped_once(world)
    assert failed(world, held) == ["guard"]


def test_two_daemons_and_once_beside_them(world, shop):
    send_many(world, "op", MANY)
    fleet = Fleet(world)
    fleet.start("alpha", serving=False, interval="1s")
    fleet.start("beta", serving=False, interval="1s")
    runs = [world.start_once() for _ in range(2)]
    for run in runs:
        run.communicate(timeout=100)
        assert run.returncode == 0
    for daemon in fleet.daemons.values():
        daemon.wait_serving(60)
    wait_held(world, MANY - 20)
    check_tripped_once(world)
    looked_again(world)
    check_tripped_once(world)


def test_confirmations_go_on_while_it_is_tripped(world, shop):
    send_many(world, "op", 40)
    world.start_daemon()
    wait_held(world, 20)
    there = [row["operation_id"] for row in world.db.execute(
        "SELECT operation_id FROM reconcile.operations WHERE status = 'awaiting_confirmation'"
        " ORDER BY 1 LIMIT 5").fetchall()]
    shop.orders.update({name: {"id": name, "total": "10.50"} for name in there})
    shop.orders.update({f"new-{i}": {"id": f"n{i}", "total": "10.50"} for i in range(1, 31)})
    send_many(world, "new", 30)
    world.wait_for(lambda: statuses(world).get("confirmed") == 35, 90, "all confirmed")
    assert requeued(world) == 20 and waiting(world) == 15 and len(guards(world)) == 1


def test_reviews_and_closings_draw_on_it_too(world, shop):
    policy(world, guard="{max: 5, share: 100%, window: 1h}", recheck=AGAIN, actions=None,
           on_absent="[{when: {op.entity_state: cancelled}, class: not_applicable}]")
    send_many(world, "different", 10)
    send_many(world, "cancelled", 10)
    shop.orders.update({f"different-{i}": {"id": f"d{i}", "total": "1"} for i in range(1, 11)})
    world.db.execute("UPDATE reconcile.operations SET entity_state = 'cancelled'"
                     " WHERE operation_id LIKE 'cancelled-%'")
    world.start_daemon()
    world.wait_for(lambda: one(
        world, "SELECT count(*) FROM reconcile.operations WHERE status = 'awaiting_confirmation'"
        " AND recommended_action IN ('review', 'close')") == 15, 90, "the others wait")
    looked_again(world)
    now = statuses(world)
    assert now.pop("awaiting_confirmation") == 15
    assert sum(now.values()) == 5 and set(now) <= {"manual_review", "not_applicable"}
    assert len(guards(world)) == 1


def test_the_last_one_of_a_window_trips_nothing(world, shop):
    send_many(world, "op", 20)
    world.start_daemon()
    world.wait_for(lambda: requeued(world) == 20, 90, "sent again")
    assert guards(world) == []
    send(world, "one-more")
    wait_held(world, 1)
    assert requeued(world) == 20 and len(guards(world)) == 1


def test_types_do_not_draw_on_each_other(world, shop):
    text = (world.directory / "policies.d/create_order.yaml").read_text()
    world.policy(text=text.replace("create_order", "other_order"))
    send_many(world, "op", 30)
    world.request("other-1", "other_order", idempotency_key="k", expected={"total": "10.50"},
                  already_sent=True)
    world.age("other-1", "1 hour")
    world.start_daemon()
    wait_held(world, 10)
    world.wait_status("other-1", "retry_scheduled")
