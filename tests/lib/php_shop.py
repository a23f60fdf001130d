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

PHP = pathlib.Path(__file__).resolve().parents[2] / "examples/php"


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
