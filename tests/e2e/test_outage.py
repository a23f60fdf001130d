# SPDX-License-Identifier: Apache-2.0
"""A target that is away, or that says of everything that it is not there, is one alarm, not ten
thousand cases; and afterwards everything goes on by itself."""

import time

import pytest

import orders
import scrape

NOT_FOUND = {"on": "probe", "status": 404, "type": "application/json",
             "body": '{"error":"not_found"}'}
EMPTY_LIST = {"on": "probe", "status": 200, "type": "application/json",
              "body": '{"data":[],"has_more":false}'}
BREAKER = 'reconciled_breaker_state{target="shop"}'
CONTROL = 'reconciled_control_lost{target="shop"}'
GUARDS = ('reconciled_guard_tripped{type="create_order"}', "reconciled_rewind_guard_tripped",
          "reconciled_isolated")

# What happens to every question, and the one alarm that it raises.
CASES = {
    "refused": ({"on": "probe", "outage": "close"}, BREAKER),
    "silent": ({"on": "probe", "outage": "hang"}, BREAKER),
    "forbidden": ({"on": "probe", "status": 403, "type": "application/json",
                   "body": '{"error":"forbidden"}'}, BREAKER),
    "not found": (NOT_FOUND, CONTROL),
    "not found without a body": ({"on": "probe", "status": 404}, CONTROL),
    "empty list": (EMPTY_LIST, CONTROL),
    "credentials of another tenant": ({"on": "probe", "other_tenant": True}, CONTROL),
}
LASTS = 8  # seconds from the alarm on
GUARD_MAX = 20


@pytest.fixture
def database(orders_database):
    return orders_database


def alarms(world):
    now = scrape.numbers(world.directory / "http")
    raised = [name for name in (BREAKER, CONTROL, *GUARDS) if now[name] > 0]
    # as the alert rules have it: a target that is away cannot show its control object either
    return [name for name in raised if name != CONTROL or BREAKER not in raised]


def statuses(world):
    rows = world.db.execute("SELECT status, count(*) AS n FROM reconcile.operations GROUP BY 1")
    return {row["status"]: row["n"] for row in rows.fetchall()}


def count(world, condition):
    return world.db.execute(
        f"SELECT count(*) AS n FROM reconcile.journal WHERE {condition}").fetchone()["n"]


@pytest.mark.parametrize("case", CASES)
def test_one_alarm_and_it_goes_on_by_itself(world, shop, case):
    behaviour, alarm = CASES[case]
    orders.configure(world, shop)
    shop.behave({"name": "fault", **behaviour})
    world.settings(http=f"{{listen: 'unix:{world.directory}/http'}}", interval="1s")
    world.start_daemon()
    world.wait_for(lambda: alarms(world) == [alarm], 60, "the alarm")
    over = time.monotonic() + LASTS
    while time.monotonic() < over:
        assert set(alarms(world)) <= {alarm}
        time.sleep(0.5)
    seen = statuses(world)
    assert seen.pop("awaiting_confirmation") >= orders.COUNT - GUARD_MAX
    assert sum(seen.values()) == seen.get("manual_review", 0)
    shop.honest()
    world.wait_for(lambda: statuses(world) == {"confirmed": orders.COUNT}, 120, "all confirmed")
    world.wait_for(lambda: alarms(world) == [], 30, "no alarm")
    assert count(world, "event = 'requeued'") == 0
    assert count(world, "to_status = 'confirmed'") == orders.COUNT
    assert shop.counts()["effects"] == 0
