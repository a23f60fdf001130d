# SPDX-License-Identifier: Apache-2.0
"""systemctl reload: a good set replaces the old one, a bad one does not, the process lives on."""

import shutil
import threading

import container as booted
from target import NOT_FOUND, answer_json

UNIT = "reconciled.service"
FOUND = answer_json({"id": "c1", "version": 7})
SUCCESS = "reconciled_config_reload_success"


def begin(world, crm):
    world.policy()
    crm.answer = lambda request: FOUND
    assert world.start().returncode == 0
    return world.main_process()


def reload(world):
    done = world.container.run("systemctl", "reload", UNIT, check=False)
    assert world.state() == "active"
    return done.returncode


def published(world):
    return world.db.execute("SELECT policy FROM reconcile.operation_types").fetchone()["policy"]


def judged(world, operation_id):
    """The digest of the policy that confirmed it."""
    world.until_status(operation_id, "confirmed")
    return world.journal(operation_id)[-1]["policy"]


def spoil(world):
    path = world.directory / "policies.d/sync_customer.yaml"
    good = path.read_text()
    path.write_text(good.replace("latency_window: 5m", "latency_window: soon"))
    return good.splitlines().index("latency_window: 5m") + 1


def test_good(world, crm):
    process = begin(world, crm)
    world.send("op-1")
    old = judged(world, "op-1")
    world.policy(more="give_up: 3")
    assert reload(world) == 0
    booted.until(lambda: published(world) != old, "the new policy is published")
    world.send("op-2")
    assert judged(world, "op-2") == published(world)
    assert world.metric(SUCCESS) == 1
    assert world.main_process() == process


def test_bad_then_good(world, crm):
    process = begin(world, crm)
    world.send("op-1")
    old = judged(world, "op-1")
    before = world.container.cursor()
    line = spoil(world)
    reload(world)
    booted.until(lambda: world.metric(SUCCESS) == 0, "the metric tells")
    [problem] = world.container.journal(before, MESSAGE="the configuration has a problem")
    assert problem["PRIORITY"] == "3"
    assert problem["PLACE"] == f"/etc/reconciled/policies.d/sync_customer.yaml:{line}:17"
    world.send("op-2")
    assert judged(world, "op-2") == old == published(world)
    world.policy()
    assert reload(world) == 0
    booted.until(lambda: world.metric(SUCCESS) == 1, "the metric tells")
    assert world.main_process() == process


def test_no_file_at_all(world, crm):
    process = begin(world, crm)
    for path in ("policies.d", "targets.d"):
        shutil.rmtree(world.directory / path)
    world.config.unlink()
    reload(world)
    booted.until(lambda: world.metric(SUCCESS) == 0, "the metric tells")
    world.send("op-1")
    world.until_status("op-1", "confirmed")
    assert world.main_process() == process


def test_two_at_once_and_while_a_probe_is_under_way(world, crm):
    process = begin(world, crm)
    old = booted.until(lambda: published(world), "a policy is published")
    go_on = threading.Event()
    crm.answer = lambda request: go_on.wait(20) and FOUND
    world.send("op-1")
    booted.until(lambda: crm.asked("/customers/op-1"), "a probe is under way")
    world.policy(more="give_up: 3")
    for _ in range(2):
        world.container.run("kill", "-HUP", process)
    booted.until(lambda: published(world) != old, "the new policy is published")
    go_on.set()
    # the answer that began under the old policy may confirm, or is dropped and asked for again;
    # the journal names the policy that judged it
    assert judged(world, "op-1") in (old, published(world))
    assert world.metric(SUCCESS) == 1
    assert (world.state(), world.main_process()) == ("active", process)


def test_a_type_that_is_gone_is_left_alone(world, crm):
    begin(world, crm)
    (world.directory / "policies.d/sync_customer.yaml").unlink()
    assert reload(world) == 0
    crm.answer = lambda request: NOT_FOUND
    asked = len(crm.asked("/customers"))
    world.send("op-1")
    booted.until(lambda: world.metric("reconciled_operations_without_policy") == 1, "it is counted")
    assert len(crm.asked("/customers")) == asked
    assert world.operation("op-1")["checks"] == 0
