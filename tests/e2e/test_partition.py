# SPDX-License-Identifier: Apache-2.0
"""D01: packets to the database are dropped, in the middle of a statement, without a word to either
side. The client's own limits end the wait, and nothing is done twice."""

import json

import pytest

import history
from daemon import Daemon
from network import ProxyNetwork, network
from target import NOT_FOUND, answer_json
from world import BUILD

OPERATIONS = [f"op-{i:02}" for i in range(20)]


@pytest.fixture
def net(world, target, request):
    socket = f"{world.cluster.directory}/.s.PGSQL.5432"
    with getattr(request, "param", network)(socket, target.url.removeprefix("http://")) as running:
        yield running
        for daemon in world.daemons:
            daemon.kill()


@pytest.fixture
def away(world, target, net):
    """The installation sees database and target only over the network."""
    world.policy()
    world.target(f"http://{net.target.address}", more="insecure: true")
    world.settings(database=json.dumps(
        f"host=127.0.0.1 hostaddr={net.database.listen['host']} port={net.database.port}"
        f" dbname={world.database} user=daemon_login"), interval="1s", batch=5, max_in_flight=4)
    target.answer = honest
    return world


def honest(request):
    return NOT_FOUND if request.path.endswith("5") else answer_json({"id": "c1", "version": 7})


def start(world, net):
    daemon = Daemon([*net.program_prefix, str(BUILD / "reconciled"), "--config",
                     str(world.config)], world.directory / "daemon.log",
                    {"WATCHDOG_USEC": "1000000"}, ready=False)
    world.daemons.append(daemon)
    return daemon


def slow_journal(world):
    """Each record takes three seconds in the server, so that the cut comes in its middle."""
    world.db.execute("""
        CREATE FUNCTION public.slow() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep(3); RETURN NULL; END $$;
        CREATE TRIGGER slow AFTER INSERT ON reconcile.journal
        FOR EACH STATEMENT EXECUTE FUNCTION public.slow()""")


def quick_journal(world):
    world.db.execute("DROP TRIGGER slow ON reconcile.journal; DROP FUNCTION public.slow")


def is_recording(world):
    return world.db.execute(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name = 'reconciled write' AND wait_event = 'PgSleep'").fetchone()


def decided(world):
    return {row["operation_id"] for row in world.db.execute(
        "SELECT operation_id FROM reconcile.journal WHERE actor LIKE 'reconciled:%'").fetchall()}


def all_once(world):
    for name in OPERATIONS:
        operation = world.operation(name)
        status = "manual_review" if name.endswith("5") else "confirmed"
        assert (operation["status"], operation["revision"]) == (status, 3)
    assert history.holes(world.db) == {}


def test_in_the_middle_of_the_record(away, target, net):
    for name in OPERATIONS:
        away.send(name)
    slow_journal(away)
    daemon = start(away, net)
    away.wait_for(lambda: is_recording(away), what="the first record")
    net.cut()
    away.wait_for(lambda: decided(away), what="the commit that the client does not learn of")
    quick_journal(away)
    daemon.wait_log("no work with the database")
    fed = len(daemon.manager.texts("WATCHDOG=1"))
    daemon.wait_for(lambda: len(daemon.manager.texts("WATCHDOG=1")) >= fed + 4,
                    what="a loop that turns without a database")
    before, asked = decided(away), len(target.requests)
    assert 0 < len(before) < len(OPERATIONS)
    net.heal()
    away.wait_for(lambda: len(decided(away)) == len(OPERATIONS), timeout=60)
    all_once(away)
    again = {request.path.rpartition("/")[2] for request in target.requests[asked:]}
    assert not again & before
    assert daemon.stop() == 0


@pytest.mark.parametrize("net", [network, ProxyNetwork], indirect=True)
def test_while_idle(away, net):
    """Nothing is being asked; it is noticed all the same, and what comes later is picked up."""
    daemon = start(away, net)
    daemon.wait_serving()
    net.cut()
    daemon.wait_log("no work with the database")
    away.send("op-00")
    net.heal()
    away.wait_status("op-00", "confirmed", timeout=60)
    daemon.wait_serving()
    assert daemon.stop() == 0


def test_it_stops_in_time(away, net):
    daemon = start(away, net)
    daemon.wait_serving()
    net.cut()
    assert daemon.stop(10) == 0
