# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL that is not there, goes away in the middle, or does not say whether it committed."""

import json
import socket

import pytest

import history
from fault_proxy import FaultProxy
from target import NOT_FOUND, answer_json

RECORD = "INSERT INTO reconcile.journal"
OPERATIONS = [f"op-{i:02}" for i in range(30)]


@pytest.fixture
def proxy(world):
    with FaultProxy(f"unix:{world.cluster.directory}/.s.PGSQL.5432", postgres=True) as running:
        yield running


@pytest.fixture
def through(world, crm, proxy):
    """The installation reaches its database through the proxy; batches of ten."""
    world.policy()
    world.settings(database=json.dumps(f"host=127.0.0.1 port={proxy.port} user=daemon_login"
                                       f" dbname={world.database}"),
                   batch=10, max_in_flight=4)
    crm.answer = lambda request: answer_json({"id": "c1", "version": 7})
    return world


def send_all(world):
    for operation_id in OPERATIONS:
        world.send(operation_id)


def confirmed(world):
    """How often each operation was confirmed."""
    return {row["operation_id"]: row["n"] for row in world.db.execute(
        "SELECT operation_id, count(*) AS n FROM reconcile.journal"
        " WHERE to_status = 'confirmed' GROUP BY operation_id").fetchall()}


def asked(crm):
    return [request.path.rpartition("/")[2] for request in crm.requests]


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def all_once(world):
    """Each was decided exactly once, with one event, and nothing is missing in between."""
    assert confirmed(world) == dict.fromkeys(OPERATIONS, 1)
    assert {world.operation(name)["revision"] for name in OPERATIONS} == {3}
    assert [world.events(name).count("operation.confirmed") for name in OPERATIONS] == [1] * 30
    assert history.holes(world.db) == {}


def test_nobody_listens(world, crm):
    world.policy()
    world.send("op-00")
    port = closed_port()
    world.settings(database=json.dumps(f"host=127.0.0.1 port={port} dbname=app user=daemon_login"))
    run = world.once(expect=1)
    assert "could not connect to the database" in run.err
    assert f"port {port} failed: Connection refused" in run.err
    assert crm.requests == [] and world.operation("op-00")["checks"] == 0


def test_no_host_of_several(world, crm):
    world.policy()
    port = closed_port()
    world.settings(database=f"postgresql://daemon_login@127.0.0.1:{port},nowhere.invalid/app")
    run = world.once(expect=1)
    assert f"port {port} failed: Connection refused" in run.err
    assert 'could not translate host name "nowhere.invalid" to address' in run.err


def test_the_cluster_is_stopped(world, crm):
    world.policy()
    world.send("op-00")
    world.settings(database=json.dumps(f"host={world.directory} dbname=app user=daemon_login"))
    run = world.once(expect=1)
    assert f'on socket "{world.directory}/.s.PGSQL.5432" failed: No such file' in run.err


@pytest.mark.parametrize("how", ["reset", "close", "truncate"])
def test_goes_away_in_the_middle(through, crm, proxy, how):
    send_all(through)

    def answer(request):
        if crm.requests.index(request) == 15:
            proxy.refuse()
            if how == "truncate":
                proxy.down(truncate_after=100)
            else:
                proxy.cut(how)
        return answer_json({"id": "c1", "version": 7})

    crm.answer = answer
    run = through.once(expect=1)
    assert "connection to the database was lost" in run.err
    assert set(confirmed(through)) < set(OPERATIONS)
    assert history.holes(through.db) == {}
    crm.answer = lambda request: answer_json({"id": "c1", "version": 7})
    proxy.down()
    proxy.accept()
    through.once()
    all_once(through)


@pytest.mark.parametrize("how", ["close", "reset"])
@pytest.mark.parametrize("nth", [1, 2])
def test_the_answer_to_the_record_is_lost(through, crm, proxy, nth, how):
    """It was committed, but who sent it does not know: nothing is sent a second time."""
    send_all(through)
    loss = proxy.lose(RECORD, nth=nth, how=how)
    run = through.once(expect=1)
    assert "connection to the database was lost" in run.err
    assert loss.happened.wait(10)
    assert proxy.sent(RECORD) == nth
    written = confirmed(through)
    assert len(written) == nth * 10 and set(written.values()) == {1}
    first = len(crm.requests)
    through.once()
    assert not set(asked(crm)[first:]) & set(written)  # what is decided is not asked again
    all_once(through)


def test_the_record_never_arrives(through, crm, proxy):
    send_all(through)
    loss = proxy.lose(RECORD, what="question")
    through.once(expect=1)
    assert loss.happened.is_set() and confirmed(through) == {}
    through.once()
    all_once(through)


def test_the_answer_to_a_review_is_lost(through, crm, proxy):
    """An action that a repetition would double: the event of a missing effect."""
    crm.answer = lambda request: NOT_FOUND
    through.send("op-00")
    proxy.lose(RECORD)
    through.once(expect=1)
    assert through.operation("op-00")["status"] == "manual_review"
    assert through.events("op-00") == ["operation.requested", "operation.review"]
    through.make_due("op-00")
    through.once()
    assert through.events("op-00") == ["operation.requested", "operation.review"]
    assert through.operation("op-00")["revision"] == 3
    assert history.holes(through.db) == {}


@pytest.mark.parametrize("what", ["answer", "question"])
def test_publishing_the_policies_is_lost(through, proxy, what):
    through.send("op-00")
    proxy.lose("reconcile.operation_types", what=what)
    run = through.once(expect=1)
    assert "connection to the database was lost" in run.err
    through.once()
    assert through.operation("op-00")["status"] == "confirmed"


def test_a_slow_narrow_connection(through, proxy):
    send_all(through)
    proxy.both(delay=0.02)
    proxy.up(rate=200000)
    through.once()
    all_once(through)


def test_read_only(through, crm):
    """D01: a primary that became read-only is named, and nothing is done."""
    through.send("op-00")
    with through.cluster.connect() as admin:
        admin.execute(f"ALTER DATABASE {through.database} SET default_transaction_read_only = on")
    run = through.once(expect=1)
    assert "read-only transaction (SQLSTATE 25006)" in run.err
    assert crm.requests == [] and through.operation("op-00")["checks"] == 0


def test_read_only_wherever_one_looks(through, crm, proxy):
    through.send("op-00")
    with through.cluster.connect() as admin:
        admin.execute(f"ALTER DATABASE {through.database} SET default_transaction_read_only = on")
    through.settings(database=json.dumps(
        f"host=127.0.0.1,{through.cluster.directory} port={proxy.port},5432"
        f" dbname={through.database} user=daemon_login"))
    run = through.once(expect=1)
    assert run.err.count("session is read-only") == 2
    assert f"port {proxy.port} failed" in run.err and str(through.cluster.directory) in run.err


def test_no_transaction_is_idle(through, crm):
    """Q05: while targets are asked no session sits in a transaction; a short timeout for those
    that do breaks nothing."""
    with through.cluster.connect() as admin:
        admin.execute(f"ALTER DATABASE {through.database}"
                      " SET idle_in_transaction_session_timeout = '1s'")
    for i in range(4):
        through.send(f"op-{i:02}")
    states = []

    def answer(request):
        with through.cluster.connect() as admin:
            for _ in range(15):
                states.extend(state for state, in admin.execute(
                    "SELECT state FROM pg_stat_activity WHERE application_name = 'reconciled'"
                    " AND datname = %s", [through.database]).fetchall())
                admin.execute("SELECT pg_sleep(0.1)")
        return answer_json({"id": "c1", "version": 7})

    crm.answer = answer
    through.once()
    assert len(states) >= 4 * 15 * 2 and "idle in transaction" not in states
    assert [through.operation(f"op-{i:02}")["status"] for i in range(4)] == ["confirmed"] * 4
