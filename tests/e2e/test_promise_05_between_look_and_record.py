# SPDX-License-Identifier: Apache-2.0
"""Promise 5: what happens between the look and the record. Case Q01."""

import json
import signal
import threading
import time

import pytest

from fault_proxy import FaultProxy
from shop_orders import ALL_HOLD, SOON, Shop, clauses, failed, policy, send


@pytest.fixture
def shop(world, target):
    return Shop(world, target)


@pytest.fixture
def slow_database(world):
    """Everything that the daemon says to PostgreSQL passes here."""
    with FaultProxy(f"unix:{world.cluster.directory}/.s.PGSQL.5432", postgres=True) as proxy:
        world.settings(interval="1s", max_verdict_age="1s", database=json.dumps(
            f"host=127.0.0.1 port={proxy.port} user=daemon_login dbname={world.database}"))
        yield proxy


def test_an_answer_that_is_recorded_late_is_asked_for_again_and_then_reviewed(
        world, shop, slow_database):
    policy(world, recheck=SOON)
    send(world)

    def answer(request):
        if request.path != "/control":
            slow_database.up(delay=1.3)
        return shop(request)

    shop.http.answer = answer
    world.start_daemon()
    world.wait_status("op-1", "manual_review", 60)
    asked = len(shop.http.asked("/customers/op-1"))
    slow_database.up()
    operation = world.operation("op-1")
    assert (operation["class"], operation["recommended_action"], operation["requeues"]) == \
        ("missing", "requeue", 0)
    assert failed(world) == ["fresh"]
    assert asked >= 3
    assert "operation.requeued" not in world.events("op-1")


def test_late_once_is_only_asked_again(world, shop, slow_database):
    policy(world, recheck=SOON)
    send(world)
    times = []

    def answer(request):
        if request.path != "/control":
            slow_database.up(delay=0 if times else 1.3)
            times.append(request)
        return shop(request)

    shop.http.answer = answer
    world.start_daemon()
    world.wait_status("op-1", "retry_scheduled", 60)
    assert len(times) >= 2
    assert clauses(world) == ALL_HOLD


def test_an_answer_that_lay_in_the_socket_is_old(world, shop):
    """The process stood still, for less time than would cost it its place among the instances."""
    policy(world, recheck=SOON)
    world.settings(interval="1s", max_verdict_age="2s")
    send(world)
    times = []
    daemons = []

    def answer(request):
        if request.path != "/control":
            if not times:
                daemons[0].signal(signal.SIGSTOP)
                threading.Timer(4, daemons[0].signal, [signal.SIGCONT]).start()
            times.append(request)
        return shop(request)

    shop.http.answer = answer
    daemons.append(world.start_daemon())
    world.wait_status("op-1", "retry_scheduled", 60)
    assert len(times) >= 2
    assert clauses(world) == ALL_HOLD


def test_a_late_answer_may_confirm(world, shop, slow_database):
    policy(world)
    send(world)
    shop.orders["op-1"] = {"id": "o-1", "total": "10.50"}

    def answer(request):
        slow_database.up(delay=1.3)
        return shop(request)

    shop.http.answer = answer
    world.start_daemon()
    world.wait_status("op-1", "confirmed", 60)


def confirm(world):
    world.app.execute("SELECT reconcile.confirm('op-1', remote_id => 'o-1')")


def test_the_worker_confirms_while_the_target_is_asked(world, shop):
    policy(world)
    send(world)

    def answer(request):
        if request.path != "/control" and world.operation("op-1")["status"] != "confirmed":
            confirm(world)
        return shop(request)

    shop.http.answer = answer
    world.settings(interval="1s")
    world.start_daemon()
    world.wait_status("op-1", "confirmed")
    settled(world)


def test_the_worker_confirms_between_the_answer_and_the_record(world, shop, slow_database):
    policy(world)
    send(world)
    world.settings(interval="1s", database=json.dumps(
        f"host=127.0.0.1 port={slow_database.port} user=daemon_login dbname={world.database}"))

    def answer(request):
        if request.path != "/control":
            slow_database.up(delay=2)
        return shop(request)

    shop.http.answer = answer
    daemon = world.start_daemon()
    world.wait_for(lambda: shop.http.asked("/customers/op-1"), what="a question")
    confirm(world)
    slow_database.up()
    settled(world)
    assert daemon.stop() == 0
    settled(world)


def settled(world):
    """Confirmed by the worker, and nothing of the verdict was written."""
    operation = world.operation("op-1")
    assert (operation["status"], operation["requeues"], operation["checks"]) == ("confirmed", 0, 0)
    assert {row["actor"] for row in world.journal("op-1")} == {"app:app_login"}
    assert world.events("op-1") == ["operation.requested", "operation.confirmed"]


def test_a_person_pauses_the_type_while_the_target_is_asked(world, shop):
    """The look is not carried out; after resume it is asked anew, and only that is acted upon."""
    policy(world, recheck=SOON)
    send(world)
    looks = []

    def answer(request):
        if request.path != "/control":
            looks.append(request)
            if len(looks) == 1:
                world.db.execute("SELECT reconcile.pause('create_order', 'the shop moves house')")
        return shop(request)

    shop.http.answer = answer
    world.settings(interval="1s")
    daemon = world.start_daemon()
    daemon.wait_log("a person paused the type")
    time.sleep(3)
    assert len(looks) == 1
    operation = world.operation("op-1")
    assert (operation["status"], operation["requeues"], operation["class"]) == \
        ("awaiting_confirmation", 0, None)
    world.db.execute("SELECT reconcile.resume('create_order', 'it is there')")
    world.wait_status("op-1", "retry_scheduled", 60)
    assert len(looks) >= 2
    assert clauses(world) == ALL_HOLD


def test_an_effect_that_a_paused_type_already_had_is_confirmed(world, shop):
    policy(world, recheck=SOON)
    send(world)
    shop.orders["op-1"] = {"id": "o-1", "total": "10.50"}

    def answer(request):
        if request.path != "/control":
            world.db.execute("SELECT reconcile.pause('create_order', 'the shop moves house')")
        return shop(request)

    shop.http.answer = answer
    world.settings(interval="1s")
    world.start_daemon()
    world.wait_status("op-1", "confirmed", 60)
