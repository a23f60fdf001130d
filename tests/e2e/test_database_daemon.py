# SPDX-License-Identifier: Apache-2.0
"""The daemon and a PostgreSQL that goes and comes back: no restart, nothing lost, nothing doubled."""

import json
import os
import time

import pytest

import history
from fault_proxy import FaultProxy
from target import NOT_FOUND, answer_json

RECORD = "INSERT INTO reconcile.journal"
OPERATIONS = [f"op-{i:02}" for i in range(40)]


@pytest.fixture
def proxy(world):
    with FaultProxy(f"unix:{world.cluster.directory}/.s.PGSQL.5432", postgres=True) as running:
        yield running
        for daemon in world.daemons:
            daemon.kill()


@pytest.fixture
def through(world, crm, proxy):
    world.policy()
    world.settings(database=json.dumps(f"host=127.0.0.1 port={proxy.port} user=daemon_login"
                                       f" dbname={world.database}"),
                   interval="1s", batch=5, max_in_flight=2)
    crm.answer = honest
    return world


def honest(request):
    return NOT_FOUND if request.path.endswith("5") else answer_json({"id": "c1", "version": 7})


def send_all(world):
    for name in OPERATIONS:
        world.send(name)


def decided(world):
    return {row["operation_id"] for row in world.db.execute(
        "SELECT operation_id FROM reconcile.journal WHERE actor LIKE 'reconciled:%'").fetchall()}


def wait_all_once(world):
    world.wait_for(lambda: len(decided(world)) == len(OPERATIONS), timeout=60)
    for name in OPERATIONS:
        operation = world.operation(name)
        status = "manual_review" if name.endswith("5") else "confirmed"
        assert (operation["status"], operation["revision"]) == (status, 3)
    assert history.holes(world.db) == {}


def cpu_seconds(daemon):
    with open(f"/proc/{daemon.pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_away_at_the_start(through, proxy):
    proxy.refuse()
    through.send("op-00")
    daemon = through.start_daemon(serving=False)
    daemon.wait_log("Connection refused")
    proxy.accept()
    daemon.wait_serving()
    through.wait_status("op-00", "confirmed")
    assert daemon.stop() == 0


def test_away_for_a_while(through, crm, proxy):
    """Q04: no spinning, no flood of connections, and afterwards it goes on and listens."""
    daemon = through.start_daemon()
    proxy.down(truncate_after=0)  # who connects is sent away
    proxy.cut()
    daemon.wait_log("no work with the database")
    before, used = proxy.accepted, cpu_seconds(daemon)
    time.sleep(4)
    assert 1 <= proxy.accepted - before <= 8
    assert cpu_seconds(daemon) - used < 1
    send_all(through)
    proxy.down()
    wait_all_once(through)
    assert len(crm.requests) == len(OPERATIONS)
    daemon.wait_serving()


@pytest.mark.parametrize("how", ["reset", "close", "silence"])
def test_cut_in_the_middle(through, crm, proxy, how):
    send_all(through)

    def answer(request):
        if crm.requests.index(request) == 15:
            through.wait_for(lambda: decided(through))
            proxy.cut(how)
        return honest(request)

    crm.answer = answer
    daemon = through.start_daemon(serving=False)
    wait_all_once(through)
    assert "no work with the database" in daemon.log
    assert daemon.stop() == 0


@pytest.mark.parametrize("how", ["close", "reset"])
def test_answers_to_the_record_are_lost(through, crm, proxy, how):
    """Each was committed, and the daemon does not know; it looks instead of sending again."""
    send_all(through)
    losses = [proxy.lose(RECORD, nth=nth, how=how) for nth in (1, 3, 6)]
    daemon = through.start_daemon(serving=False)
    wait_all_once(through)
    assert all(loss.happened.wait(10) for loss in losses)
    assert daemon.process.poll() is None
    asked = [request.path.rpartition("/")[2] for request in crm.requests]
    assert set(asked) == set(OPERATIONS)
    assert all(through.operation(name)["checks"] == 1 for name in OPERATIONS)


@pytest.mark.parametrize("what", ["answer", "question"])
def test_the_heartbeat_is_lost(through, proxy, what):
    """The count of heartbeats in the database is ahead of what the daemon knows: that is no
    restored database."""
    daemon = through.start_daemon()
    loss = proxy.lose("reconcile.instances", what=what, nth=2)
    assert loss.happened.wait(30)
    through.send("op-00")
    through.wait_status("op-00", "confirmed")
    assert through.db.execute("SELECT * FROM reconcile.guards").fetchall() == []
    assert daemon.stop() == 0


def test_d01_read_only_for_a_while(through, cluster, crm):
    """The connections stay, but writes are refused: they are given up, and made again until one
    takes writes."""
    crm.answer = honest
    daemon = through.start_daemon()
    with cluster.connect() as admin:
        admin.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        admin.execute("SELECT pg_reload_conf()")
        try:
            daemon.wait_log("25006")
            assert daemon.process.poll() is None
        finally:
            admin.execute("SET default_transaction_read_only = off")
            admin.execute("ALTER SYSTEM RESET default_transaction_read_only")
            admin.execute("SELECT pg_reload_conf()")
    send_all(through)
    wait_all_once(through)
    daemon.wait_serving()
