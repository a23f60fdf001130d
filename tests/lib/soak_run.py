# SPDX-License-Identifier: Apache-2.0
"""A daemon under steady load and changing faults: does anything grow?

A requester adds operations, workers send them, database and target fail in turns. Memory,
descriptors and the time of each statement in the server are noted at regular moments, always when
nothing fails.
"""

import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import secrets
import signal
import statistics
import subprocess
import threading
import time

import psycopg
from psycopg.rows import dict_row

import history
import kill_run
import workers
from fault_proxy import FaultProxy
from simulator import Simulator

CLUSTER = {"shared_preload_libraries": "pg_stat_statements", "autovacuum": "on",
           "autovacuum_naptime": "5s", "max_connections": "100"}
PER_SECOND = 20
FAULT = 2  # seconds that one lasts
PAUSE = 4  # seconds of peace after it
# so that the daemon has something to do
UNANSWERED = {"name": "unanswered", "on": "effect", "where": {"number": "*[2468]"}, "lose": "close"}
NOT_FOUND = {"status": 404, "type": "application/json", "body": '{"error":"not_found"}'}
REQUEST = """
SELECT count((reconcile.request(operation_type => 'create_order', operation_id => 'op-' || i,
    entity_type => 'order', entity_id => i::text, idempotency_key => 'key-' || i,
    business_key => 'n-' || i, expected => json_build_object('total', i || '.50'),
    payload => json_build_object('number', 'n-' || i, 'total', i || '.50'))).revision)
FROM generate_series(%s::int, %s::int) i"""
STATEMENTS = """
SELECT queryid, regexp_replace(left(query, 300), '\\s+', ' ', 'g') AS text, calls, total_exec_time
FROM pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid
WHERE r.rolname = 'daemon_login' AND s.dbid = (
    SELECT oid FROM pg_database WHERE datname = current_database())"""


@dataclasses.dataclass
class Sample:
    seconds: float
    memory_kib: int
    descriptors: int
    operations: int
    statements: dict  # queryid: (calls, milliseconds), since the sample before


@dataclasses.dataclass
class Report:
    samples: list = dataclasses.field(default_factory=list)
    texts: dict = dataclasses.field(default_factory=dict)
    problems: list = dataclasses.field(default_factory=list)
    faults: int = 0


def thirds(values):
    """Of the time after the warm-up, which is the first quarter."""
    values = values[len(values) // 4:]
    part = max(1, len(values) // 3)
    return values[:part], values[-part:]


def grew(values, factor, more):
    """What the last third has at most, if that is more than the first third allows; else None."""
    first, last = thirds(values)
    return max(last) if max(last) > max(first) * factor + more else None


class Soak:
    def __init__(self, cluster, database, directory):
        self.cluster, self.database = cluster, database
        self.directory = pathlib.Path(directory)
        self.report = Report()
        self.over = threading.Event()
        self.requested = 0
        self.known = {}
        self.daemon = None
        self.stack = contextlib.ExitStack()

    # what runs

    def __enter__(self):
        with self.stack as stack:
            self.simulator = Simulator(self.directory, kill_run.simulator_settings(False))
            self.simulator.behave(UNANSWERED)
            stack.callback(self.simulator.stop)
            self.proxy = stack.enter_context(FaultProxy(
                f"unix:{self.cluster.directory}/.s.PGSQL.5432",
                f"unix:{self.directory}/.s.PGSQL.5432", postgres=True))
            self.db = self.cluster.connect(self.database, row_factory=dict_row)
            stack.callback(self.db.close)
            self.db.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
            self.configure()
            self.start_daemon()
            stack.callback(self.stop_daemon)
            for i in range(2):
                worker = workers.start(self.cluster.conninfo(self.database, "app_login"),
                                       self.simulator.address, "create_order", f"worker-{i}",
                                       self.directory / f"worker-{i}.log")
                stack.callback(worker.wait)
                stack.callback(worker.kill)
            requester = threading.Thread(target=self.request)
            requester.start()
            stack.callback(requester.join)
            stack.callback(self.over.set)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def configure(self):
        for folder in ("policies.d", "targets.d", "state"):
            (self.directory / folder).mkdir()
        (self.directory / "key").write_text(secrets.token_hex(32))
        self.policy = self.directory / "policies.d/create_order.yaml"
        self.policy.write_text(kill_run.POLICY)
        (self.directory / "targets.d/shop.yaml").write_text(
            kill_run.TARGET % self.simulator.base + "breaker: {open: 1s}\n")
        (self.directory / "reconciled.yaml").write_text(json.dumps({
            "database": f"host={self.directory} dbname={self.database} user=daemon_login",
            "instance_name": "soak", "evidence_hash_key": f"file:{self.directory}/key",
            "state_directory": f"{self.directory}/state", "interval": "1s",
            "http": {"listen": f"unix:{self.directory}/http"}}))

    def start_daemon(self):
        # what the sanitizer holds back of freed memory would look like growth
        asan = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1:malloc_context_size=5"
        with open(self.directory / "daemon.log", "ab") as log:
            self.daemon = subprocess.Popen(
                [kill_run.BUILD / "reconciled", "--config", self.directory / "reconciled.yaml"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "ASAN_OPTIONS": asan})

    def stop_daemon(self):
        self.daemon.send_signal(signal.SIGTERM)
        try:
            code = self.daemon.wait(15)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            code = self.daemon.wait()
        if code:
            log = (self.directory / "daemon.log").read_text(errors="replace")
            self.report.problems.append(f"the daemon ended with {code}: {log[-1000:]}")

    def request(self):
        with self.cluster.connect(self.database, "app_login") as app:
            while not self.over.wait(0.5):
                first = self.requested + 1
                self.requested += PER_SECOND // 2
                app.execute(REQUEST, [first, self.requested])

    # faults

    @contextlib.contextmanager
    def target_does(self, **behaviour):
        self.simulator.behave({"name": "soak", **behaviour})
        yield
        self.simulator.admin("DELETE", "behaviours/soak")

    @contextlib.contextmanager
    def database_refuses(self):
        self.proxy.refuse()
        self.proxy.cut("reset")
        yield
        self.proxy.accept()

    @contextlib.contextmanager
    def database_is_slow(self):
        self.proxy.down(delay=0.05)
        yield
        self.proxy.down()

    @contextlib.contextmanager
    def answer_is_lost(self):
        self.proxy.lose("reconcile.journal")
        yield

    @contextlib.contextmanager
    def connections_are_cut(self):
        self.proxy.cut("reset")
        yield

    @contextlib.contextmanager
    def configuration_changes(self, more):
        self.policy.write_text(kill_run.POLICY + more)
        self.daemon.send_signal(signal.SIGHUP)
        yield
        self.policy.write_text(kill_run.POLICY)
        self.daemon.send_signal(signal.SIGHUP)

    def faults(self):
        """One after the other, for ever."""
        return itertools.cycle((
            lambda: self.target_does(**{"on": "probe", "outage": "close"}),
            self.connections_are_cut,
            lambda: self.target_does(**{"on": "probe", **NOT_FOUND}),
            lambda: self.configuration_changes("give_up: 9\n"),
            self.database_refuses,
            lambda: self.target_does(**{"on": "probe", "status": 429, "retry_after": "1s"}),
            self.answer_is_lost,
            lambda: self.target_does(**{"on": "probe", "outage": "hang"}),
            lambda: self.configuration_changes("give_up: no number\n"),
            self.database_is_slow,
            lambda: self.target_does(**{"on": "any", "lose": "truncate"}),
        ))

    # what is noted

    def statements(self):
        now, since = {}, {}
        for row in self.db.execute(STATEMENTS).fetchall():
            self.report.texts[row["queryid"]] = row["text"]
            now[row["queryid"]] = (row["calls"], row["total_exec_time"])
        for query, (calls, spent) in now.items():
            before = self.known.get(query, (0, 0))
            if calls > before[0]:
                since[query] = (calls - before[0], spent - before[1])
        self.known = now
        return since

    def sample(self, seconds):
        status = pathlib.Path(f"/proc/{self.daemon.pid}/status").read_text()
        memory = next(int(line.split()[1]) for line in status.splitlines()
                      if line.startswith("VmRSS:"))
        descriptors = len(os.listdir(f"/proc/{self.daemon.pid}/fd"))
        operations = self.db.execute(
            "SELECT count(*) AS n FROM reconcile.operations").fetchone()["n"]
        made = Sample(seconds, memory, descriptors, operations, self.statements())
        self.report.samples.append(made)
        return made

    def run(self, seconds, tell):
        started = time.monotonic()
        for fault in self.faults():
            with fault():
                time.sleep(FAULT)
            self.report.faults += 1
            time.sleep(PAUSE)
            if self.daemon.poll() is not None:
                return
            tell(self.sample(time.monotonic() - started))
            if time.monotonic() - started > seconds:
                return

    # the end

    def settle(self):
        self.over.set()
        deadline = time.monotonic() + 90
        left = ("SELECT count(*) AS n FROM reconcile.operations"
                " WHERE status NOT IN ('confirmed', 'manual_review')")
        while self.db.execute(left).fetchone()["n"]:
            if time.monotonic() > deadline:
                self.report.problems.append("operations are still open")
                return
            time.sleep(0.5)

    def judge(self):
        found = self.report.problems
        memory = grew([s.memory_kib for s in self.report.samples], 1.05, 1024)
        descriptors = grew([s.descriptors for s in self.report.samples], 1, 0)
        if memory:
            found.append(f"memory grows: {memory} KiB")
        if descriptors:
            found.append(f"descriptors grow: {descriptors}")
        found += [f"not so: {what}: {rows}" for what, rows in history.holes(self.db).items()]
        books = self.simulator.counts()
        if books["operations_with_several_effects"]:
            found.append(f"{books['operations_with_several_effects']} operations with several effects")


def slower(report, factor=1.5, more=0.5):
    """Statements whose time per call grew: (text, milliseconds before, and now)."""
    found = []
    for query, text in report.texts.items():
        times = [spent / calls for sample in report.samples
                 for calls, spent in [sample.statements.get(query, (0, 0))] if calls]
        if len(times) < 8:
            continue
        first, last = map(statistics.median, thirds(times))
        if last > first * factor + more:
            found.append((text, first, last))
    return found


def run(cluster, database, directory, seconds, tell=lambda sample: None):
    """A Report; problems is empty when nothing grew and nothing was lost."""
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    with Soak(cluster, database, directory) as soak:
        try:
            soak.run(seconds, tell)
            soak.settle()
            soak.judge()
        except psycopg.Error as failed:
            soak.report.problems.append(failed)
    return soak.report
