# SPDX-License-Identifier: Apache-2.0
"""examples/php: what its worker does when calls end in every way, beside a real daemon.

Real PHP, real PostgreSQL, the simulated warehouse of the example with its books.
"""

import contextlib
import json
import signal
import time

import psycopg
import pytest

from php_shop import TOKEN, Sampler, Shop, number
from ports import free_port
from target import Target, answer_json

@pytest.fixture
def shop(world, tmp_path):
    directory = tmp_path / "shop"
    directory.mkdir()
    made = Shop(world, directory)
    yield made
    made.close()


def test_an_answer_that_says_what_was_sent_confirms(shop, world):
    world.once()  # makes the policies known
    order = shop.place(1)
    worker = shop.worker()
    row = shop.end(order, "confirmed")
    assert worker.stop() == 0
    [effect] = shop.effects(order)
    assert (row["remote_id"], row["attempts"], row["reason"]) == (effect["id"], 1, "validated_answer")
    assert effect["key"] == order
    assert shop.told(order) == ["requested", "started", "confirmed"]
    assert world.journal(order)[-1]["actor"] == "app:app_login"


def test_what_is_committed_during_the_claim_is_sent_whole(shop, world):
    """The order is older than the statement that claims it, and its commit is younger."""
    world.once()
    with psycopg.connect(world.cluster.conninfo(world.database)) as holder:
        with world.app.transaction():
            order = shop.place(9)
            holder.execute("LOCK TABLE reconcile.guards")
            shop.worker("waiting")
            world.wait_for(lambda: world.db.execute(
                "SELECT FROM pg_stat_activity WHERE application_name = 'waiting'"
                " AND wait_event_type = 'Lock'").fetchall(), what="a claim that waits")
        holder.rollback()
    assert shop.end(order, "confirmed")["attempts"] == 1
    [effect] = shop.effects(order)
    assert (effect["body"]["number"], effect["body"]["total"]) == (order, "10.50")


def test_an_answer_that_says_something_else_does_not(shop, world):
    """The warehouse stored another total: a person has to see that."""
    world.start_daemon()
    order = shop.place(2, "other-total")
    shop.worker()
    row = shop.end(order, "manual_review")
    assert (row["class"], row["reason"]) == ("divergent", "field_differs")
    assert shop.told(order)[:3] == ["requested", "started", "sent"]
    evidence = world.evidence(order)
    assert evidence["compared"] == [
        {"field": "total", "result": "different", "expected": "10.50", "found": "1.00"}], evidence
    assert len(shop.effects(order)) == 1


@pytest.mark.parametrize("article", ["answer-lost", "no-answer"])
def test_an_effect_whose_answer_is_lost_is_found_and_not_sent_again(shop, world, article):
    world.start_daemon()
    order = shop.place(3, article)
    worker = shop.worker()
    row = shop.end(order, "confirmed")
    assert shop.told(order) == ["requested", "started", "sent", "confirmed"]
    [effect] = shop.effects(order)
    assert row["remote_id"] == effect["id"]
    assert len(shop.sends(order)) == 1
    check_evidence(shop, world, order, worker)


def check_evidence(shop, world, order, worker):
    """Class, rule and what was compared are on record, and nothing that is secret."""
    last = world.journal(order)[-1]
    assert last["actor"] == "reconciled:test"
    assert (last["class"], last["rule"], last["action"]) == ("correct", "compare", "confirm")
    evidence = json.loads(last["evidence"])
    assert evidence["compared"] == [
        {"field": "total", "result": "equal", "expected": "10.50", "found": "10.50"}], evidence
    everything = json.dumps(world.journal(order), default=str) + worker.log.read_text() + json.dumps(
        world.db.execute("SELECT payload FROM reconcile.outbox").fetchall())
    assert TOKEN not in everything
    assert "answer-lost" not in last["evidence"]  # the article is not among what is kept


def test_a_request_that_never_arrived_is_sent_again_with_the_same_key(shop, world):
    """Nobody knows that at first: the connection closed without an answer."""
    world.start_daemon()
    order = shop.place(4, "never-arrived")
    shop.worker()
    row = shop.end(order, "confirmed")
    assert row["attempts"] == 2
    assert shop.told(order)[:3] == ["requested", "started", "sent"]
    assert "requeued" in shop.told(order)
    assert [line["key"] for line in shop.effects(order)] == [order]
    assert world.events(order) == ["operation.requested", "operation.requeued", "operation.confirmed"]


def test_two_effects_are_seen_by_the_daemon(shop, world):
    world.start_daemon()
    order = shop.place(5, "twice")
    shop.worker()
    row = shop.end(order, "manual_review")
    assert (row["class"], row["reason"]) == ("divergent", "duplicate_effect")


def test_nobody_listens_so_nothing_left(shop, world):
    """Known without asking: another attempt follows, and nobody is asked in between."""
    world.once()
    order = shop.place(6)
    worker = shop.worker("early", warehouse=f"http://127.0.0.1:{free_port()}")
    shop.end(order, "retry_scheduled")
    assert worker.stop() == 0
    shop.worker()
    assert shop.end(order, "confirmed")["attempts"] == 2
    assert shop.told(order) == ["requested", "started", "retried", "started", "confirmed"]
    assert len(shop.effects(order)) == 1


def test_a_busy_warehouse_says_when(shop, world):
    world.once()
    shop.sim.behave({"name": "busy", "on": "effect", "status": 429, "retry_after": "2s", "times": 1})
    order = shop.place(7)
    shop.worker()
    row = shop.end(order, "confirmed")
    assert row["attempts"] == 2
    [first, second] = [r["at"] for r in world.journal(order) if r["event"] in ("retried", "confirmed")]
    assert (second - first).total_seconds() > 2
    retried = next(r for r in world.journal(order) if r["event"] == "retried")
    assert json.loads(retried["evidence"])["cause"] == "http_429"


@pytest.mark.parametrize("status, content_type, body, event, becomes", [
    (422, "application/json", '{"error":"unknown_article"}', "rejected", "not_applicable"),
    # not the error of the warehouse, so something in between may have said it
    (422, "text/html", "<h1>422</h1>", "sent", "awaiting_confirmation"),
    # the key came with another body: then there is an effect with our key, and not ours
    (422, "application/json", '{"error":"key_reused"}', "sent", "awaiting_confirmation"),
    (404, "application/json", '{"error":"not_found"}', "sent", "awaiting_confirmation"),
    (302, "text/html", "", "sent", "awaiting_confirmation"),
    (503, "application/json", '{"error":"unavailable"}', "sent", "awaiting_confirmation"),
    (200, "application/json", "{}", "sent", "awaiting_confirmation"),
    (200, "text/html", "<h1>Welcome</h1>", "sent", "awaiting_confirmation"),
])
def test_only_what_the_warehouse_itself_says_is_believed(shop, world, status, content_type, body,
                                                         event, becomes):
    world.once()
    shop.sim.behave({"name": "says", "on": "effect", "status": status, "type": content_type,
                     "body": body})
    order = shop.place(8)
    shop.worker()
    shop.wait_told(order, event)
    assert shop.told(order) == ["requested", "started", event]
    assert world.operation(order)["status"] == becomes
    assert len(shop.sends(order)) == 1


def test_a_worker_that_dies_before_its_call(shop, world):
    """It holds six, sends one, and is killed: the others are asked about, and sent by another."""
    world.start_daemon()
    shop.sim.behave({"name": "slow", "on": "effect", "latency": "3s", "times": 1})
    orders = [shop.place(i) for i in range(10, 16)]
    worker = shop.worker("first", AT_ONCE=6, LEASE=8, TIMEOUT=5)
    world.wait_for(lambda: shop.sim.lines("effect"), what="a call")
    worker.kill()
    assert {world.operation(order)["status"] for order in orders} == {"processing"}
    shop.worker("second", AT_ONCE=10)
    for order in orders:
        shop.end(order, "confirmed")
        assert len(shop.effects(order)) == 1
    sends = [len(shop.sends(order)) for order in orders]
    assert sends == [1] * 6
    # The one whose effect was there was found by the daemon, the others were sent by the second.
    assert sorted(world.operation(order)["attempts"] for order in orders) == [1] + [2] * 5


def test_a_worker_that_slept_sends_nothing(shop, world):
    """Stopped while it held six; when it goes on, its lease is over."""
    world.start_daemon()
    shop.sim.behave({"name": "slow", "on": "effect", "latency": "500ms"})
    orders = [shop.place(i) for i in range(20, 26)]
    sleeper = shop.worker("sleeper", AT_ONCE=6)
    world.wait_for(lambda: shop.sim.lines("effect"), what="a call")
    sleeper.process.send_signal(signal.SIGSTOP)
    second = shop.worker("second", AT_ONCE=10)
    for order in orders:
        shop.end(order, "confirmed")
    asked = len(shop.sim.lines("request"))
    second.stop()
    sleeper.process.send_signal(signal.SIGCONT)
    world.wait_for(lambda: "not sent" in sleeper.log.read_text(), what="a lease that is over")
    assert sleeper.stop() == 0
    late = shop.sim.lines("request")[asked:]
    assert [line for line in late if line["purpose"] == "effect"] == []
    for order in orders:
        assert len(shop.effects(order)) == 1


def test_a_lease_that_gets_short_is_extended(shop, world):
    """Ten at once, each of which takes more than a tenth of the lease."""
    world.once()
    shop.sim.behave({"name": "slow", "on": "effect", "latency": "700ms"})
    orders = [shop.place(i) for i in range(30, 40)]
    shop.worker(AT_ONCE=10, LEASE=5, TIMEOUT=2)
    for order in orders:
        assert shop.end(order, "confirmed")["attempts"] == 1
    told = [shop.told(order) for order in orders]
    assert told[0] == ["requested", "started", "confirmed"]
    assert ["requested", "started", "extended", "confirmed"] in told


def test_sigterm_ends_what_is_in_hand_and_gives_back_the_rest(shop, world):
    world.once()
    shop.sim.behave({"name": "slow", "on": "effect", "latency": "2s"})
    orders = [shop.place(i) for i in range(40, 45)]
    worker = shop.worker(AT_ONCE=5, LEASE=20, TIMEOUT=8)
    world.wait_for(lambda: shop.sim.lines("effect"), what="a call")
    asked = time.monotonic()
    assert worker.stop() == 0
    assert time.monotonic() - asked < 8
    statuses = [world.operation(order)["status"] for order in orders]
    assert sorted(statuses) == ["confirmed"] + ["retry_scheduled"] * 4
    for order in orders:
        assert len(shop.sends(order)) == (world.operation(order)["status"] == "confirmed")


def test_a_message_that_comes_twice_is_sent_once(shop, world):
    world.once()
    order = shop.place(50)
    worker = shop.worker(messages=True)
    assert worker.ask(order) == "ack"
    assert world.operation(order)["status"] == "confirmed"
    assert worker.ask(order) == "ack"
    assert len(shop.sends(order)) == 1
    assert shop.told(order) == ["requested", "started", "confirmed"]


def test_a_message_that_comes_again_while_the_first_is_handled(shop, world):
    """To another consumer, because the visibility timeout of the broker was too short."""
    world.once()
    shop.sim.behave({"name": "slow", "on": "effect", "latency": "1s"})
    order = shop.place(51)
    first, second = (shop.worker(name, messages=True, TIMEOUT=8, LEASE=20)
                     for name in ("first", "second"))
    first.tell(order)
    world.wait_for(lambda: shop.effects(order), what="the call")
    assert second.ask(order) == "ack"
    assert first.hear(order) == "ack"
    assert len(shop.sends(order)) == 1
    assert world.operation(order)["status"] == "confirmed"


def test_a_message_after_a_lost_answer_waits_for_the_daemon(shop, world):
    """Redelivered because its consumer died: whether to send again is not for the broker to say."""
    world.once()
    order = shop.place(52, "no-answer")
    first = shop.worker("first", messages=True, TIMEOUT=20, LEASE=30)
    first.tell(order)
    world.wait_for(lambda: shop.effects(order), what="the effect")
    first.kill()
    second = shop.worker("second", messages=True)
    assert second.ask(order) == "ack"
    assert len(shop.sends(order)) == 1
    assert world.operation(order)["status"] == "processing"


def test_a_message_that_is_faster_than_its_commit_comes_again(shop, world):
    world.once()
    worker = shop.worker(messages=True)
    assert worker.ask(number(53)) == "nack"
    shop.place(53)
    assert worker.ask(number(53)) == "ack"
    assert world.operation(number(53))["status"] == "confirmed"


def test_messages_out_of_order(shop, world):
    """The eighth version is done, then the message of the seventh comes."""
    world.once()
    seventh, eighth = shop.move(60, 7, "Old Street 7"), shop.move(60, 8, "New Street 8")
    worker = shop.worker(messages=True)
    assert worker.ask(eighth) == "ack"
    assert worker.ask(seventh) == "ack"
    assert world.operation(eighth)["status"] == "confirmed"
    assert world.operation(seventh)["superseded_by"] == eighth
    assert shop.sends(seventh) == []
    assert shop.stored("addresses", 60)["street"] == "New Street 8"


@pytest.mark.parametrize("lose", [None, "close"])
def test_the_version_changes_while_one_is_in_flight(shop, world, lose):
    """The seventh is on its way when the eighth is wanted. The target ends with the eighth."""
    world.start_daemon()
    slow = {"name": "slow", "on": "effect", "collection": "addresses", "latency": "2s", "times": 1}
    shop.sim.behave({**slow, "lose": lose} if lose else slow)
    seventh = shop.move(61, 7, "Old Street 7")
    shop.worker("first", TIMEOUT=8, LEASE=20)
    world.wait_for(lambda: shop.effects(seventh), what="the call")
    eighth = shop.move(61, 8, "New Street 8")
    shop.worker("second")
    shop.end(eighth, "confirmed")
    row = world.wait_for(lambda: world.operation(seventh)["closed_at"] and world.operation(seventh),
                         what="the end of the seventh")
    # Answered, it had its effect; unanswered, only the newer one of ours is to be seen.
    assert row["status"] == ("not_applicable" if lose else "confirmed"), row
    assert row["superseded_by"] == eighth
    assert shop.stored("addresses", 61)["version"] == 8
    assert [len(shop.effects(one)) for one in (seventh, eighth)] == [1, 1]


def test_the_older_version_arrives_last(shop, world):
    """The warehouse refuses it; its worker cannot know why, so reconciled finds out."""
    world.start_daemon()
    shop.sim.behave({"name": "lost", "operation": "address-*-7", "on": "effect", "outage": "close",
                     "times": 1})
    seventh = shop.move(62, 7, "Old Street 7")
    first = shop.worker("first")
    shop.wait_told(seventh, "sent")
    first.stop()
    eighth = shop.move(62, 8, "New Street 8")
    shop.worker("second")
    shop.end(eighth, "confirmed")
    row = shop.end(seventh, "not_applicable")
    assert (row["reason"], row["superseded_by"]) == ("judged", eighth), row
    assert row["closed_reason"] == "judge[0]"
    assert shop.stored("addresses", 62)["version"] == 8


def test_no_transaction_is_open_while_the_target_is_called(shop, world):
    """Sampled by the target itself, in the middle of each call."""
    world.once()
    orders = [shop.place(i) for i in range(70, 80)]
    sampler = Sampler(world, "sampled")
    with Target() as target:
        def answer(request):
            for _ in range(10):
                sampler.sample()
                time.sleep(0.02)
            return answer_json({**json.loads(request.body), "id": "wh-1"}, 201)
        target.answer = answer
        shop.worker("sampled", warehouse=target.url, AT_ONCE=5, LEASE=30, TIMEOUT=10)
        for order in orders:
            shop.end(order, "confirmed")
    assert len(sampler.seen) == 100
    assert set(sampler.seen) == {("idle", None, None, None)}
    sampler.db.close()


def test_the_sampler_would_see_one(world):
    with contextlib.closing(world.cluster.connect(world.database, "app_login", autocommit=False,
                                                  application_name="holder")) as holder:
        holder.execute("SELECT 1")
        sampler = Sampler(world, "holder")
        sampler.sample()
        assert sampler.seen[0][0] == "idle in transaction"
        sampler.db.close()


def test_a_database_that_goes_away_and_comes_back(shop, world):
    """Its connections are cut while a call is under way: the outcome is told on a new one."""
    world.once()
    shop.sim.behave({"name": "slow", "on": "effect", "latency": "1s"})
    order = shop.place(80)
    shop.worker("cut_off", LEASE=20, TIMEOUT=8)
    world.wait_for(lambda: shop.effects(order), what="the call")
    with psycopg.connect(world.cluster.conninfo(world.database), autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                      " WHERE application_name = 'cut_off'")
    shop.end(order, "confirmed")
    assert shop.told(order) == ["requested", "started", "confirmed"]
    after = shop.place(81)
    shop.end(after, "confirmed")
