# SPDX-License-Identifier: Apache-2.0
"""The endless pass: no type waits for another's target, nothing is asked twice at once, suspects alone."""

import collections
import threading
import time

import pytest

from target import Target, answer_json
from world import OTHER_POLICY

SECONDS = {"interval": "1s"}


def correct(request):
    return answer_json({"id": "c1", "version": 7})


@pytest.fixture
def shop(world):
    with Target() as running:
        running.answer = correct
        world.target(running.url, name="shop")
        world.policy(text=OTHER_POLICY)
        yield running


@pytest.fixture
def silence(crm):
    """The usual target answers nothing until this is set."""
    released = threading.Event()

    def answer(request):
        released.wait(60)
        return correct(request)

    crm.answer = answer
    yield released
    released.set()


def confirmed(world, operation_type):
    return world.db.execute(
        "SELECT count(*) AS n FROM reconcile.operations WHERE operation_type = %s AND status = 'confirmed'",
        [operation_type]).fetchone()["n"]


def notify(world):
    world.db.execute("SELECT pg_notify('reconciled', '')")


def test_a_silent_target_does_not_take_all_slots(world, crm, silence, shop):
    world.policy()
    world.target(crm.url, more="rate: {concurrent: 32}\ntimeout: {total: 60s}")
    world.settings(max_in_flight=9, **SECONDS)
    for i in range(40):
        world.send(f"op-{i}")
    world.start_daemon()
    world.wait_for(lambda: len(crm.requests) == 6, what="two thirds of the slots")
    for i in range(60):
        world.send(f"order-{i}", operation_type="order")
    world.wait_for(lambda: confirmed(world, "order") == 60, what="the other type")
    assert len(crm.requests) == 6
    silence.set()
    world.wait_for(lambda: confirmed(world, "sync_customer") == 40, what="the silent one")


def test_what_is_asked_is_not_asked_again_however_often_it_is_woken(world, crm, silence):
    world.policy()
    world.target(crm.url, more="timeout: {total: 60s}")
    world.settings(interval="1h")
    world.send("op-1")
    world.start_daemon()
    for number in range(2, 6):
        world.send(f"op-{number}")
        notify(world)
        world.wait_for(lambda: len(crm.requests) == number, what=f"question {number}")
    notify(world)
    silence.set()
    world.wait_for(lambda: confirmed(world, "sync_customer") == 5, what="every verdict")
    assert sorted(request.path for request in crm.requests) == [f"/customers/op-{i}" for i in range(1, 6)]


def test_more_than_one_page_goes_on_at_once(world, crm):
    world.policy()
    world.settings(interval="1h", batch=10)
    crm.answer = correct
    for i in range(45):
        world.send(f"op-{i:02}")
    world.start_daemon()
    world.wait_for(lambda: confirmed(world, "sync_customer") == 45, what="five pages")
    assert len(crm.requests) == 45


class Watch:
    """Notes, for each question about a suspect, whether it was alone and what was recorded by then."""

    def __init__(self, world, suspects):
        self.world, self.suspects = world, suspects
        self.lock, self.busy, self.order, self.findings = threading.Lock(), [], [], []

    def __call__(self, request):
        name = request.path.rsplit("/", 1)[-1]
        with self.lock:
            others = list(self.busy)
            self.busy.append(name)
            if name in self.suspects:
                self.order.append(name)
            if others and self.suspects & {name, *others}:
                self.findings.append(f"{name} beside {others}")
            for earlier in self.order[:-1] if name in self.suspects else []:
                if self.world.operation(earlier)["status"] != "confirmed":
                    self.findings.append(f"{name} before {earlier} was recorded")
        time.sleep(0.02)
        with self.lock:
            self.busy.remove(name)
        return correct(request)


def test_suspects_are_asked_one_by_one_and_alone(world, crm, silence):
    world.policy()
    world.target(crm.url, more="timeout: {total: 60s}")
    world.settings(batch=20, **SECONDS)
    suspects = {f"op-{i}" for i in range(6)}
    for name in suspects:
        world.send(name)
    daemon = world.start_daemon()
    world.wait_for(lambda: len(crm.requests) == 6, what="all in flight")
    daemon.kill()
    silence.set()
    crm.answer = watch = Watch(world, suspects)
    for i in range(100):
        world.send(f"other-{i:03}")
    world.start_daemon()
    world.wait_for(lambda: all(world.operation(name)["suspect"] for name in suspects), what="suspicion")
    assert watch.order == []  # not at once
    world.make_due(*suspects)
    world.wait_for(lambda: confirmed(world, "sync_customer") == 106, what="everything")
    assert watch.findings == []
    assert sorted(watch.order) == sorted(suspects)
    assert all(world.operation(name)["suspect"] == 0 for name in suspects)


def test_what_kills_the_daemon_again_and_again_goes_to_a_person(world, crm):
    world.policy()
    world.settings(**SECONDS)
    daemons = []

    def answer(request):
        if request.path.endswith("/killer"):
            daemons[-1].kill()
        time.sleep(0.02)
        return correct(request)

    crm.answer = answer
    names = ["killer", *(f"op-{i}" for i in range(5))]
    for name in names:
        world.send(name)
    for deaths in range(1, 5):
        daemons.append(world.start_daemon(serving=False))
        if deaths > 1:
            world.wait_for(lambda: world.operation("killer")["suspect"] == deaths - 1, what="suspicion")
            world.make_due("killer")
        assert daemons[-1].wait(30) == -9
    world.start_daemon()
    world.wait_status("killer", "manual_review")
    assert world.operation("killer")["reason"] == "suspect"
    world.make_due(*(name for name in names[1:] if world.operation(name)["due_at"]))
    world.wait_for(lambda: confirmed(world, "sync_customer") == 5, what="the innocent")


def test_what_is_another_instances_share_now_is_not_asked_any_more(world, crm):
    """The first has all of it in one page when the second comes."""
    world.policy()
    world.target(crm.url, more="rate: {concurrent: 2}\ntimeout: {connect: 1s, total: 2s}")
    asked = collections.Counter()

    def answer(request):
        asked[request.path] += 1
        time.sleep(0.1)
        return correct(request)

    crm.answer = answer
    for i in range(400):
        world.send(f"op-{i:03}")
    world.start_daemon()
    second = world.directory / "second.yaml"
    world.settings(file=second, instance_name="second", state_directory=str(world.directory / "second"))
    (world.directory / "second").mkdir()
    world.start_daemon(config=second, serving=False)
    world.wait_for(lambda: confirmed(world, "sync_customer") == 400, timeout=60, what="everything")
    by = {row["actor"]: row["n"] for row in world.db.execute(
        "SELECT actor, count(*) AS n FROM reconcile.journal WHERE event = 'confirmed' GROUP BY actor")}
    assert set(by) == {"reconciled:test", "reconciled:second"} and sum(by.values()) == 400
    # until its next heartbeat, 3 seconds at most, the first goes on: half of 20 a second is the other's
    assert sum(asked.values()) - len(asked) <= 3 * 20 / 2 + 2


def test_a_backlog_behind_an_open_breaker_drains_when_the_target_is_back(world, crm, shop):
    world.policy()
    world.target(crm.url, more="retry: {attempts: 1}\nbreaker: {failures: 3, open: 7s}\n"
                               "rate: {concurrent: 2}")
    world.settings(batch=20, **SECONDS)
    crm.answer = lambda request: (500, {}, "")
    for i in range(50):
        world.send(f"op-{i:02}")
    world.start_daemon()
    world.wait_for(lambda: len(crm.requests) >= 3, what="the breaker")
    for i in range(30):
        world.send(f"order-{i}", operation_type="order")
    world.wait_for(lambda: confirmed(world, "order") == 30, timeout=5, what="the other type")
    assert len(crm.requests) <= 4  # 3 failures, and one that was under way
    crm.answer = correct
    world.make_due(*(f"op-{i:02}" for i in range(50)))
    world.wait_for(lambda: confirmed(world, "sync_customer") == 50, what="the backlog")
    assert not world.db.execute("SELECT FROM reconcile.operations WHERE inconclusive > 0").fetchone()
