# SPDX-License-Identifier: Apache-2.0
"""SIGHUP: a whole new configuration, or none of it."""

import hashlib
import json
import re
import resource
import signal
import threading

import pytest

from target import answer_json


def correct(request):
    return answer_json({"id": "c1", "version": 7})


def policy_digest(world, name="sync_customer"):
    return hashlib.sha256((world.directory / f"policies.d/{name}.yaml").read_bytes()).hexdigest()


@pytest.fixture(autouse=True)
def every_second(world, crm):
    world.settings(interval="1s")
    world.policy()
    crm.answer = correct


def judged_by(world, operation_id):
    world.send(operation_id)
    world.wait_status(operation_id, "confirmed")
    return world.journal(operation_id)[-1]["policy"]


def test_a_good_one_takes_over_and_evidence_names_the_policy(world, crm):
    daemon = world.start_daemon()
    before = policy_digest(world)
    assert judged_by(world, "op-1") == before
    world.policy(more="give_up: 40\n")
    daemon.reload()
    after = policy_digest(world)
    assert after != before and judged_by(world, "op-2") == after
    assert world.db.execute("SELECT policy FROM reconcile.operation_types").fetchone() == {
        "policy": after}


def test_the_manager_is_told_in_one_datagram(world):
    daemon = world.start_daemon()
    daemon.reload()
    world.policy(more="nonsense: 1\n")
    daemon.reload()
    reloading = [(at, text) for at, text in daemon.manager.messages
                 if text.startswith("RELOADING=1")]
    assert len(reloading) == 2 and len(daemon.manager.texts("READY=1")) == 3
    for at, text in reloading:
        found = re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=(\d+)", text)
        assert found and abs(int(found.group(1)) / 1e6 - at) < 5  # CLOCK_MONOTONIC


@pytest.mark.parametrize("damage, place", [
    (lambda w: w.policy(more="nonsense: 1\n"), r"sync_customer\.yaml:\d+:1"),
    (lambda w: w.config.write_text("{"), r"reconciled\.yaml:\d+:\d+"),
    (lambda w: w.config.unlink(), r"reconciled\.yaml"),
    (lambda w: (w.directory / "hash.key").write_text(""), r"reconciled\.yaml:\d+:\d+"),
    (lambda w: (w.directory / "targets.d/crm.yaml").unlink(), r"sync_customer\.yaml"),
], ids=["policy", "settings", "no file", "empty secret", "no target"])
def test_a_bad_one_changes_nothing_and_says_where(world, damage, place):
    daemon = world.start_daemon()
    before = policy_digest(world)
    damage(world)
    daemon.reload()
    assert "the one before stays" in daemon.log
    assert re.search(f"place=\\S*{place}", daemon.log)
    assert judged_by(world, "op-1") == before
    assert daemon.process.poll() is None


def test_good_again_after_a_bad_one(world):
    daemon = world.start_daemon()
    world.policy(more="nonsense: 1\n")
    daemon.reload()
    world.policy(more="give_up: 40\n")
    daemon.reload()
    assert judged_by(world, "op-1") == policy_digest(world)


def test_the_last_of_two_signals_is_not_lost(world):
    daemon = world.start_daemon()
    for give_up in (40, 41):  # two pending signals would be one
        world.policy(more=f"give_up: {give_up}\n")
        daemon.signal(signal.SIGHUP)
        daemon.wait_for(lambda n=give_up - 39: len(daemon.manager.texts("RELOADING=1")) == n,
                        what="the reload")
    daemon.wait_ready(3)
    world.wait_for(lambda: world.db.execute(
        "SELECT policy FROM reconcile.operation_types").fetchone()["policy"] == policy_digest(world))
    assert judged_by(world, "op-1") == policy_digest(world)
    told = [text[:5] for text in daemon.manager.texts() if text[:5] in ("READY", "RELOA")]
    assert told == ["READY", "RELOA", "READY", "RELOA", "READY"]


def test_what_was_asked_before_is_judged_by_the_policy_that_asked(world, crm):
    asked, released = threading.Event(), threading.Event()

    def slow(request):
        if request.path.endswith("slow"):
            asked.set()
            released.wait(30)
        return correct(request)

    crm.answer = slow
    before = policy_digest(world)
    world.send("slow")
    daemon = world.start_daemon()
    assert asked.wait(20)
    world.policy(more="give_up: 40\n")
    daemon.signal(signal.SIGHUP)
    daemon.manager.texts()
    daemon.wait_for(lambda: daemon.manager.texts("RELOADING=1"), what="the reload")
    released.set()
    daemon.wait_ready(2)
    world.wait_status("slow", "confirmed")
    assert world.journal("slow")[-1]["policy"] == before
    assert judged_by(world, "op-2") == policy_digest(world)
    assert len(crm.asked("/customers/slow")) == 1


def test_a_target_that_hangs_does_not_hold_a_reload(world, crm):
    asked, released = threading.Event(), threading.Event()

    def slow(request):
        if request.path.endswith("slow"):
            asked.set()
            released.wait(60)
        return correct(request)

    crm.answer = slow
    world.target(crm.url, more="timeout: {total: 60s}")
    world.send("slow")
    daemon = world.start_daemon()
    assert asked.wait(20)
    world.policy(more="give_up: 40\n")
    daemon.reload()
    assert judged_by(world, "op-2") == policy_digest(world)
    released.set()
    world.wait_status("slow", "confirmed")
    assert world.journal("slow")[-1]["policy"] == policy_digest(world)


def test_a_statement_that_hangs_does_not_hold_a_reload(world, crm):
    """What the old set asked the database is answered when it is gone."""
    daemon = world.start_daemon()
    with world.cluster.connect(world.database, autocommit=False) as locking:
        locking.execute("LOCK TABLE reconcile.operations")
        world.wait_for(lambda: world.db.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
            " AND application_name = 'reconciled read' AND wait_event_type = 'Lock'").fetchone(),
            what="a selection that waits")
        world.policy(more="give_up: 40\n")
        daemon.reload()
    assert judged_by(world, "op-1") == policy_digest(world)


def test_a_new_type_is_taken_up_and_an_old_one_left_alone(world, crm):
    daemon = world.start_daemon()
    text = (world.directory / "policies.d/sync_customer.yaml").read_text()
    world.policy(text=text.replace("sync_customer", "other_type"))
    (world.directory / "policies.d/sync_customer.yaml").unlink()
    daemon.reload()
    world.send("op-1")
    world.send("op-2", operation_type="other_type")
    world.wait_status("op-2", "confirmed")
    assert world.operation("op-1")["status"] == "awaiting_confirmation"


def test_a_new_credential_is_used(world, crm):
    token = world.directory / "token"
    token.write_text("first\n")
    world.target(crm.url, more=f'auth: {{bearer: "file:{token}"}}')
    daemon = world.start_daemon()
    judged_by(world, "op-1")
    token.write_text("second\n")
    daemon.reload()
    judged_by(world, "op-2")
    assert [request.headers["authorization"] for request in crm.requests] == [
        "Bearer first", "Bearer second"]


def test_what_needs_a_restart_is_named(world):
    daemon = world.start_daemon()
    world.settings(interval="2s", instance_name="another", database='"host=/nowhere dbname=x"')
    daemon.reload()
    for key in ("database", "instance_name"):
        assert f"key={key}" in daemon.log
    assert "key=state_directory" not in daemon.log
    judged_by(world, "op-1")
    assert world.journal("op-1")[-1]["actor"] == "reconciled:test"


def test_the_level_of_the_log_changes(world):
    daemon = world.start_daemon()
    judged_by(world, "op-1")
    assert "op-1" not in daemon.log
    world.settings(interval="1s", log="{level: debug}")
    daemon.reload()
    judged_by(world, "op-2")
    daemon.wait_log("op-2")


def test_while_the_database_is_away(world, cluster, crm):
    place = world.directory / "pg"
    world.settings(interval="1s", database=json.dumps(
        f"host={place} dbname={world.database} user=daemon_login"))
    daemon = world.start_daemon(serving=False)
    world.policy(more="give_up: 40\n")
    daemon.reload()
    place.symlink_to(cluster.directory)
    assert judged_by(world, "op-1") == policy_digest(world)


def test_the_limits_of_the_target_hold_across_a_reload(world, crm):
    """What was asked under the old set is over, or counted, when the new one asks."""
    lock, busy, most = threading.Lock(), [0], [0]
    released = threading.Event()

    def count(request):
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        released.wait(0.05)
        with lock:
            busy[0] -= 1
        return correct(request)

    crm.answer = count
    world.target(crm.url, more="rate: {concurrent: 3}")
    for i in range(150):
        world.send(f"op-{i}")
    daemon = world.start_daemon()
    for give_up in (40, 41, 42):
        world.policy(more=f"give_up: {give_up}\n")
        daemon.reload()
    for i in range(150):
        world.wait_status(f"op-{i}", "confirmed", timeout=60)
    assert most[0] <= 3


def test_a_larger_max_in_flight_brings_its_descriptors(world):
    world.settings(interval="1s", max_in_flight=10)
    daemon = world.start_daemon()
    hard = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (300, hard))
    world.settings(interval="1s", max_in_flight=700)
    daemon.reload()
    assert resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)[0] == 956
