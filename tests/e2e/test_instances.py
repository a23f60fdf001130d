# SPDX-License-Identifier: Apache-2.0
"""Several instances share the work and the limits of a target; one that dies is replaced."""

import time

import pytest

import history
import orders
from fleet import Fleet

TAKEOVER = 15  # seconds
LATENCY = "10ms"
ACTORS = """
SELECT substr(actor, 12) AS name, count(DISTINCT operation_id) AS n FROM reconcile.journal
WHERE actor LIKE 'reconciled:%%' AND at >= %s GROUP BY 1"""


@pytest.fixture
def database(orders_database):
    return orders_database


@pytest.fixture
def fleet(world):
    return Fleet(world)


def start(fleet, *names):
    """They have begun to ask, and each has heard of it from all: two heartbeats later."""
    for name in names:
        fleet.start(name, serving=False, interval="1s")
    for name in names:
        fleet[name].wait_serving(60)
    before = {name: row["beats"] for name, row in fleet.rows().items() if name in fleet.daemons}
    fleet.world.wait_for(lambda: all(fleet.rows()[name]["beats"] >= beats + 2
                                     for name, beats in before.items()), 30, "two heartbeats")
    fleet.wait_alive(len(fleet.daemons))


def later(world):
    """Nothing is due for now."""
    world.db.execute("UPDATE reconcile.operations SET due_at = now() + interval '1 hour'")


def due(world, condition="true"):
    now = world.db.execute("SELECT clock_timestamp() AS now").fetchone()["now"]
    world.db.execute(f"UPDATE reconcile.operations SET due_at = now() WHERE {condition}")
    return now


def until_confirmed(world, count, timeout=300):
    world.wait_for(lambda: world.db.execute(
        "SELECT count(*) AS n FROM reconcile.operations WHERE status = 'confirmed'"
    ).fetchone()["n"] == count, timeout, f"{count} confirmed")


def shares(world, since):
    return {row["name"]: row["n"] for row in world.db.execute(ACTORS, [since]).fetchall()}


def test_shares_are_even(world, fleet, shop):
    orders.configure(world, shop)
    later(world)
    start(fleet, "alpha", "beta", "gamma")
    since = due(world)
    until_confirmed(world, orders.COUNT)
    parts = shares(world, since)
    assert sum(parts.values()) == orders.COUNT and len(parts) == 3
    for part in parts.values():
        assert abs(part - orders.COUNT / 3) <= orders.COUNT / 3 * 0.10, parts
    assert history.holes(world.db) == {}


def asked_by(world):
    """Looks recorded so far, by instance."""
    rows = world.db.execute(
        "SELECT i.name, sum(t.n)::int AS n FROM reconcile.tallies t JOIN reconcile.instances i"
        " USING (instance_id) GROUP BY 1").fetchall()
    return {row["name"]: row["n"] for row in rows}


def until_more(world, *names, timeout=60):
    """Each of them records looks from now on."""
    before = asked_by(world)
    world.wait_for(lambda: all(asked_by(world).get(name, 0) > before.get(name, 0)
                               for name in names), timeout, f"looks by {names}")


def test_one_three_one_under_load(world, fleet, shop):
    """The effects stay unfinished, so that each operation is asked about again and again."""
    limit = 6
    orders.configure(world, shop, concurrent=limit,
                     more="judge: [{when: {/number: {present: true}}, class: waiting}]")
    shop.behave({"name": "pace", "on": "probe", "latency": LATENCY})
    start(fleet, "alpha")
    until_more(world, "alpha")
    start(fleet, "beta", "gamma")
    until_more(world, "alpha", "beta", "gamma")

    # what beta had looked at last is looked at by others
    fleet.kill("beta")
    died = time.monotonic()
    fleet.wait_alive(2, TAKEOVER)
    mine = world.db.execute(
        "SELECT o.operation_id, o.checks FROM reconcile.operations o, reconcile.instances i"
        " WHERE i.name = 'beta' AND o.operation_id <> ALL (i.in_flight)"
        " AND o.due_at < now() ORDER BY o.due_at LIMIT 1").fetchone()
    world.wait_for(lambda: world.operation(mine["operation_id"])["checks"] > mine["checks"],
                   TAKEOVER - (time.monotonic() - died), "the oldest operation is looked at")
    until_more(world, "alpha", "gamma")

    fleet.stop("gamma")
    fleet.wait_alive(1, TAKEOVER)
    until_more(world, "alpha")
    assert shop.counts()["most_at_once"] == limit

    orders.configure(world, shop, concurrent=limit)
    shop.honest()
    fleet["alpha"].reload()
    until_confirmed(world, orders.COUNT)
    assert history.holes(world.db) == {}


def test_less_concurrency_than_instances_belongs_to_one(world, fleet, shop):
    orders.configure(world, shop, concurrent=1)
    shop.behave({"name": "pace", "on": "probe", "latency": LATENCY})
    later(world)
    start(fleet, "alpha", "beta")
    since = due(world, "operation_id < 'op-00101'")
    until_confirmed(world, 100)
    assert len(shares(world, since)) == 1
    assert shop.counts()["most_at_once"] == 1


def digests(world, since):
    return {row["policy"] for row in world.db.execute(
        "SELECT DISTINCT policy FROM reconcile.journal WHERE at >= %s AND policy IS NOT NULL",
        [since]).fetchall()}


def test_rolling_upgrade(world, fleet, shop):
    """The policy that was published last judges; whoever has an older one leaves the type to others."""
    orders.configure(world, shop)
    later(world)
    start(fleet, "alpha")
    published = "SELECT policy FROM reconcile.operation_types"
    old = world.db.execute(published).fetchone()["policy"]
    orders.configure(world, shop, more="give_up: 9")
    start(fleet, "beta")
    new = world.db.execute(published).fetchone()["policy"]
    assert new != old

    since = due(world, "operation_id < 'op-01001'")
    until_confirmed(world, 1000)
    assert digests(world, since) == {new} and list(shares(world, since)) == ["beta"]

    fleet["alpha"].reload()
    world.wait_for(lambda: world.db.execute(
        "SELECT count(*) AS n FROM reconcile.instances WHERE types::text LIKE %s",
        [f"%{new}%"]).fetchone()["n"] == 2, 30, "both announce the new policy")
    since = due(world, "status <> 'confirmed' AND operation_id < 'op-02001'")
    until_confirmed(world, 2000)
    assert digests(world, since) == {new}
    assert world.db.execute(published).fetchone()["policy"] == new
