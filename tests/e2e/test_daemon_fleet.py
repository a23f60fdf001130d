# SPDX-License-Identifier: Apache-2.0
"""Several daemons: who waits, who takes what, who takes over, and two versions of a policy."""

import hashlib
import signal
import threading
import time

import pytest

from fleet import Fleet
from target import NOT_FOUND, answer_json

# The wait before joining is ten seconds and the longest question.
QUICK = "timeout: {connect: 1s, total: 1s}\nretry: {attempts: 1, max: 1s}\n"


def correct(request):
    return answer_json({"id": "c1", "version": 7})


@pytest.fixture
def fleet(world, crm):
    world.policy()
    world.target(crm.url, more=QUICK)
    crm.answer = correct
    return Fleet(world)


def send_many(world, prefix, count):
    """As send(), for many at once."""
    world.db.execute(
        "INSERT INTO reconcile.operations (operation_id, operation_type, version, business_key,"
        " status, first_sent_at, sent_at, due_at) SELECT %(p)s || i, 'sync_customer', '7', %(p)s || i,"
        " 'awaiting_confirmation', now() - interval '1 hour', now() - interval '1 hour',"
        " now() - interval '50 minutes' FROM generate_series(1, %(n)s) AS i",
        {"p": prefix, "n": count})


def confirmed(world, prefix):
    """How many each instance has confirmed, by name."""
    return {row["actor"].split(":")[1]: row["n"] for row in world.db.execute(
        "SELECT actor, count(*) AS n FROM reconcile.journal WHERE operation_id LIKE %s"
        " AND to_status = 'confirmed' GROUP BY actor", [prefix + "%"]).fetchall()}


def wait_confirmed(world, prefix, count, timeout=60):
    world.wait_for(lambda: sum(confirmed(world, prefix).values()) == count, timeout,
                   f"{count} confirmed")


def test_who_finds_others_waits_takes_its_share_and_gives_it_back(world, crm, fleet):
    fleet.start("a", interval="1s")
    started = time.monotonic()
    b = fleet.start("b", interval="1s", serving=False)
    assert b.manager.status() == "joining other instances"
    send_many(world, "early-", 20)
    wait_confirmed(world, "early-", 20)
    assert confirmed(world, "early-") == {"a": 20}
    b.wait_serving()
    assert time.monotonic() - started >= 12  # ten, and two that a question may take
    fleet.wait_members()
    send_many(world, "late-", 400)
    wait_confirmed(world, "late-", 400)
    shares = confirmed(world, "late-")
    assert min(shares["a"], shares["b"]) > 140  # halves by hash: 200, and six deviations
    assert len(crm.asked("/customers/late-")) == 400
    fleet.stop("b")  # says so: nobody waits until its heartbeat is old
    send_many(world, "end-", 100)
    wait_confirmed(world, "end-", 100, timeout=9)
    assert confirmed(world, "end-") == {"a": 100}


def test_who_is_alone_starts_at_once(fleet):
    started = time.monotonic()
    fleet.start("a")
    assert time.monotonic() - started < 8


def test_the_others_take_over_from_one_that_was_killed(world, fleet):
    fleet.start("a", interval="1s")
    fleet.start("b", interval="1s")
    fleet.wait_members()
    fleet.kill("b")
    send_many(world, "op-", 100)
    wait_confirmed(world, "op-", 100, timeout=20)
    assert confirmed(world, "op-") == {"a": 100}
    world.wait_for(lambda: fleet.rows()["b"]["stopped_at"], what="the burial")


def test_what_a_killed_one_had_in_flight_is_asked_again_and_suspected(world, crm, fleet):
    asked, released = threading.Event(), threading.Event()

    def hang(request):
        if request.path.endswith("slow") and not released.is_set():
            asked.set()
            released.wait(60)
            return None
        return correct(request)

    crm.answer = hang
    world.target(crm.url, more="timeout: {total: 30s}")
    world.send("slow")
    a = fleet.start("a", interval="1s")
    assert asked.wait(20)
    fleet.kill("a")
    released.set()
    assert fleet.rows()["a"]["in_flight"] == ["slow"]
    a = fleet.start("a", interval="1s")
    assert "ended while operations were in flight" in a.log
    row = world.operation("slow")
    assert row["suspect"] == 1 and row["status"] == "awaiting_confirmation"
    world.make_due("slow")
    world.wait_status("slow", "confirmed")
    assert world.operation("slow")["suspect"] == 0


def test_the_limit_of_a_target_holds_in_total(world, crm, fleet):
    lock, busy, most = threading.Lock(), [0], [0]

    def count(request):
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        time.sleep(0.02)
        with lock:
            busy[0] -= 1
        return correct(request)

    crm.answer = count
    world.target(crm.url, more=QUICK + "rate: {concurrent: 4}\n")
    fleet.start("a", interval="1s")
    send_many(world, "op-", 1500)
    fleet.start("b", interval="1s")
    fleet.start("c", interval="1s")
    fleet.wait_members()
    send_many(world, "more-", 300)
    wait_confirmed(world, "op-", 1500, timeout=120)
    wait_confirmed(world, "more-", 300, timeout=120)
    assert most[0] <= 4
    assert set(confirmed(world, "more-")) == {"a", "b", "c"}


def test_an_instance_that_stood_still_finds_its_place_again(world, crm, fleet):
    fleet.start("a", interval="1s")
    b = fleet.start("b", interval="1s")
    fleet.wait_members()
    b.signal(signal.SIGSTOP)
    send_many(world, "op-", 60)
    wait_confirmed(world, "op-", 60, timeout=25)
    assert confirmed(world, "op-") == {"a": 60}
    b.signal(signal.SIGCONT)
    b.wait_for(lambda: b.manager.status() == "joining other instances", what="joining")
    b.wait_serving()
    fleet.wait_members()
    send_many(world, "again-", 200)
    wait_confirmed(world, "again-", 200)
    assert set(confirmed(world, "again-")) == {"a", "b"}


class Upgrade:
    """Version one of the policy in one folder, version two in another."""

    def __init__(self, world):
        self.world = world
        self.old = world.directory / "policies.d"
        self.new = world.directory / "policies-2"
        self.new.mkdir()
        name = "sync_customer.yaml"
        (self.new / name).write_text((self.old / name).read_text() + "give_up: 40\n")
        self.old_digest, self.new_digest = (
            hashlib.sha256((folder / name).read_bytes()).hexdigest()
            for folder in (self.old, self.new))

    def judged(self, operation_id):
        row = self.world.journal(operation_id)[-1]
        return row["actor"], row["policy"]

    def published(self):
        return self.world.db.execute("SELECT policy FROM reconcile.operation_types").fetchone()["policy"]


def test_rolling_upgrade(world, crm, fleet):
    """The older one goes on until the newer can take over, then it takes nothing."""
    upgrade = Upgrade(world)
    a = fleet.start("a", interval="1s", policies=upgrade.old)
    b = fleet.start("b", interval="1s", policies=upgrade.new, serving=False)
    world.send("early")
    world.wait_status("early", "confirmed")
    assert upgrade.judged("early") == ("reconciled:a", upgrade.old_digest)
    b.wait_serving()
    assert upgrade.published() == upgrade.new_digest
    a.wait_log("another instance published another policy")
    send_many(world, "late-", 50)
    wait_confirmed(world, "late-", 50)
    assert confirmed(world, "late-") == {"b": 50}
    # the older one is upgraded, too
    fleet.stop("a")
    fleet.start("a", interval="1s", policies=upgrade.new)
    fleet.wait_members()
    send_many(world, "both-", 100)
    wait_confirmed(world, "both-", 100)
    assert set(confirmed(world, "both-")) == {"a", "b"}
    assert a.log.count("another instance published another policy") == 1
    assert upgrade.published() == upgrade.new_digest


def test_what_the_older_one_has_in_flight_may_only_be_confirmed(world, crm, fleet):
    upgrade = Upgrade(world)
    asked, released = set(), threading.Event()

    def slow(request):
        name = request.path.rsplit("/", 1)[-1]
        if not released.is_set():
            asked.add(name)
            released.wait(60)
        return NOT_FOUND if name == "absent" else correct(request)

    crm.answer = slow
    world.target(crm.url, more=QUICK.replace("total: 1s", "total: 60s"))
    (world.directory / "targets-2").mkdir()
    target = (world.directory / "targets.d/crm.yaml").read_text()
    (world.directory / "targets-2/crm.yaml").write_text(target.replace("total: 60s", "total: 1s"))
    fleet.start("a", interval="1s", policies=upgrade.old)
    world.send("there")
    world.send("absent")
    world.wait_for(lambda: asked == {"there", "absent"}, what="both asked")
    for name in ("there", "absent"):  # nobody else is to ask
        world.db.execute("UPDATE reconcile.operations SET due_at = now() + interval '1 hour'"
                         " WHERE operation_id = %s", [name])
    before = world.operation("absent")
    fleet.start("b", interval="1s", policies=upgrade.new, targets=world.directory / "targets-2")
    assert upgrade.published() == upgrade.new_digest
    released.set()
    world.wait_status("there", "confirmed")
    assert upgrade.judged("there") == ("reconciled:a", upgrade.old_digest)
    assert world.operation("absent") == before
    world.make_due("absent")
    world.wait_status("absent", "manual_review")
    assert upgrade.judged("absent") == ("reconciled:b", upgrade.new_digest)
