# SPDX-License-Identifier: Apache-2.0
"""reconciled-once.service and its timer."""

import container as booted
from target import answer_json

UNIT = "reconciled-once.service"
TIMER = "reconciled-once.timer"


def prepare(world):
    world.policy()
    world.load_credentials(UNIT)
    world.send("op-1")


def run_by_timer(world):
    """The exit status of the pass that the timer starts."""
    world.container.drop_in(TIMER, "[Timer]", "OnBootSec=", "OnActiveSec=100ms", "AccuracySec=1ms",
                            "RandomizedDelaySec=0")
    assert world.start(TIMER).returncode == 0
    booted.until(lambda: world.state(UNIT) in ("inactive", "failed")
                 and int(world.container.property(UNIT, "ExecMainExitTimestampMonotonic")),
                 "the pass ends")
    assert world.state(TIMER) == "active"
    return int(world.container.property(UNIT, "ExecMainStatus"))


def test_the_timer_runs_a_pass(world, crm):
    prepare(world)
    crm.answer = lambda request: answer_json({"id": "c1", "version": 7})
    assert run_by_timer(world) == 0
    assert world.operation("op-1")["status"] == "confirmed"


def test_a_target_that_is_away_is_no_failure_of_the_unit(world, crm):
    prepare(world)
    crm.answer = lambda request: None
    assert run_by_timer(world) == 3
    assert world.container.property(UNIT, "Result") == "success"
    assert world.operation("op-1")["status"] == "awaiting_confirmation"


def test_a_database_that_is_away_is_one(world, crm):
    prepare(world)
    world.settings(database="host=/nowhere dbname=app")
    assert world.start(UNIT).returncode != 0
    assert world.container.property(UNIT, "ExecMainStatus") == "1"
    assert world.container.property(UNIT, "Result") == "exit-code"
