# SPDX-License-Identifier: Apache-2.0
"""The order service and the workers of examples/php, as processes, with their simulated warehouse."""

import dataclasses
import http.client
import json
import os
import pathlib
import signal
import subprocess

import yaml

from daemon import wait_for
from ports import free_port
from simulator import Simulator

PHP = pathlib.Path(__file__).resolve().parents[2] / "examples/php"

TOKEN = "token-that-nobody-may-see"
PLACED = """
SELECT * FROM reconcile.request(operation_type => 'place_order', operation_id => %(id)s,
    scope => 'north', entity_type => 'order', entity_id => %(id)s, idempotency_key => %(id)s,
    business_key => %(id)s, expected => '{"total": "10.50"}',
    payload => json_build_object('number', %(id)s::text, 'article', %(article)s::text,
        'total', '10.50'))"""
MOVED = """
SELECT * FROM reconcile.request(operation_type => 'set_address',
    operation_id => 'address-' || %(id)s || '-' || %(version)s, entity_type => 'order',
    entity_id => %(id)s, version => %(version)s::text,
    idempotency_key => 'address-' || %(id)s || '-' || %(version)s, business_key => %(id)s,
    expected => json_build_object('street', %(street)s::text, 'city', 'Lund'),
    payload => json_build_object('version', %(version)s::int, 'street', %(street)s::text,
        'city', 'Lund'))"""


def dsn(conninfo, name):
    """As PDO takes it; the name is seen in pg_stat_activity."""
    return "pgsql:" + ";".join(conninfo.split()) + f";application_name={name}"


def simulator_settings(*behaviours, **more):
    """Those of the example, with other faults."""
    settings = yaml.safe_load((PHP / "sim.yaml").read_text())
    return {**settings, "behaviours": list(behaviours) or settings["behaviours"], **more}


def spawn(command, environment, log, **options):
    """It ends with the one that started it."""
    with open(log, "ab") as file:
        return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *map(str, command)],
                                env={**os.environ, **environment}, stderr=file, **options)


@dataclasses.dataclass
class Reply:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class Service:
    """php -S with the order service. It may be killed, and started again on its port."""

    def __init__(self, conninfo, directory, name="service", processes=4):
        self.conninfo, self.name, self.processes = conninfo, name, processes
        self.log = pathlib.Path(directory) / f"{name}.log"
        self.port = free_port()
        self.process = None
        self.start()

    def start(self):
        environment = {"DATABASE": dsn(self.conninfo, self.name)}
        if self.processes > 1:
            environment["PHP_CLI_SERVER_WORKERS"] = str(self.processes)
        self.process = spawn(["php", "-S", f"127.0.0.1:{self.port}", PHP / "public/index.php"],
                             environment, self.log, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, start_new_session=True)
        wait_for(self.answers, 30, "the order service")

    def answers(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            return self.request("GET", "/").status == 404
        except OSError:
            return False

    def kill(self):
        """With its processes: php -S gives its requests to children."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    close = kill

    def request(self, method, path, body=None, headers=None, timeout=20):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            text = json.dumps(body) if isinstance(body, dict) else body
            connection.request(method, path, text, headers or {})
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, found, answer.read())
        finally:
            connection.close()

    def place(self, key, body, tenant="north", **more):
        return self.request("POST", "/orders", body, {
            "Idempotency-Key": key, "X-Tenant": tenant, "Content-Type": "application/json"}, **more)

    def move(self, order, street, city="Lund", tenant="north"):
        return self.request("PUT", f"/orders/{order}/address", {"street": street, "city": city},
                            {"X-Tenant": tenant})

    def show(self, order, tenant="north"):
        return self.request("GET", f"/orders/{order}", headers={"X-Tenant": tenant})


class Worker:
    """The worker of the example; with messages it is told ids instead of claiming."""

    def __init__(self, conninfo, warehouse, directory, name="worker", messages=False, **settings):
        self.log = pathlib.Path(directory) / f"{name}.log"
        environment = {"DATABASE": dsn(conninfo, name), "WAREHOUSE": warehouse, "WORKER": name,
                       **{key: str(value) for key, value in settings.items()}}
        self.process = spawn(
            ["php", PHP / "worker", *(["--messages"] if messages else [])], environment, self.log,
            stdin=subprocess.PIPE if messages else subprocess.DEVNULL,
            stdout=subprocess.PIPE if messages else subprocess.DEVNULL, text=True)

    def ask(self, operation_id):
        """The answer to one message, "ack" or "nack"."""
        self.tell(operation_id)
        return self.hear(operation_id)

    def tell(self, operation_id):
        self.process.stdin.write(operation_id + "\n")
        self.process.stdin.flush()

    def hear(self, operation_id):
        said, _, about = self.process.stdout.readline().strip().partition(" ")
        assert about == operation_id, self.log.read_text()
        return said

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self, timeout=30):
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)

    def close(self):
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()


def number(i):
    return f"ord-{i:024x}"


class Shop:
    """For a test: the simulated warehouse, the configuration of the example, workers."""

    def __init__(self, world, directory, token=TOKEN):
        self.world, self.directory, self.token = world, directory, token
        self.sim = Simulator(directory, simulator_settings(**({"token": token} if token else {})))
        (world.directory / "token").write_text(token or "")
        auth = f'{{bearer: "file:{world.directory}/token"}}' if token else "none"
        for file in ("policies.d/place_order.yaml", "policies.d/set_address.yaml",
                     "targets.d/warehouse.yaml"):
            text = (PHP / file).read_text()
            (world.directory / file).write_text(
                text.replace("http://127.0.0.1:8091", self.sim.base)
                .replace("auth: none", f"auth: {auth}"))
        world.settings(interval="1s")
        self.conninfo = world.cluster.conninfo(world.database, "app_login")
        self.workers = []

    def close(self):
        for worker in self.workers:
            worker.close()
        self.sim.stop()

    def worker(self, name="worker", **more):
        settings = {"warehouse": self.sim.base, "TIMEOUT": 1, "LEASE": 4,
                    "WAREHOUSE_TOKEN": self.token or "", **more}
        self.workers.append(Worker(self.conninfo, directory=self.directory, name=name, **settings))
        return self.workers[-1]

    def place(self, i, article="lamp"):
        self.world.app.execute(PLACED, {"id": number(i), "article": article})
        return number(i)

    def move(self, i, version, street):
        """The id of the operation."""
        return self.world.app.execute(MOVED, {
            "id": number(i), "version": version, "street": street}).fetchone()["operation_id"]

    def effects(self, operation_id):
        return [line for line in self.sim.lines("effect") if line["operation_id"] == operation_id]

    def sends(self, operation_id):
        return [line for line in self.sim.lines("request")
                if line.get("operation_id") == operation_id and line["purpose"] == "effect"]

    def told(self, operation_id):
        """Events of the journal, in order."""
        return [row["event"] for row in self.world.journal(operation_id)]

    def end(self, operation_id, status):
        """The row of an operation once it has this status."""
        try:
            self.world.wait_status(operation_id, status, 60)
        except AssertionError as failure:
            raise AssertionError(f"{failure}: {self.world.journal(operation_id)}") from failure
        return self.world.operation(operation_id)

    def stored(self, collection, i):
        """What the warehouse really holds."""
        return self.sim.admin("GET", f"objects/{collection}/{number(i)}")["object"]

    def wait_told(self, operation_id, event):
        return self.world.wait_for(lambda: event in self.told(operation_id), what=event)


class Sampler:
    """What the connections of a worker do at every moment at which the target is being called."""

    QUERY = ("SELECT state, xact_start, backend_xid, backend_xmin FROM pg_stat_activity"
             " WHERE application_name = %s")

    def __init__(self, world, name):
        self.world, self.name, self.seen = world, name, []
        self.db = world.cluster.connect(world.database)

    def sample(self):
        self.seen += self.db.execute(self.QUERY, [self.name]).fetchall()
