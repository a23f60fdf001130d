# SPDX-License-Identifier: Apache-2.0
"""An interrupted pass ends in time, whatever it waits for."""

import json
import signal
import threading
import time

import pytest

from target import answer_json


class Silence:
    """Answers `quick` at once, everything else when released."""

    def __init__(self, crm):
        self.asked, self.released = threading.Event(), threading.Event()
        crm.answer = self

    def __call__(self, request):
        if request.path.endswith("quick"):
            return answer_json({"id": "c1", "version": 7})
        self.asked.set()
        self.released.wait(60)
        return answer_json({"id": "c1", "version": 7})


def stop(running, *signals):
    for number in signals:
        running.send_signal(number)
        time.sleep(0.3)
    out, err = running.communicate(timeout=15)
    assert running.returncode == 1 and "interrupted" in err
    return out


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT, signal.SIGINT]],
                         ids=["once", "twice"])
def test_a_silent_target_does_not_hold_it(world, crm, signals):
    world.policy()
    world.target(crm.url, more="timeout: {total: 60s}")
    silence = Silence(crm)
    world.send("quick")
    world.send("silent")
    before = world.operation("silent")
    running = world.start_once()
    assert silence.asked.wait(20)
    out = stop(running, *signals)
    silence.released.set()
    listed = [o["operation_id"] for o in json.loads(out)["operations"]]
    assert listed in (["quick"], []) and (listed or len(signals) == 2)
    assert world.operation("silent") == before


def test_a_lock_on_the_whole_table_does_not_hold_it(world, crm):
    world.policy()
    silence = Silence(crm)
    for i in range(40):
        world.send(f"op-{i}")
    running = world.start_once()
    assert silence.asked.wait(20)
    with world.cluster.connect(world.database, autocommit=False) as locking:
        locking.execute("LOCK TABLE reconcile.operations IN EXCLUSIVE MODE")
        silence.released.set()
        time.sleep(1)
        stop(running, signal.SIGTERM)
    assert world.db.execute("SELECT max(revision) AS n FROM reconcile.operations").fetchone()["n"] == 2


def test_many_locked_rows_are_given_up_together(world, crm):
    """Halving 300 rows down to each one would wait for 300 seconds."""
    world.policy()
    silence = Silence(crm)
    world.settings(batch=300, max_in_flight=300)
    world.target(crm.url, more="rate: {concurrent: 300}")
    world.db.execute(
        "INSERT INTO reconcile.operations (operation_id, operation_type, version, business_key,"
        " status, first_sent_at, sent_at, due_at) SELECT 'op-' || i, 'sync_customer', '7',"
        " 'op-' || i, 'awaiting_confirmation', now() - interval '1 hour', now() - interval '1 hour',"
        " now() FROM generate_series(1, 300) i")
    running = world.start_once()
    assert silence.asked.wait(20)
    with world.cluster.connect(world.database, autocommit=False) as locking:
        locking.execute("SELECT FROM reconcile.operations FOR UPDATE")
        silence.released.set()
        out, _ = running.communicate(timeout=60)
    assert running.returncode == 0
    counts = json.loads(out)["types"]["sync_customer"]
    assert (counts["checked"], counts["stale"]) == (300, 300)
