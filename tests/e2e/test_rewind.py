# SPDX-License-Identifier: Apache-2.0
"""A database that went back in time: nothing is sent again because of what it has forgotten."""

import psycopg
import pytest

import backup
import scrape
from rewound_shop import (EXISTS, NO_GUARD, SOON, guards, held, release, released, shop,  # noqa: F401
                          wait_tripped, work)
from shop_orders import CONTROL, policy
from target import NOT_FOUND


def test_restored_while_the_daemon_is_stopped(world, shop, work):
    socket = world.directory / "http"
    world.settings(interval="1s", http=f'{{listen: "unix:{socket}"}}')
    daemon = world.start_daemon()
    work.before_the_backup()
    file = backup.dump(world)
    work.after_the_backup()
    assert daemon.stop() == 0
    backup.restore(world, file)
    work.long_ago()
    daemon = world.start_daemon()
    held(world, work)
    assert scrape.numbers(socket)["reconciled_rewind_guard_tripped"] == 1
    assert daemon.log.count("the database is older than an instance has seen it") == 1
    once = world.once("--operation", "missing")
    assert once.of("missing")["action"] == "wait"
    assert daemon.stop() == 0
    world.start_daemon()  # it is remembered
    held(world, work)
    released(world, work)


def test_killed_and_restored_to_before_the_policies_changed(world, shop, work):
    """The backup knows an older digest; the one daemon that is there publishes its own again."""
    daemon = world.start_daemon()
    work.before_the_backup()
    file = backup.dump(world)
    policy(world, recheck=SOON, guard=NO_GUARD, requeue="{max: 4, delay: 1s}")
    daemon.reload()
    daemon.wait_serving()
    work.after_the_backup()
    daemon.kill()
    backup.restore(world, file)
    work.long_ago()
    world.start_daemon()
    held(world, work)
    assert world.db.execute("SELECT requeue_max FROM reconcile.operation_types").fetchone() == \
        {"requeue_max": 4}
    released(world, work)


def test_restored_to_before_any_daemon_ran(world, shop, work):
    """Neither types nor instances are known there."""
    for name in ("sent-later", "never-sent"):
        work.request(name)
    file = backup.dump(world)
    daemon = world.start_daemon()
    work.give("sent-later")
    work.send("sent-later")
    world.app.execute("SELECT reconcile.confirm('sent-later')")
    daemon.wait_for(lambda: work.beats() > 1, what="heartbeats")
    backup.restore(world, file)
    work.long_ago()
    wait_tripped(world)
    world.wait_status("sent-later", "confirmed", 60)
    release(world)
    assert world.wait_for(work.claim, 60, "work") == ["never-sent"]


def test_released_while_the_target_is_away(world, shop, work):
    """What could not be asked was not looked at: no worker gets it before the target answers."""
    daemon = world.start_daemon()
    work.before_the_backup()
    file = backup.dump(world)
    work.after_the_backup()
    assert daemon.stop() == 0
    backup.restore(world, file)
    work.long_ago()
    world.target(shop.http.url, name="shop", more="retry: {attempts: 1}\nbreaker: {open: 1s}\n" + CONTROL)
    shop.http.answer = lambda request: (503, {}, "")
    world.start_daemon()
    wait_tripped(world)
    release(world)
    asked = len(shop.http.asked())
    world.wait_for(lambda: len(shop.http.asked()) > asked + 3, 60, "questions")
    assert work.claim() == []
    with pytest.raises(psycopg.Error) as refusal:
        world.app.execute("SELECT reconcile.start('sent-later')")
    assert refusal.value.sqlstate == "RC422"
    shop.control = False  # an empty shop that is not ours is no look either
    shop.http.answer = lambda request: NOT_FOUND
    asked = len(shop.http.asked("/customers/"))
    world.wait_for(lambda: len(shop.http.asked("/customers/")) > asked + 3
                   or len(shop.http.asked()) > asked + 30, 60, "questions")
    assert work.claim() == []
    shop.control, shop.http.answer = True, shop
    given = []
    while len(given) < 3:
        given += world.wait_for(work.claim, 60, f"more work than {given}")
    assert sorted(given) == ["again-never", "missing", "never-sent"]
    for name in EXISTS:
        world.wait_status(name, "confirmed", 60)


def test_the_same_database_again_trips_nothing(world, shop, work):
    """A restart of server and daemon, a kill, and a backup that nothing happened after."""
    daemon = world.start_daemon()
    work.request("never-sent")
    daemon.kill()
    world.start_daemon().kill()
    file = backup.dump(world)
    backup.restore(world, file)
    daemon = world.start_daemon()
    daemon.wait_for(lambda: work.beats() > 3, what="heartbeats")
    assert guards(world) == []
    assert work.claim() == ["never-sent"]
