# SPDX-License-Identifier: Apache-2.0
"""A database that goes back in time under running daemons. They take part again by themselves."""

import pytest

import backup
from fleet import Fleet
from rewound_shop import NO_GUARD, SOON, guards, held, released, shop, work  # noqa: F401
from shop_orders import policy


@pytest.mark.parametrize("how", [backup.restore, backup.restore_and_rename, backup.restore_in_place])
def test_restored_under_the_running_daemon(world, shop, work, how):
    daemon = world.start_daemon()
    work.before_the_backup()
    file = backup.dump(world)
    policy(world, recheck=SOON, guard=NO_GUARD, requeue="{max: 4, delay: 1s}")
    daemon.reload()
    daemon.wait_serving()
    work.after_the_backup()
    how(world, file)
    work.long_ago()
    held(world, work)
    assert world.db.execute("SELECT requeue_max FROM reconcile.operation_types").fetchone() == \
        {"requeue_max": 4}
    assert "leaves the type alone" not in daemon.log
    released(world, work)


def test_two_daemons_trip_it_once(world, shop, work):
    fleet = Fleet(world)
    for name in ("alpha", "beta"):
        fleet.start(name, serving=False, interval="1s")
    for daemon in fleet.daemons.values():
        daemon.wait_serving(60)
    work.before_the_backup()
    file = backup.dump(world)
    work.after_the_backup()
    backup.restore_and_rename(world, file)
    work.long_ago()
    held(world, work)
    beats = work.beats()
    world.wait_for(lambda: work.beats() > beats + 4, 60, "heartbeats of both")
    assert len(guards(world)) == 1
    released(world, work)
    assert len(guards(world)) == 1
