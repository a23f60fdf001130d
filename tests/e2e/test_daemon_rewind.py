# SPDX-License-Identifier: Apache-2.0
"""A database that was restored from an older dump makes everything look missing: nothing is done."""

import subprocess

import psycopg
import pytest

from fleet import Fleet
from target import NOT_FOUND, answer_json


class Backup:
    """pg_dump and pg_restore of the world's database, as an administrator does it."""

    def __init__(self, world):
        self.world = world
        self.file = world.directory / "dump"

    def _run(self, program, *arguments):
        cluster = self.world.cluster
        subprocess.run([cluster.bin / program, "-h", cluster.directory, "-U", "postgres", *arguments],
                       check=True, capture_output=True)

    def take(self):
        self._run("pg_dump", "-Fc", "-f", self.file, self.world.database)

    def restore(self):
        self.world.disconnect()
        with self.world.cluster.connect() as admin:
            admin.execute(f"DROP DATABASE {self.world.database} WITH (FORCE)")
            admin.execute(f"CREATE DATABASE {self.world.database} TEMPLATE template0")
        self._run("pg_restore", "-d", self.world.database, self.file)
        self.world.connect()


@pytest.fixture
def fleet(world, crm):
    crm.answer = lambda request: (answer_json({"id": "c1", "version": 7})
                                  if request.path.endswith("there") else NOT_FOUND)
    world.policy()
    world.target(crm.url, more="timeout: {connect: 1s, total: 1s}\nretry: {attempts: 1, max: 1s}\n")
    return Fleet(world)


@pytest.fixture
def backup(world):
    return Backup(world)


def beats(world):
    return world.db.execute("SELECT max(beats) AS n FROM reconcile.instances").fetchone()["n"]


def wait_beats(world, count):
    world.wait_for(lambda: beats(world) >= count, what=f"{count} heartbeats")


def guards(world):
    return world.db.execute("SELECT kind, name, reason FROM reconcile.guards"
                            " WHERE released_at IS NULL").fetchall()


TRIPPED = [{"kind": "rewind", "name": "database", "reason": "beats"}]


@pytest.mark.parametrize("stopped", [False, True], ids=["while it runs", "before it starts"])
def test_an_older_database_is_noticed_and_nothing_is_done(world, fleet, backup, stopped):
    world.request("pending")
    for name in ("absent", "there"):
        world.send(name, ago="1 second")
    daemon = fleet.start("a", interval="1s")
    wait_beats(world, 2)
    backup.take()
    wait_beats(world, beats(world) + 2)
    if stopped:
        fleet.stop("a")
    backup.restore()
    if stopped:
        daemon = fleet.start("a", interval="1s")
    daemon.wait_log("the rewind guard is tripped")
    for name in ("absent", "there"):
        world.age(name, "1 hour")
    world.wait_status("there", "confirmed")
    world.wait_for(lambda: world.operation("absent")["checks"] > 0, what="a look")
    assert world.operation("absent")["status"] == "awaiting_confirmation"
    assert guards(world) == TRIPPED
    for call in ("start('pending')", "claim(ARRAY['sync_customer'], 'w')"):
        with pytest.raises(psycopg.Error) as refused:
            world.app.execute(f"SELECT reconcile.{call}")
        assert refused.value.sqlstate == "RC422"

    with world.cluster.connect(world.database, "operator_login") as operator:
        operator.execute("SELECT reconcile.release_guard('rewind', 'database', 0, 'restored')")
    daemon.wait_log("no guard holds back actions any more")
    world.make_due("absent")
    world.wait_status("absent", "manual_review")
    assert guards(world) == []


def test_another_instance_learns_it(world, fleet, backup):
    world.send("absent", ago="1 second")
    fleet.start("a", interval="1s")
    wait_beats(world, 2)
    backup.take()
    wait_beats(world, beats(world) + 2)
    fleet.stop("a")
    backup.restore()
    b = fleet.start("b", interval="1s")  # has seen nothing of this database
    assert guards(world) == []
    a = fleet.start("a", interval="1s", serving=False)
    a.wait_log("the rewind guard is tripped")
    b.wait_log("the rewind guard is tripped")
    world.age("absent", "1 hour")
    world.wait_for(lambda: world.operation("absent")["checks"] > 0, what="a look")
    assert world.operation("absent")["status"] == "awaiting_confirmation"


def test_a_backup_that_lost_nothing_trips_nothing(world, fleet, backup):
    fleet.start("a", interval="1s")
    wait_beats(world, 3)
    fleet.stop("a")
    backup.take()
    backup.restore()
    world.send("absent")
    fleet.start("a", interval="1s")
    world.wait_status("absent", "manual_review")
    assert guards(world) == []


def test_kill_and_restart_trip_nothing(world, fleet):
    world.send("absent")
    for _ in range(3):
        fleet.start("a", interval="1s")
        fleet.kill("a")
    fleet.start("a", interval="1s")
    assert guards(world) == []
