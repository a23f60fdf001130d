# SPDX-License-Identifier: Apache-2.0
"""Promise 10: one change of status creates at most one event, whose id never changes."""

import pytest

import history
from shop_orders import Shop, claim, let_time_pass, order, policy, send, sent

# Rows that must not be. Events and journal are compared by what the rows say, not by our functions.
WRONG = {
    "an event without its journal row": """
        SELECT e.aggregateid, e.revision FROM reconcile.outbox e LEFT JOIN reconcile.journal j
        ON j.operation_id = e.aggregateid AND j.revision = e.revision WHERE j.operation_id IS NULL""",
    "two events for one change": """
        SELECT aggregateid, revision FROM reconcile.outbox GROUP BY 1, 2 HAVING count(*) > 1""",
    "an event where the status did not change": """
        SELECT j.operation_id, j.revision FROM reconcile.journal j JOIN reconcile.outbox e
        ON e.aggregateid = j.operation_id AND e.revision = j.revision
        WHERE j.from_status = j.to_status AND j.event <> 'announced'""",
    "an event that tells another change": """
        SELECT j.operation_id, j.revision FROM reconcile.journal j JOIN reconcile.outbox e
        ON e.aggregateid = j.operation_id AND e.revision = j.revision
        WHERE e.payload ->> 'from_status' IS DISTINCT FROM j.from_status
            OR e.payload ->> 'status' IS DISTINCT FROM j.to_status
            OR (e.payload ->> 'revision')::bigint <> j.revision
            OR e.payload ->> 'operation_id' <> j.operation_id""",
    "an end, a case or a handing back that nobody was told of": """
        SELECT j.operation_id, j.revision FROM reconcile.journal j LEFT JOIN reconcile.outbox e
        ON e.aggregateid = j.operation_id AND e.revision = j.revision
        WHERE e.id IS NULL AND j.from_status IS DISTINCT FROM j.to_status
            AND (j.to_status IN ('confirmed', 'not_applicable', 'manual_review')
                OR j.event = 'requeued')""",
    "two events with one id": """
        SELECT id FROM reconcile.outbox GROUP BY 1 HAVING count(*) > 1""",
}

OUTBOX = "SELECT * FROM reconcile.outbox ORDER BY aggregateid, revision"


def check(world):
    wrong = {what: world.db.execute(query).fetchall() for what, query in WRONG.items()}
    assert {what: rows for what, rows in wrong.items() if rows} == {}
    assert history.holes(world.db) == {}


@pytest.fixture
def shop(world, target):
    policy(world, on_absent="[{when: {op.entity_state: cancelled}, class: not_applicable}]",
           guard="{max: 1000, share: 100%}", recheck="{first: 1s, factor: 1, max: 1s}",
           review="{recheck: 1s}")
    world.settings(interval="1s")
    return Shop(world, target)


EACH = 6


def orders_of_all_kinds(world, shop):
    """What becomes of them: confirmed, reviewed, sent again, closed, or nothing yet."""
    for i in range(EACH):
        for kind in ("correct", "divergent", "unreadable", "missing", "cancelled", "young", "known",
                     "refused", "tried"):
            name = f"{kind}-{i}"
            order(world, name, entity_id=name)
            if kind != "tried":
                world.app.execute("SELECT reconcile.start(%s)", [name])
        shop.orders[f"correct-{i}"] = {"id": f"o-{i}", "total": "10.50"}
        shop.orders[f"divergent-{i}"] = {"id": f"d-{i}", "total": "11.50"}
        shop.orders[f"unreadable-{i}"] = {"id": f"u-{i}", "total": ""}
        for kind in ("correct", "divergent", "unreadable", "missing", "cancelled"):
            sent(world, f"{kind}-{i}")
        world.app.execute("SELECT reconcile.set_entity_state('order', %s, 'cancelled')",
                          [f"cancelled-{i}"])
        world.app.execute("SELECT reconcile.confirm(%s, remote_id => 'k')", [f"known-{i}"])
        world.app.execute("SELECT reconcile.reject(%s, code => '422')", [f"refused-{i}"])


def statuses(world):
    rows = world.db.execute("SELECT split_part(operation_id, '-', 1) AS kind, status, count(*) AS n"
                            " FROM reconcile.operations GROUP BY 1, 2").fetchall()
    return {(row["kind"], row["status"]): row["n"] for row in rows}


SETTLED = {
    ("correct", "confirmed"): EACH,
    ("divergent", "manual_review"): EACH,
    ("unreadable", "manual_review"): EACH,
    ("missing", "retry_scheduled"): EACH,
    ("cancelled", "not_applicable"): EACH,
    ("young", "processing"): EACH,
    ("known", "confirmed"): EACH,
    ("refused", "not_applicable"): EACH,
    ("tried", "pending"): EACH,
}


def test_every_kind_of_change(world, shop):
    orders_of_all_kinds(world, shop)
    daemon = world.start_daemon()
    world.wait_for(lambda: statuses(world) == SETTLED, what="everything looked at")
    check(world)
    told = world.db.execute("SELECT type, count(*) AS n FROM reconcile.outbox GROUP BY 1").fetchall()
    assert {row["type"]: row["n"] for row in told} == {
        "operation.requested": 9 * EACH,
        "operation.confirmed": 2 * EACH,
        "operation.review": 2 * EACH,
        "operation.requeued": EACH,
        "operation.closed": 2 * EACH}

    # Looks that find the same announce nothing, and touch no event.
    before = world.db.execute(OUTBOX).fetchall()
    checks = "SELECT min(checks) AS n FROM reconcile.operations WHERE status = 'manual_review'"
    looked = world.db.execute(checks).fetchone()["n"]
    world.wait_for(lambda: world.db.execute(checks).fetchone()["n"] > looked + 1, what="further looks")
    assert world.db.execute(OUTBOX).fetchall() == before

    # Other evidence is told in the journal; a changed status once more.
    for i in range(EACH):
        shop.orders[f"divergent-{i}"] = {"id": f"d-{i}", "total": "12.50"}
        shop.orders[f"unreadable-{i}"] = {"id": f"u-{i}", "total": "10.50"}
    world.wait_for(lambda: statuses(world).get(("unreadable", "confirmed")) == EACH,
                   what="cases that confirm themselves")
    check(world)
    assert world.events("unreadable-0") == ["operation.requested", "operation.review",
                                            "operation.confirmed"]
    assert world.events("divergent-0") == ["operation.requested", "operation.review"]
    assert daemon.stop() == 0
    check(world)


def test_again_and_again(world, shop):
    """Sent again, and again, and found: one event each time."""
    for i in range(EACH):
        send(world, f"op-{i}")
    world.start_daemon()
    for times in (1, 2):
        world.wait_for(lambda t=times: statuses(world) == {("op", "retry_scheduled"): EACH}
                       and world.operation("op-0")["requeues"] == t, what="sent again")
        let_time_pass(world)
        assert len(claim(world, EACH)) == EACH
        for i in range(EACH):
            sent(world, f"op-{i}")
    for i in range(EACH):
        shop.orders[f"op-{i}"] = {"id": f"o-{i}", "total": "10.50"}
    world.wait_for(lambda: statuses(world) == {("op", "confirmed"): EACH}, what="confirmed")
    check(world)
    for i in range(EACH):
        events = world.events(f"op-{i}")
        assert events[0] == "operation.requested" and events[-1] == "operation.confirmed"
        assert events.count("operation.requeued") == world.operation(f"op-{i}")["requeues"]
        assert len(events) == 2 + world.operation(f"op-{i}")["requeues"]


def test_two_instances_and_once_announce_a_change_once(world, shop):
    orders_of_all_kinds(world, shop)
    world.start_daemon()
    second = world.directory / "second"
    second.mkdir()
    world.settings(file=second / "reconciled.yaml", interval="1s", instance_name="second",
                   state_directory=f'"{second}/state"', policies=f'"{world.directory}/policies.d"',
                   targets=f'"{world.directory}/targets.d"')
    world.start_daemon(config=second / "reconciled.yaml", serving=False)
    for _ in range(3):
        world.run("reconciled", "--once", "--json")
        world.db.execute("UPDATE reconcile.operations SET due_at = clock_timestamp()"
                         " WHERE due_at IS NOT NULL AND status <> 'processing'")
    world.wait_for(lambda: statuses(world) == SETTLED, what="everything looked at")
    check(world)


def test_what_nobody_delivers_stays_until_retention(world, shop):
    """Rows without deliver_to are for whoever reads the table."""
    send(world)
    world.start_daemon()
    world.wait_status("op-1", "retry_scheduled")
    rows = world.db.execute(OUTBOX).fetchall()
    assert [row["type"] for row in rows] == ["operation.requested", "operation.requeued"]
    for row in rows:
        assert row["aggregatetype"] and row["aggregateid"] == "op-1" and row["id"].version == 4
        for name in ("deliver_to", "next_attempt_at", "delivered_at", "parked_at", "last_error"):
            assert row[name] is None, name
        assert row["attempts"] == 0


def test_observing_announces_nothing(world, shop):
    orders_of_all_kinds(world, shop)
    before = world.db.execute(OUTBOX).fetchall()
    world.start_daemon("--observe")
    world.wait_for(lambda: world.db.execute(
        "SELECT count(*) AS n FROM reconcile.operations WHERE checks > 0"
        " AND operation_id ~ 'correct|divergent|unreadable|missing|cancelled'").fetchone()["n"] == 5 * EACH,
        what="all looked at")
    assert world.db.execute(OUTBOX).fetchall() == before
    check(world)
