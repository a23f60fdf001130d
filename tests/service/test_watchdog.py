# SPDX-License-Identifier: Apache-2.0
"""The watchdog proves that the loop turns: it spares whoever waits and kills whoever is stuck."""

import signal
import time

import container as booted
from target import answer_json

UNIT = "reconciled.service"
LIMIT = 2  # seconds
FOUND = answer_json({"id": "c1", "version": 7})


def begin(world, crm):
    world.policy()
    # the aborted process may be stopped: it is killed soon after
    world.load_credentials(UNIT, f"WatchdogSec={LIMIT}", "TimeoutAbortSec=1")
    crm.answer = lambda request: FOUND
    assert world.start().returncode == 0
    return world.main_process()


def spared(world, process):
    """Three times the limit later it is the same process."""
    time.sleep(3 * LIMIT)
    assert (world.state(), world.main_process(), world.restarts()) == ("active", process, 0)


def works(world, operation_id):
    world.send(operation_id)
    world.until_status(operation_id, "confirmed")


def test_a_blocked_loop_is_killed_and_started_again(world, crm):
    process = begin(world, crm)
    works(world, "op-1")
    before = world.container.cursor()
    world.container.run("kill", f"-{signal.SIGSTOP.value}", process)
    booted.until(lambda: world.restarts() == 1, "it is started again")
    told = world.container.told(before, UNIT)
    assert any("Watchdog timeout" in message for message in told), told
    booted.until(lambda: world.state() == "active", "it is back")
    assert world.main_process() not in (0, process)
    works(world, "op-2")


def test_one_with_nothing_to_do_is_spared(world, crm):
    spared(world, begin(world, crm))


def test_one_with_a_hanging_probe_is_spared(world, crm):
    process = begin(world, crm)
    crm.answer = lambda request: time.sleep(4 * LIMIT)
    world.send("op-1")
    booted.until(lambda: crm.asked("/customers"), "a probe hangs")
    spared(world, process)


def test_one_without_a_database_is_spared(world, crm):
    process = begin(world, crm)
    works(world, "op-1")
    world.cluster.halt()
    try:
        spared(world, process)
        assert world.get("/healthz")[0] == 200
        assert world.get("/readyz")[0] == 503
    finally:
        world.cluster.start()
    world.reconnect()
    works(world, "op-2")
    assert world.main_process() == process


def test_one_that_reloads_a_large_policy_is_spared(world, crm):
    process = begin(world, crm)
    judge = "".join(f"  - when: {{/state: s{i}}}\n    class: divergent\n    why: state_{i}\n"
                    for i in range(2000))
    world.policy(more=f"judge:\n{judge}")
    world.container.systemctl("reload", UNIT)
    spared(world, process)
    assert world.metric("reconciled_config_reload_success") == 1
    works(world, "op-1")
