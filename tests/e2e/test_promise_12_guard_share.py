# SPDX-License-Identifier: Apache-2.0
"""Promise 12: no action while too many verdicts are missing or divergent."""

import signal
import threading
import time

import pytest

from guarded_orders import AGAIN, guards, looked_again, one, requeued, statuses, wait_held
from shop_orders import CONTROL, Shop, policy, send_many
from target import NOT_FOUND


@pytest.fixture
def shop(world, target):
    world.settings(interval="1s")
    return Shop(world, target)


class AllAtOnce:
    """Answers nothing before so many were asked; then in the order of their numbers in the list."""

    def __init__(self, shop, names):
        self.shop, self.names, self.asked = shop, names, set()
        self.all_asked, self.answers = threading.Event(), {name: threading.Event() for name in names}
        shop.http.answer = self

    def __call__(self, request):
        name = request.path.rsplit("/", 1)[-1]
        if name in self.answers and not self.answers[name].is_set():
            self.asked.add(name)
            if len(self.asked) == len(self.names):
                self.all_asked.set()
            self.answers[name].wait(30)
        return self.shop(request)

    def let_go(self, daemon):
        """The daemon finds all answers at once."""
        assert self.all_asked.wait(30)
        daemon.signal(signal.SIGSTOP)
        for name in self.names:
            self.answers[name].set()
            time.sleep(0.01)
        time.sleep(0.5)
        daemon.signal(signal.SIGCONT)


def test_when_most_are_missing_none_is_sent_again(world, shop):
    """30 of 50: the batch about to be recorded counts."""
    policy(world, guard="{max: 1000, share: 50%, sample: 10}", recheck=AGAIN)
    world.target(shop.http.url, name="shop", more="rate: {concurrent: 64}\n" + CONTROL)
    send_many(world, "gone", 30)
    send_many(world, "there", 20)
    shop.orders.update({f"there-{i}": {"id": f"t{i}", "total": "10.50"} for i in range(1, 21)})
    held = AllAtOnce(shop, [f"gone-{i}" for i in range(1, 31)] + [f"there-{i}" for i in range(1, 21)])
    held.let_go(world.start_daemon())
    world.wait_for(lambda: statuses(world).get("confirmed") == 20, 90, "what is there is confirmed")
    wait_held(world, 30)
    looked_again(world)
    assert requeued(world) == 0
    [guard] = guards(world)
    assert guard["reason"] == "share" and guard["count"] >= 10 and guard["share"] > 0.5
    assert statuses(world) == {"confirmed": 20, "awaiting_confirmation": 30}


def test_verdicts_while_observing_count(world, shop):
    """Enforced while most are missing: not one action, however small the batches are."""
    policy(world, guard="{max: 1000, share: 50%, sample: 10}", recheck=AGAIN)
    send_many(world, "there", 20)
    send_many(world, "gone", 30)
    shop.orders.update({f"there-{i}": {"id": f"t{i}", "total": "10.50"} for i in range(1, 21)})
    observer = world.start_daemon("--observe")
    world.wait_for(lambda: one(world, "SELECT count(*) FROM reconcile.operations"
                                      " WHERE class IS NOT NULL") == 50, 90, "a verdict on each")
    assert observer.stop() == 0
    world.db.execute("UPDATE reconcile.operations SET due_at = clock_timestamp()")
    world.start_daemon()
    world.wait_for(lambda: statuses(world).get("confirmed") == 20, 90, "what is there is confirmed")
    wait_held(world, 30)
    looked_again(world)
    assert requeued(world) == 0
    [guard] = guards(world)
    assert guard["reason"] == "share"


def test_a_few_missing_among_many_are_sent_again(world, shop):
    policy(world, guard="{max: 1000, share: 50%, sample: 10}", recheck=AGAIN)
    send_many(world, "there", 40, ago="2 hours")
    shop.orders.update({f"there-{i}": {"id": f"t{i}", "total": "10.50"} for i in range(1, 41)})
    world.start_daemon()
    world.wait_for(lambda: statuses(world).get("confirmed") == 40, 90, "confirmed")
    send_many(world, "gone", 10)
    world.wait_for(lambda: requeued(world) == 10, 90, "sent again")
    assert guards(world) == []


def test_an_outage_is_no_verdict_that_counts(world, shop):
    policy(world, guard="{max: 1000, share: 50%, sample: 10}", recheck="{first: 1s, factor: 1, max: 1s}",
           give_up="1000")
    world.target(shop.http.url, name="shop", more="breaker: {failures: 1000}\nretry: {attempts: 1}\n" + CONTROL)
    send_many(world, "op", 30)
    shop.http.answer = lambda request: (500, {}, "")
    world.start_daemon()
    world.wait_for(lambda: one(world, "SELECT min(checks) FROM reconcile.operations") >= 2, 90, "looks")
    assert guards(world) == []
    shop.http.answer = lambda request: shop(request) if request.path == "/control" else NOT_FOUND
    world.wait_for(lambda: guards(world), 90, "a guard")
    assert requeued(world) < 10  # those of batches before there was a sample
