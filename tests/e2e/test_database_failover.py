# SPDX-License-Identifier: Apache-2.0
"""A standby takes over: one connection string names both servers, nothing is lost or doubled."""

import itertools
import json
import subprocess
import time
from urllib.parse import quote

import pytest
from psycopg.rows import dict_row

import cluster as private_cluster
import history
import world as installation
from target import NOT_FOUND, answer_json

OPERATIONS = [f"op-{i:02}" for i in range(30)]
MISSING = OPERATIONS[::3]
COUNTER = itertools.count()


class Pair:
    """A primary with a synchronous standby. After a failover the new primary gets a new one."""

    def __init__(self, directory):
        self.primary, self.standby, self.old = private_cluster.Cluster(), None, None
        try:
            self.primary.start()
            self.primary.create_login("migrator", options="CREATEROLE")
            self.primary.create_database("migrated", owner="migrator")
            self._migrate(directory)
            for role in ("app", "daemon"):
                self.primary.create_login(f"{role}_login", f"reconcile_{role}")
            self.complete()
        except BaseException:
            self.stop()
            raise

    def _migrate(self, directory):
        config = directory / "migrate.yaml"
        (directory / "key").write_text("k" * 32)
        config.write_text(f'database: "{self.primary.conninfo("migrated", "migrator")}"\n'
                          f'evidence_hash_key: "file:{directory}/key"\n')
        subprocess.run([installation.BUILD / "reconciled", "--config", config, "--migrate"],
                       check=True)

    def complete(self):
        if self.standby is None:
            self.standby = private_cluster.Standby(self.primary)
            self.standby.start()
            self.primary.synchronous(self.standby)

    def fail_over(self):
        """The primary dies as by a power cut, the standby takes its place."""
        self.primary.kill()
        self.standby.promote()
        self.primary.stop()
        self.primary, self.standby = self.standby, None

    def switch_over(self):
        """The standby takes its place while the old primary lives on."""
        self.standby.promote()
        self.old, self.primary, self.standby = self.primary, self.standby, None

    def stop(self):
        for each in (self.standby, self.primary, self.old):
            if each:
                each.stop()


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    made = Pair(tmp_path_factory.mktemp("servers"))
    yield made
    made.stop()


class Site:
    """An installation that knows both servers."""

    def __init__(self, directory, servers, database):
        self.servers = servers
        self.world = installation.World(directory, servers.primary, database)
        self.know(servers.primary, servers.standby)

    def know(self, *clusters, more=""):
        hosts = ",".join(str(each.directory) for each in clusters)
        self.settings(f"host={hosts} dbname={self.world.database} user=daemon_login {more}")

    def settings(self, conninfo):
        self.world.settings(database=json.dumps(conninfo), batch=5, max_in_flight=2,
                            interval="1s")

    def fail_over(self):
        self.servers.fail_over()
        self.reconnect()

    def switch_over(self):
        self.servers.switch_over()
        self.reconnect()

    def reconnect(self):
        """The tests look at what is the primary now; the installation is told nothing."""
        self.world.app.close()
        self.world.db.close()
        self.world.cluster = self.servers.primary
        self.world.app = self._connect("app_login")
        self.world.db = self._connect("postgres")

    def _connect(self, user):
        return self.servers.primary.connect(self.world.database, user, row_factory=dict_row)


@pytest.fixture
def site(servers, tmp_path):
    servers.complete()
    name = servers.primary.create_database(f"failover_{next(COUNTER)}", template="migrated")
    made = Site(tmp_path, servers, name)
    yield made
    made.world.close()


@pytest.fixture
def crm(site, target):
    site.world.target(target.url)
    site.world.policy()
    target.answer = honest
    return target


def honest(request):
    if request.path.rpartition("/")[2] in MISSING:
        return NOT_FOUND
    return answer_json({"id": "c1", "version": 7})


def decided(world):
    return {row["operation_id"]: row["to_status"] for row in world.db.execute(
        "SELECT operation_id, to_status FROM reconcile.journal"
        " WHERE actor LIKE 'reconciled:%'").fetchall()}


def wait_until(true, timeout=30):
    deadline = time.monotonic() + timeout
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def all_decided_once(world):
    assert decided(world) == {
        name: "manual_review" if name in MISSING else "confirmed" for name in OPERATIONS}
    assert {world.operation(name)["revision"] for name in OPERATIONS} == {3}
    assert history.holes(world.db) == {}


def test_the_standby_is_passed_over(site, crm):
    """L01, D01: it answers, but takes no writes."""
    site.world.send("op-01")
    site.know(site.servers.standby, site.servers.primary)
    site.world.once()
    assert site.world.operation("op-01")["status"] == "confirmed"
    site.world.send("op-02")
    hosts = ",".join(quote(str(each.directory), safe="")
                     for each in (site.servers.standby, site.servers.primary))
    site.settings(f"postgresql://daemon_login@{hosts}/{site.world.database}")
    site.world.once()
    assert site.world.operation("op-02")["status"] == "confirmed"


def test_only_a_standby(site, crm):
    site.world.send("op-01")
    site.know(site.servers.standby)
    run = site.world.once(expect=1)
    assert "read-only" in run.err and "25006" in run.err
    site.know(site.servers.standby, more="target_session_attrs=read-write")
    run = site.world.once(expect=1)
    assert f'on socket "{site.servers.standby.directory}/.s.PGSQL.5432" failed: ' \
        "session is read-only" in run.err
    site.know(site.servers.standby, site.servers.primary, more="target_session_attrs=any")
    assert "25006" in site.world.once(expect=1).err  # what the string says is obeyed
    assert crm.requests == []


def test_between_two_passes(site, crm):
    for name in OPERATIONS[:15]:
        site.world.send(name)
    site.world.once()
    before = decided(site.world)
    assert len(before) == 15
    site.fail_over()
    assert decided(site.world) == before  # what was committed is on the standby
    for name in OPERATIONS[15:]:
        site.world.send(name)
    site.world.once()
    all_decided_once(site.world)
    assert len(crm.requests) == 30


def test_in_the_middle_of_a_pass(site, crm):
    for name in OPERATIONS:
        site.world.send(name)

    def answer(request):
        if crm.requests.index(request) == 10:
            wait_until(lambda: decided(site.world))
            site.servers.primary.kill()
        return honest(request)

    crm.answer = answer
    run = site.world.once(expect=1)
    assert "connection to the database was lost" in run.err
    site.fail_over()
    before = decided(site.world)
    assert 0 < len(before) < 30
    crm.answer = honest
    site.world.once()
    all_decided_once(site.world)
    asked = [request.path.rpartition("/")[2] for request in crm.requests]
    assert all(asked.count(name) == 1 for name in before)  # never again what was decided


def not_tripped(world):
    assert world.db.execute("SELECT kind, name FROM reconcile.guards").fetchall() == []


def test_the_daemon_follows(site, crm):
    """Promise 15 and the rewind guard: a standby that lost nothing is no older database."""
    for name in OPERATIONS:
        site.world.send(name)

    before = {}

    def answer(request):
        if crm.requests.index(request) == 10:
            wait_until(lambda: decided(site.world))
            before.update(decided(site.world))
            site.servers.primary.kill()
        return honest(request)

    crm.answer = answer
    daemon = site.world.start_daemon(serving=False)
    daemon.wait_log("no work with the database")
    site.fail_over()
    assert 0 < len(before) < 30
    wait_until(lambda: len(decided(site.world)) == 30, 60)
    all_decided_once(site.world)
    not_tripped(site.world)
    asked = [request.path.rpartition("/")[2] for request in crm.requests]
    assert all(asked.count(name) == 1 for name in before)
    assert daemon.stop() == 0


def test_the_daemon_waits_for_a_server_that_recovers(site, crm):
    """The server dies in the middle of the work, and comes back by itself from what it had logged."""
    for name in OPERATIONS:
        site.world.send(name)
    before = {}

    def answer(request):
        if crm.requests.index(request) == 10:
            wait_until(lambda: decided(site.world))
            before.update(decided(site.world))
            site.servers.primary.kill()
        return honest(request)

    crm.answer = answer
    daemon = site.world.start_daemon(serving=False)
    daemon.wait_log("no work with the database")
    site.servers.primary.start()
    site.reconnect()
    assert 0 < len(before) < 30
    wait_until(lambda: len(decided(site.world)) == 30, 60)
    all_decided_once(site.world)
    not_tripped(site.world)
    asked = [request.path.rpartition("/")[2] for request in crm.requests]
    assert all(asked.count(name) == 1 for name in before)
    assert daemon.stop() == 0


def test_a_switchover_with_the_old_primary_still_there(site, crm):
    """D01: the connections to it live on, but it takes no writes any more."""
    daemon = site.world.start_daemon()
    with site.servers.primary.connect() as admin:
        admin.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        admin.execute("SELECT pg_reload_conf()")
    daemon.wait_log("25006")
    site.switch_over()
    for name in OPERATIONS:
        site.world.send(name)
    wait_until(lambda: len(decided(site.world)) == 30, 60)
    all_decided_once(site.world)
    not_tripped(site.world)
    assert daemon.stop() == 0
