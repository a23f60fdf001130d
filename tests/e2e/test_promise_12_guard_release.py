# SPDX-License-Identifier: Apache-2.0
"""Promise 12: a tripped guard is remembered; a person lets so many actions through."""

import pytest

import scrape
from fleet import Fleet
from guarded_orders import AGAIN, guards, looked_again, release, requeued, wait_held
from shop_orders import Shop, policy, send_many

GUARDED = 'reconciled_guard_tripped{type="create_order"}'


@pytest.fixture
def shop(world, target):
    made = Shop(world, target)
    policy(world, guard="{max: 20, share: 100%, window: 1h}", recheck=AGAIN)
    world.settings(interval="1s")
    return made


def wait_metric(world, path, value):
    world.wait_for(lambda: scrape.numbers(path)[GUARDED] == value, 90, f"{GUARDED} {value}")


def test_a_release_lets_so_many_through_each_after_a_fresh_look(world, shop):
    socket = world.directory / "http"
    world.settings(interval="1s", http=f'{{listen: "unix:{socket}"}}')
    send_many(world, "op", 30)
    daemon = world.start_daemon()
    wait_held(world, 10)
    wait_metric(world, socket, 1)
    assert daemon.stop() == 0
    daemon = world.start_daemon()  # it is remembered
    looked_again(world)
    wait_metric(world, socket, 1)
    assert requeued(world) == 20 and len(guards(world)) == 1

    checks = {row["operation_id"]: row["checks"] for row in world.db.execute(
        "SELECT operation_id, checks FROM reconcile.operations").fetchall()}
    release(world, 5)
    released_at = guards(world)[0]["released_at"]
    world.wait_for(lambda: len(guards(world)) == 2, 90, "it trips again")
    wait_held(world, 5)
    looked_again(world)
    assert requeued(world) == 25
    first, second = guards(world)
    assert (first["action_limit"], first["let_through"]) == (5, 5)
    assert (first["released_by"], first["release_reason"]) == ("operator:operator_login", "seen")
    assert (second["reason"], second["released_at"]) == ("max", None)
    wait_metric(world, socket, 1)
    through = [row["operation_id"] for row in world.db.execute(
        "SELECT operation_id FROM reconcile.journal WHERE event = 'requeued' AND at > %s",
        [released_at]).fetchall()]
    assert len(through) == len(set(through)) == 5
    for name in through:
        assert world.operation(name)["checks"] > checks[name]
        assert world.operation(name)["status"] == "retry_scheduled"
    daemon.kill()
    world.start_daemon()
    looked_again(world)
    assert requeued(world) == 25 and len(guards(world)) == 2


def test_two_daemons_share_what_is_released(world, shop):
    send_many(world, "op", 35)
    fleet = Fleet(world)
    fleet.start("alpha", serving=False, interval="1s")
    fleet.start("beta", serving=False, interval="1s")
    wait_held(world, 15)
    for daemon in fleet.daemons.values():
        daemon.wait_serving(60)
    looked_again(world)
    release(world, 5)
    world.wait_for(lambda: len(guards(world)) == 2, 90, "it trips again")
    wait_held(world, 10)
    fleet.kill("alpha")
    fleet.stop("beta")
    fleet.start("alpha", serving=False, interval="1s")
    looked_again(world)
    assert requeued(world) == 25 and len(guards(world)) == 2


def test_a_release_of_nothing_lets_the_policy_decide_anew(world, shop):
    """With a limit of 0 the window is as full as it was: it trips at once, nothing goes through."""
    send_many(world, "op", 30)
    world.start_daemon()
    wait_held(world, 10)
    release(world, 0)
    world.wait_for(lambda: len(guards(world)) == 2, 90, "it trips again")
    wait_held(world, 10)
    assert requeued(world) == 20
