# SPDX-License-Identifier: Apache-2.0
"""One run of promise 15: operations, workers and two instances, killed at moments that a seed says.

The simulator loses answers, drops requests and shows effects late. Odd seeds let it ignore
idempotency keys, so that a second send would be a second effect in its books.
"""

import collections
import dataclasses
import json
import os
import pathlib
import random
import secrets
import subprocess
import time

from psycopg.rows import dict_row

import history
import workers
from simulator import Simulator

BUILD = pathlib.Path(os.environ.get(
    "BUILD_DIR", pathlib.Path(__file__).resolve().parents[2] / "build"))
OPERATIONS = 2000
WORKERS = 3
CHAOS = 25  # seconds in which something is killed
STUCK = 150  # seconds without a settled operation: then it is not slow, it hangs
FINAL = "('confirmed', 'compensated', 'not_applicable')"
# A person is asked only about an operation that was being looked at alone when instances died.
REVIEWS = ("suspect",)

POLICY = """
operation_type: create_order
target: shop
mode: enforce
describe: {effect: the order is in the shop, truth: shop, proof: number and total, owner: tests}
latency_window: 1s
idempotent: key
resend: {key_valid: 1h}
probes:
  - get: /orders
    query: {number: "{business_key}", limit: "10"}
    found: {status: 200, /has_more: {present: true}}
    items: /data
    where: {/number: {is: op.business_key}}
    complete: {/has_more: "false"}
    remote_id: /id
absence: {confirm: 2, over: 1s}
compare:
  total: {found: /total, type: number, is: op./expected/total}
recheck: {first: 1s, factor: 1, max: 1s, jitter: 10%}
attempts: {max: 50, delay: 1s, factor: 1}
requeue: {max: 50, delay: 1s, factor: 1}
guard: {max: 100000, share: 100%}
actions: {missing: requeue}
"""

TARGET = """
target: shop
base: %s
timeout: {connect: 1s, total: 2s}
rate: {concurrent: 8}
control:
  get: /orders/control
  found: {status: 200, /id: control}
"""

# Orders as they come, all at once, in the transaction of the application.
REQUEST = """
SELECT count((reconcile.request(operation_type => 'create_order', operation_id => 'op-' || i,
    entity_type => 'order', entity_id => i::text, idempotency_key => 'key-' || i,
    business_key => 'n-' || i, expected => json_build_object('total', i || '.50'),
    payload => json_build_object('number', 'n-' || i, 'total', i || '.50'))).revision)
FROM generate_series(1, %s) i"""


def simulator_settings(ignore_keys):
    faults = [
        {"name": "pace", "on": "effect", "latency": "20ms"},
        {"name": "answer lost", "on": "effect", "where": {"number": "*7"}, "lose": "close"},
        {"name": "never answered", "on": "effect", "where": {"number": "n-1?13"}, "lose": "hang"},
        {"name": "never arrived", "on": "effect", "where": {"number": "*3"}, "outage": "close",
         "times": 60},
        {"name": "busy", "on": "effect", "where": {"number": "*5"}, "outage": "503", "times": 40},
        {"name": "seen late", "on": "effect", "where": {"number": "*1"}, "listed_after": "700ms"},
        {"name": "probe lost", "on": "probe", "where": {"number": "*9"}, "lose": "close",
         "times": 20},
    ]
    if ignore_keys:
        faults.append({"name": "no keys", "on": "effect", "forget_key": True})
    return {"collections": {"orders": {"indexes": ["number"], "idempotency": True,
                                       "seed": [{"id": "control", "number": "control"}]}},
            "behaviours": faults}


@dataclasses.dataclass
class Result:
    seed: int
    seconds: float = 0
    kills: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    statuses: dict = dataclasses.field(default_factory=dict)
    requeued: int = 0
    problems: list = dataclasses.field(default_factory=list)

    def __str__(self):
        killed = ", ".join(f"{n} {what}" for what, n in sorted(self.kills.items()))
        ended = ", ".join(f"{n} {what}" for what, n in sorted(self.statuses.items()))
        said = "; ".join(map(str, self.problems)) or "each effect once, each decided once"
        return (f"seed {self.seed:4}  {self.seconds:5.0f} s  killed: {killed}  "
                f"sent again: {self.requeued}  {ended}: {said}")


class Run:
    operations, seconds = OPERATIONS, CHAOS
    instances = ("alpha", "beta")

    def __init__(self, cluster, database, directory, seed):
        self.cluster, self.database = cluster, database
        self.directory = pathlib.Path(directory)
        self.random = random.Random(seed)
        self.result = Result(seed)
        self.processes = {}
        (self.directory / "key").write_text(secrets.token_hex(32))
        self.simulator = Simulator(self.directory, self.faults(seed))
        self.db = cluster.connect(database, row_factory=dict_row)

    def close(self):
        self.stop_all()
        self.simulator.stop()
        self.db.close()

    # processes

    def faults(self, seed):
        return simulator_settings(seed % 2 == 1)

    def configure(self, name):
        home = self.directory / name
        for folder in ("policies.d", "targets.d", "state"):
            (home / folder).mkdir(parents=True)
        self.write_policies(home)
        settings = {
            "database": self.cluster.conninfo(self.database, "daemon_login"),
            "instance_name": name, "evidence_hash_key": f"file:{self.directory}/key",
            "state_directory": f"{home}/state", "interval": "1s", "batch": "50",
            "max_in_flight": "16"}
        # JSON is YAML
        (home / "reconciled.yaml").write_text(json.dumps(settings))

    def write_policies(self, home):
        (home / "policies.d/create_order.yaml").write_text(POLICY)
        (home / "targets.d/shop.yaml").write_text(TARGET % self.simulator.base)

    def start(self, name):
        log = self.directory / f"{name}.log"
        if name.startswith("worker"):
            self.processes[name] = workers.start(
                self.cluster.conninfo(self.database, "app_login"), self.simulator.address,
                "create_order", name, log)
            return
        with open(log, "ab") as file:
            self.processes[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", BUILD / "reconciled", "--config",
                 self.directory / name / "reconciled.yaml"],
                stdin=subprocess.DEVNULL, stdout=file, stderr=file)

    def must_run(self, name):
        code = self.processes[name].poll()
        if code is not None:
            log = (self.directory / f"{name}.log").read_text(errors="replace")
            raise RuntimeError(f"{name} ended with {code}: {log[-1000:]}")

    def kill(self, name):
        self.must_run(name)
        process = self.processes[name]
        process.kill()
        process.wait()
        self.result.kills["worker" if name.startswith("worker") else "instance"] += 1

    def chaos(self):
        names = list(self.processes)
        over = time.monotonic() + self.seconds
        while time.monotonic() < over:
            time.sleep(self.random.uniform(0.1, 2))
            name = self.random.choice(names)
            self.kill(name)
            time.sleep(self.random.uniform(0, 0.5))
            self.start(name)

    def wait_published(self):
        """An attempt that begins while nothing is known of the type is looked at five minutes
        after its send: longer than this test waits."""
        over = time.monotonic() + STUCK
        while not self.db.execute("SELECT FROM reconcile.operation_types").fetchall():
            for name in self.processes:
                self.must_run(name)
            if time.monotonic() > over:
                raise RuntimeError("the policy was not published")
            time.sleep(0.1)

    # the end

    def open_operations(self):
        return self.db.execute(
            "SELECT count(*) AS n FROM reconcile.operations"
            f" WHERE status NOT IN {FINAL} AND status <> 'manual_review'").fetchone()["n"]

    def settle(self):
        """Until nothing is open. How long that takes is the machine's affair, standing still is not."""
        left, moved = self.open_operations(), time.monotonic()
        while left:
            for name in self.processes:
                self.must_run(name)
            time.sleep(0.5)
            now = self.open_operations()
            if now < left:
                moved = time.monotonic()
            elif time.monotonic() - moved > STUCK:
                self.result.problems.append(f"{now} operations are still open")
                self.result.problems += self.histories(
                    f"status NOT IN {FINAL} AND status <> 'manual_review'")
                return
            left = now

    def histories(self, which):
        """What is known of some of them: without it nobody finds out why."""
        rows = self.db.execute(
            "SELECT clock_timestamp() AS now, o.*, (SELECT json_agg(to_jsonb(j) ORDER BY j.revision)"
            " FROM reconcile.journal j WHERE j.operation_id = o.operation_id) AS journal"
            f" FROM reconcile.operations o WHERE {which} ORDER BY operation_id LIMIT 3").fetchall()
        return [json.dumps(row, default=str) for row in rows]

    def stop_all(self):
        """What is judged stands still."""
        for process in self.processes.values():
            process.kill()
            process.wait()

    def judge(self):
        found = self.result.problems
        rows = self.db.execute("SELECT status, count(*) AS n FROM reconcile.operations GROUP BY 1")
        self.result.statuses = {row["status"]: row["n"] for row in rows.fetchall()}
        self.result.requeued = self.db.execute(
            "SELECT count(*) AS n FROM reconcile.journal WHERE event = 'requeued'").fetchone()["n"]
        if sum(self.result.statuses.values()) != self.operations:
            found.append("operations are lost")
        if set(self.result.statuses) - {"confirmed", "manual_review"}:
            found.append("operations ended otherwise than confirmed or with a person")
            found += self.histories("status NOT IN ('confirmed', 'manual_review')")
        strange = self.db.execute(
            "SELECT operation_id, reason FROM reconcile.operations WHERE status = 'manual_review'"
            " AND reason <> ALL (%s) LIMIT 5", [list(REVIEWS)]).fetchall()
        found += [f"{row['operation_id']} is with a person: {row['reason']}" for row in strange]
        twice = self.db.execute(
            f"SELECT operation_id FROM reconcile.journal WHERE to_status IN {FINAL}"
            " AND from_status <> to_status GROUP BY 1 HAVING count(*) > 1 LIMIT 5").fetchall()
        found += [f"{row['operation_id']} was settled twice" for row in twice]
        found += [f"not so: {what}: {rows}" for what, rows in history.holes(self.db).items()]
        self.judge_books()

    def judge_books(self):
        """The effects in the books of the target, one for each operation."""
        effects = collections.Counter(line["operation_id"] for line in self.simulator.lines("effect"))
        twice = [name for name, n in effects.items() if n > 1]
        confirmed = {row["operation_id"] for row in self.db.execute(
            "SELECT operation_id FROM reconcile.operations WHERE status = 'confirmed'").fetchall()}
        if twice:
            self.result.problems.append(f"several effects: {sorted(twice)[:5]}")
        if confirmed - set(effects):
            self.result.problems.append(
                f"confirmed without an effect: {sorted(confirmed - set(effects))[:5]}")

    def go(self):
        for name in self.instances:
            self.configure(name)
        with self.cluster.connect(self.database, "app_login") as app:
            app.execute(REQUEST, [self.operations])
        for name in self.instances:
            self.start(name)
        self.wait_published()
        for i in range(WORKERS):
            self.start(f"worker-{i}")
        self.chaos()
        self.settle()
        self.stop_all()
        self.judge()


def run(cluster, database, directory, seed):
    """A Result; problems is empty when everything held."""
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    made = Run(cluster, database, directory, seed)
    try:
        made.go()
    except RuntimeError as failed:
        made.result.problems.append(failed)
    finally:
        made.close()
    made.result.seconds = time.monotonic() - started
    return made.result
