# SPDX-License-Identifier: Apache-2.0
"""One small installation for a test: a database, a target, configuration files, the programs."""

import json
import os
import pathlib
import secrets
import subprocess
import textwrap

from psycopg.rows import dict_row

from daemon import Daemon, wait_for  # noqa: F401 (tests import it from here)

BUILD = pathlib.Path(os.environ.get(
    "BUILD_DIR", pathlib.Path(__file__).resolve().parents[2] / "build"))

POLICY = """
operation_type: sync_customer
target: crm
mode: {mode}
describe: {{effect: customer in the CRM, truth: CRM, proof: version and e-mail, owner: sales}}
latency_window: 5m
probes:
  - get: /customers/{{business_key}}
    found: {{status: 200, /id: {{present: true}}}}
    absent: {{status: 404, /error: not_found}}
    remote_id: /id
absence: {{confirm: {confirm}, over: {over}}}
compare:
  version: {{found: /version, type: version, is: op.version}}
evidence: {{keep: [/id, /version]}}
{more}
"""

# Of a second type at a second target.
OTHER_POLICY = """
operation_type: order
target: shop
mode: enforce
describe: {effect: e, truth: t, proof: p, owner: o}
latency_window: 5m
probes:
  - get: /orders/{business_key}
    found: {status: 200, /id: {present: true}}
    absent: {status: 404, /error: not_found}
    remote_id: /id
absence: {confirm: 1, over: 0s}
compare: {version: {found: /version, type: version, is: op.version}}
"""

TARGET = """
target: crm
base: {base}
{more}
"""


class Run:
    """A finished program."""

    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    def of(self, operation_id):
        """The line of one operation in the JSON of reconciled --once."""
        [line] = [o for o in self.json["operations"] if o["operation_id"] == operation_id]
        return line

    def __repr__(self):
        return f"exit {self.code}\n{self.out}\n{self.err}"


class World:
    def __init__(self, directory, cluster, database):
        self.directory = directory
        self.cluster, self.database = cluster, database
        self.config = directory / "reconciled.yaml"
        self.hash_key = secrets.token_hex(32)
        for folder in ("policies.d", "targets.d", "state"):
            (directory / folder).mkdir()
        (directory / "hash.key").write_text(self.hash_key)
        self.settings()
        self.daemons = []
        self.connect()

    def connect(self):
        self.app = self.cluster.connect(self.database, "app_login", row_factory=dict_row)
        self.db = self.cluster.connect(self.database, "postgres", row_factory=dict_row)

    def disconnect(self):
        self.app.close()
        self.db.close()

    def close(self):
        for daemon in self.daemons:
            daemon.kill()
        self.disconnect()

    # configuration

    def settings(self, file=None, **more):
        """Writes the settings, usually of the one instance."""
        keys = {
            "database": json.dumps(self.cluster.conninfo(self.database, "daemon_login")),
            "instance_name": "test",
            "evidence_hash_key": json.dumps(f"file:{self.directory}/hash.key"),
            "state_directory": json.dumps(f"{self.directory}/state"),
            **more,
        }
        (file or self.config).write_text("".join(f"{name}: {value}\n" for name, value in keys.items()))

    def policy(self, mode="enforce", confirm=1, over="0s", more="", text=POLICY):
        """The usual policy with changes, or a whole one."""
        filled = text if text is not POLICY else text.format(
            mode=mode, confirm=confirm, over=over, more=textwrap.dedent(more))
        name = [line.split(":")[1].strip() for line in filled.splitlines()
                if line.startswith("operation_type:")][0]
        (self.directory / "policies.d" / f"{name}.yaml").write_text(filled)

    def target(self, base, more="", name="crm"):
        text = TARGET.format(base=base, more=textwrap.dedent(more)).replace("crm", name, 1)
        (self.directory / "targets.d" / f"{name}.yaml").write_text(text)

    # programs

    def command(self, program, *arguments):
        return [str(BUILD / program), "--config", str(self.config), *map(str, arguments)]

    def run(self, program, *arguments, timeout=120, **options):
        return Run(subprocess.run(self.command(program, *arguments), capture_output=True,
                                  text=True, timeout=timeout, check=False, **options))

    def once(self, *arguments, expect=0, **options):
        """reconciled --once --json; the exit code must be as expected."""
        run = self.run("reconciled", "--once", "--json", *arguments, **options)
        assert run.code == expect, run
        return run

    def start_once(self, *arguments):
        return subprocess.Popen(self.command("reconciled", "--once", "--json", *arguments),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def start_daemon(self, *arguments, config=None, environment=None, serving=True):
        """reconciled without --once, ends with the world. serving: it is waited for; False: only
        until it says READY=1; None: not at all."""
        command = [str(BUILD / "reconciled"), "--config", str(config or self.config),
                   *map(str, arguments)]
        daemon = Daemon(command, self.directory / f"daemon-{len(self.daemons)}.log", environment,
                        ready=serving is not None)
        self.daemons.append(daemon)
        if serving:
            daemon.wait_serving()
        return daemon

    def wait_for(self, condition, timeout=90, what="the condition"):
        """Polls until the condition holds; fails at once when a daemon has crashed."""
        def holds():
            for daemon in self.daemons:
                assert daemon.process.poll() in (None, 0, -9), daemon.log
            return condition()
        return wait_for(holds, timeout, what)

    def wait_status(self, operation_id, status, timeout=90):
        return self.wait_for(lambda: self.operation(operation_id)["status"] == status, timeout,
                             f"{operation_id} {status}")

    # operations

    def request(self, operation_id, operation_type="sync_customer", **fields):
        fields = {"entity_type": "customer", "entity_id": operation_id, "version": "7",
                  "business_key": operation_id, **fields}
        fields["expected"] = json.dumps(fields.get("expected", {}))
        names = ", ".join(f"{name} => %({name})s" for name in fields)
        return self.app.execute(
            f"SELECT * FROM reconcile.request(operation_type => %(type)s, operation_id => %(id)s,"
            f" {names})", {"type": operation_type, "id": operation_id, **fields}).fetchone()

    def send(self, operation_id, ago="1 hour", **fields):
        """A worker sent it that long ago and never learned what came of it."""
        self.request(operation_id, **fields)
        self.app.execute("SELECT reconcile.start(%s)", [operation_id])
        self.app.execute("SELECT reconcile.sent(%s)", [operation_id])
        self.age(operation_id, ago)

    def age(self, operation_id, by):
        """As if everything had happened earlier; due now if that is past the window."""
        self.db.execute(
            "UPDATE reconcile.operations SET created_at = created_at - %(by)s::interval,"
            " first_sent_at = first_sent_at - %(by)s::interval,"
            " sent_at = sent_at - %(by)s::interval,"
            " absent_since = absent_since - %(by)s::interval,"
            " due_at = due_at - %(by)s::interval WHERE operation_id = %(id)s",
            {"by": by, "id": operation_id})

    def make_due(self, *operation_ids):
        self.db.execute("UPDATE reconcile.operations SET due_at = clock_timestamp()"
                        " WHERE operation_id = ANY(%s)", [list(operation_ids)])

    def operation(self, operation_id):
        return self.db.execute("SELECT * FROM reconcile.operations WHERE operation_id = %s",
                               [operation_id]).fetchone()

    def journal(self, operation_id):
        return self.db.execute("SELECT * FROM reconcile.journal WHERE operation_id = %s"
                               " ORDER BY revision", [operation_id]).fetchall()

    def evidence(self, operation_id):
        """Of the newest journal row."""
        return json.loads(self.journal(operation_id)[-1]["evidence"])

    def events(self, operation_id):
        return [row["type"] for row in self.db.execute(
            "SELECT type FROM reconcile.outbox WHERE aggregateid = %s ORDER BY revision",
            [operation_id]).fetchall()]
