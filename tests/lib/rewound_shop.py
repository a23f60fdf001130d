# SPDX-License-Identifier: Apache-2.0
"""Orders of all kinds before and after a backup, and what must become of them once it is restored.

The shop has what it was sent; the backup does not know of it.
"""

import collections
import json

import psycopg
import pytest

import history
from shop_orders import Shop, policy

SOON = "{first: 1s, factor: 1, max: 1s}"
NO_GUARD = "{max: 1000, share: 100%}"  # of the type: it is not what holds here


class Work:
    """Orders of all kinds, and a worker that sends what it claims and never learns the outcome."""

    def __init__(self, world, shop):
        self.world, self.shop = world, shop
        self.sends = collections.Counter()

    def request(self, name, **more):
        self.world.request(name, "create_order", **{
            "version": None, "entity_type": "order", "idempotency_key": f"key of {name}",
            "expected": {"total": "10.50"}, "payload": "{}", **more})
        self.world.age(name, "1 hour")

    def send(self, name, total="10.50"):
        """It was claimed; the effect is there, unless it got lost (no total)."""
        self.sends[name] += 1
        if total:
            self.shop.orders[name] = {"id": f"id of {name}", "total": total}

    def claim(self):
        """The names of what a worker is given."""
        return [row["operation_id"] for row in self.world.app.execute(
            "SELECT operation_id FROM reconcile.claim(ARRAY['create_order'], max => 100)").fetchall()]

    def give(self, name):
        self.world.app.execute("SELECT reconcile.start(%s)", [name])

    def sent(self, name):
        self.world.app.execute("SELECT reconcile.sent(%s)", [name])
        self.world.age(name, "1 hour")

    def refused(self, statement, *values):
        with pytest.raises(psycopg.Error) as refusal:
            self.world.app.execute(statement, values)
        assert refusal.value.sqlstate == "RC422"
        assert "rewind" in str(refusal.value)

    # what happens

    def before_the_backup(self):
        for name in ("sent-later", "never-sent"):
            self.request(name)
        for name in ("again-later", "again-never", "confirmed-later", "missing", "different"):
            self.request(name)
            self.give(name)
        for name in ("again-later", "again-never"):
            self.sent(name)
            self.send(name, total=None)
            self.world.wait_status(name, "retry_scheduled")
        for name in ("confirmed-later", "missing", "different"):
            self.send(name, total=None)
            self.world.app.execute("SELECT reconcile.sent(%s)", [name])  # due in a minute

    def after_the_backup(self):
        """What the backup does not know."""
        self.world.db.execute("UPDATE reconcile.operations SET next_attempt_at = clock_timestamp()"
                              " WHERE operation_id = 'again-later'")
        for name in ("sent-later", "again-later"):
            self.give(name)
            self.send(name)
            self.world.app.execute("SELECT reconcile.confirm(%s)", [name])
        self.shop.orders["confirmed-later"] = {"id": "c", "total": "10.50"}
        self.world.app.execute("SELECT reconcile.confirm('confirmed-later')")
        self.shop.orders["different"] = {"id": "d", "total": "99"}
        # more heartbeats than the backup has
        beats = self.beats()
        self.world.wait_for(lambda: self.beats() > beats, what="another heartbeat")

    def beats(self):
        return self.world.db.execute("SELECT sum(beats) AS n FROM reconcile.instances").fetchone()["n"]

    def long_ago(self):
        """As if the backup was old, and made at a quiet moment: everything in it is due."""
        self.world.db.execute("UPDATE reconcile.instances SET in_flight = '{}'")
        self.world.db.execute(
            "UPDATE reconcile.operations SET due_at = clock_timestamp(),"
            " sent_at = sent_at - interval '1 hour', next_attempt_at = clock_timestamp()"
            " WHERE due_at IS NOT NULL")

    def statuses(self):
        return {row["operation_id"]: row["status"] for row in self.world.db.execute(
            "SELECT operation_id, status FROM reconcile.operations").fetchall()}

    def checks(self):
        return {row["operation_id"]: row["checks"] for row in self.world.db.execute(
            "SELECT operation_id, checks FROM reconcile.operations").fetchall()}


@pytest.fixture
def shop(world, target):
    policy(world, recheck=SOON, guard=NO_GUARD, requeue="{max: 3, delay: 1s}")
    world.settings(interval="1s")
    return Shop(world, target)


@pytest.fixture
def work(world, shop):
    return Work(world, shop)


def guards(world):
    return world.db.execute("SELECT * FROM reconcile.guards ORDER BY tripped_at").fetchall()


def wait_tripped(world):
    world.wait_for(lambda: guards(world), 60, "the rewind guard")
    [guard] = guards(world)
    assert (guard["kind"], guard["name"], guard["reason"], guard["released_at"]) == \
        ("rewind", "database", "beats", None)


def release(world):
    operator = world.directory / "operator.yaml"
    world.settings(operator, database=json.dumps(
        world.cluster.conninfo(world.database, "operator_login")))
    before, world.config = world.config, operator
    try:
        run = world.run("reconcilectl", "guard", "release", "--rewind", "--reason", "restored")
    finally:
        world.config = before
    assert run.code == 0, run


EXISTS = ("sent-later", "again-later", "confirmed-later")


def held(world, work):
    """Tripped: what exists is confirmed, everything else waits, and no worker gets anything."""
    wait_tripped(world)
    work.refused("SELECT reconcile.start('never-sent')")
    work.refused("SELECT reconcile.claim(ARRAY['create_order'])")
    for name in EXISTS:
        world.wait_status(name, "confirmed", 60)
    checks = work.checks()
    world.wait_for(lambda: all(work.checks()[name] > checks[name] + 1 for name in (
        "never-sent", "missing", "different", "again-never")), 60, "further looks")
    statuses = work.statuses()
    assert {name: statuses[name] for name in statuses if name not in EXISTS} == {
        "never-sent": "pending", "again-never": "retry_scheduled",
        "missing": "awaiting_confirmation", "different": "awaiting_confirmation"}
    assert world.operation("missing")["recommended_action"] == "requeue"
    assert world.operation("different")["recommended_action"] == "review"
    assert world.evidence("missing")["decided"] == "guard-wait"
    work.refused("SELECT reconcile.claim(ARRAY['create_order'])")
    assert len(guards(world)) == 1


def released(world, work):
    """Everything goes on, each after a look; nothing that exists is handed out."""
    checks = work.checks()
    release(world)
    given = []
    while len(given) < 3:
        for name in world.wait_for(work.claim, 60, f"more work than {given}"):
            assert work.checks()[name] > checks[name], name
            given.append(name)
    assert sorted(given) == ["again-never", "missing", "never-sent"]
    world.wait_status("different", "manual_review", 60)
    for name in given:
        work.send(name)
        world.app.execute("SELECT reconcile.confirm(%s)", [name])
    assert work.claim() == []
    assert set(work.statuses().values()) == {"confirmed", "manual_review"}
    for name in (*EXISTS, "never-sent"):
        assert world.operation(name)["status"] == "confirmed"
    assert (work.sends["sent-later"], work.sends["again-later"], work.sends["never-sent"]) == (1, 2, 1)
    assert history.holes(world.db) == {}
