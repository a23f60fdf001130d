# SPDX-License-Identifier: Apache-2.0
"""Orders through the PHP service and its workers while everything is killed; do the books balance?

Clients repeat each order with its key until they have an answer. Service, workers, instances and the
database die at moments that a seed says; only the warehouse lives on, since its memory is the truth.
It loses answers, drops requests and shows orders late. Odd seeds let it ignore idempotency keys.
"""

import contextlib
import http.client
import pathlib
import random
import threading
import time

import psycopg
import yaml
from psycopg.rows import dict_row

import kill_run
import php_shop
from cluster import Cluster
from database_fixtures import make_template

CLIENTS = 8
WORKERS = 3
REPEATED = 0.1  # of the orders are asked for once more at once
CHECKED = 0.05  # are at the end
ARTICLES = ["lamp"] * 70 + ["answer-lost"] * 12 + ["no-answer"] + ["never-arrived"] * 5 + [
    "busy"] * 5 + ["seen-late"] * 7
# Of the example, but quick, and without a guard that a tenth of lost requests would trip.
CHANGES = {
    "latency_window": "1s", "absence": {"confirm": 2, "over": "1s"},
    "recheck": {"first": "1s", "factor": 1, "max": "1s", "jitter": "10%"},
    "attempts": {"max": 50, "delay": "1s", "factor": 1},
    "requeue": {"max": 50, "delay": "1s", "factor": 1},
    "guard": {"max": 100000, "share": "100%"},
}
SETTINGS = {"max_connections": "100", "autovacuum": "on"}


def faults(operations):
    """What the warehouse does wrong, as often as there are orders for it."""
    return [
        {"name": "pace", "on": "effect", "latency": "5ms"},
        {"name": "answer lost", "on": "effect", "where": {"article": "answer-lost"}, "lose": "close"},
        {"name": "never answered", "on": "effect", "where": {"article": "no-answer"}, "lose": "hang"},
        {"name": "never arrived", "on": "effect", "where": {"article": "never-arrived"},
         "outage": "close", "times": operations // 50},
        {"name": "busy", "on": "effect", "where": {"article": "busy"}, "outage": "503",
         "times": operations // 50},
        {"name": "seen late", "on": "effect", "where": {"article": "seen-late"}, "lose": "close",
         "listed_after": "900ms"},
        {"name": "probe lost", "on": "probe", "lose": "close", "skip": 10, "times": 10},
    ]


class Clients:
    """They place orders 1 to N, each until it has its answer, and keep what they were told."""

    def __init__(self, service, count, seed):
        self.service, self.count = service, count
        self.random = random.Random(seed)
        self.articles = [self.random.choice(ARTICLES) for _ in range(count)]
        self.answers, self.problems = {}, []
        self.left = iter(range(count))
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(seed + i,)) for i in range(CLIENTS)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def order(self, i):
        return {"article": self.articles[i], "total": f"{i}.50"}

    def ask(self, i, body=None):
        """The answer, or None when there was none or it is not known yet."""
        try:
            answer = self.service.place(f"client-key-{i}", body or self.order(i), timeout=30)
        except (OSError, http.client.HTTPException):
            return None
        return None if answer.status in (409, 500, 503) else answer

    def answer(self, i, pause=0.1):
        while not self.over.is_set():
            found = self.ask(i)
            if found:
                return found
            self.over.wait(pause)
        return None

    def place(self, i):
        answer = self.answer(i)
        if answer is None:
            return
        if answer.status != 202:
            self.problems.append(f"order {i} was answered with {answer.status}")
        self.answers[i] = answer.body

    def repeat(self, i):
        answer = self.answer(i)
        if answer and answer.body != self.answers.get(i):
            self.problems.append(f"order {i} was answered otherwise the second time")

    def run(self, seed):
        chance = random.Random(seed)
        while not self.over.is_set():
            with self.lock:
                i = next(self.left, None)
            if i is None:
                return
            self.place(i)
            if chance.random() < REPEATED:
                self.repeat(i)

    @property
    def done(self):
        return len(self.answers) == self.count

    def stop(self):
        self.over.set()
        for thread in self.threads:
            if thread.ident:  # it was started
                thread.join()

    def check(self):
        """When all is calm: the same bytes again, and another order is refused."""
        for i in self.random.sample(range(self.count), int(CHECKED * self.count)):
            self.repeat(i)
            other = self.ask(i, {"article": self.articles[i], "total": "99999.99"})
            if other is None or other.status != 422:
                self.problems.append(f"order {i} came with another payload, and was not refused")


class Run(kill_run.Run):
    instances = ("alpha", "beta")

    def __init__(self, cluster, database, directory, seed, operations, seconds):
        self.operations, self.seconds = operations, seconds
        super().__init__(cluster, database, directory, seed)
        self.db.execute((php_shop.PHP / "schema.sql").read_text())
        self.service = php_shop.Service(self.conninfo, self.directory)
        self.clients = Clients(self.service, operations, seed)

    @property
    def conninfo(self):
        return self.cluster.conninfo(self.database, "app_login")

    def close(self):
        self.clients.stop()
        self.service.kill()
        super().close()

    # processes

    def faults(self, seed):
        keys = [{"name": "no keys", "on": "effect", "forget_key": True}] if seed % 2 else []
        return php_shop.simulator_settings(*faults(self.operations), *keys)

    def write_policies(self, home):
        policy = yaml.safe_load((php_shop.PHP / "policies.d/place_order.yaml").read_text())
        (home / "policies.d/place_order.yaml").write_text(yaml.safe_dump({**policy, **CHANGES}))
        target = (php_shop.PHP / "targets.d/warehouse.yaml").read_text()
        (home / "targets.d/warehouse.yaml").write_text(
            target.replace("http://127.0.0.1:8091", self.simulator.base))

    def start(self, name):
        if name == "service":
            self.service.start()
        elif name == "database":
            self.cluster.start()
            self.db.close()
            self.db = self.cluster.connect(self.database, row_factory=dict_row)
        elif name.startswith("worker"):
            self.processes[name] = php_shop.Worker(
                self.conninfo, self.simulator.base, self.directory, name, TIMEOUT=1, LEASE=4,
                AT_ONCE=10).process
        else:
            super().start(name)

    def kill(self, name):
        if name not in ("service", "database"):
            super().kill(name)
            return
        {"service": self.service, "database": self.cluster}[name].kill()
        self.result.kills[name] += 1

    def chaos(self):
        names = [*self.processes, "service", "database"]
        over = time.monotonic() + self.seconds
        while time.monotonic() < over and not (self.clients.done and not self.open_operations()):
            time.sleep(self.random.uniform(0.1, 2))
            name = self.random.choice(names)
            self.kill(name)
            time.sleep(self.random.uniform(0, 0.5))
            self.start(name)

    # the end

    def open_operations(self):
        """What a client has no answer for is open as well."""
        return super().open_operations() + self.operations - len(self.clients.answers)

    def judge(self):
        super().judge()
        found = self.result.problems
        rows = self.db.execute("SELECT id, total::text FROM orders").fetchall()
        ids = {row["operation_id"] for row in self.db.execute(
            "SELECT operation_id FROM reconcile.operations").fetchall()}
        if len(rows) != self.operations or {row["id"] for row in rows} != ids:
            found.append(f"{len(rows)} orders and {len(ids)} operations")
        told = {body.split(b'"')[3].decode() for body in self.clients.answers.values()}
        if told != ids:
            found.append("clients were told of other orders")
        unsettled = self.db.execute("SELECT count(*) AS n FROM reconcile.idempotency_records"
                                    " WHERE status <> 'completed'").fetchone()["n"]
        if unsettled:
            found.append(f"{unsettled} keys without an answer")
        found += self.clients.problems

    def judge_books(self):
        super().judge_books()
        totals = {row["id"]: row["total"] for row in self.db.execute(
            "SELECT id, total::text FROM orders").fetchall()}
        wrong = [line["operation_id"] for line in self.simulator.lines("effect")
                 if line["body"]["total"] != totals[line["operation_id"]]]
        if wrong:
            self.result.problems.append(f"effects with another total: {wrong[:5]}")

    def go(self):
        for name in self.instances:
            self.configure(name)
        for name in self.instances:
            self.start(name)
        self.wait_published()
        self.clients.start()
        for i in range(WORKERS):
            self.start(f"worker-{i}")
        self.chaos()
        self.settle()
        self.clients.stop()
        if self.clients.done:
            self.clients.over.clear()
            self.clients.check()
        self.stop_all()
        self.judge()


def run(directory, seed, operations, seconds):
    """A Result, from a cluster of its own, since it dies as well; problems is empty if all held."""
    directory = pathlib.Path(directory)
    (directory / "run").mkdir(parents=True)
    started = time.monotonic()
    with Cluster(SETTINGS) as cluster:
        database = cluster.create_database("orders", template=make_template(cluster, directory))
        with contextlib.closing(Run(cluster, database, directory / "run", seed, operations,
                                    seconds)) as made:
            try:
                made.go()
            except (RuntimeError, psycopg.Error) as failed:
                made.result.problems.append(failed)
    made.result.seconds = time.monotonic() - started
    return made.result
