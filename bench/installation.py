# SPDX-License-Identifier: Apache-2.0
"""What is measured: the program against nginx on loopback and a private durable PostgreSQL."""

import contextlib
import pathlib
import signal
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "lib"))

import cluster as private_cluster  # noqa: E402
from ports import free_port  # noqa: E402

CONNECTIONS = 16
DURABLE = {"fsync": "on", "full_page_writes": "off", "synchronous_commit": "on",
           "shared_buffers": "512MB", "max_wal_size": "8GB", "autovacuum": "on"}
BODY = ('{"id":"c-4711","version":7,"email":"ada@example.org","name":"Ada Lovelace","street":"12 St'
        ' James Square","city":"London","zip":"SW1Y","country":"GB","phone":"+44 20 0000",'
        '"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-11-01T00:00:00Z","tags":["a","b"]}')
POLICY = """
operation_type: sync_customer
target: crm
mode: enforce
describe: {effect: e, truth: t, proof: p, owner: o}
probes:
  - get: /customers/{business_key}
    found: {status: 200, /id: {present: true}}
    absent: {status: 404, /error: not_found}
    remote_id: /id
compare:
  version: {found: /version, type: version, is: op.version}
  email: {found: /email, is: op./expected/email}
evidence: {keep: [/id, /version]}
"""
NGINX = """
worker_processes 1; daemon off; pid {dir}/nginx.pid; error_log {dir}/error.log;
events {{ worker_connections 256; }}
http {{
  access_log off; keepalive_requests 100000000; keepalive_timeout 1h;
  client_body_temp_path {dir}/b; proxy_temp_path {dir}/p; fastcgi_temp_path {dir}/f;
  uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
  server {{
    listen 127.0.0.1:{port}; default_type application/json;
    location / {{ return 200 '{body}'; }}
    location = /batch {{ alias {dir}/batch.json; }}
  }}
}}
"""


@contextlib.contextmanager
def nginx(directory, body):
    """Answers a GET with the body, one of /batch with the file batch.json of the directory."""
    port = free_port()
    directory.chmod(0o755)  # its worker is somebody else when we are root
    conf = directory / "nginx.conf"
    conf.write_text(NGINX.format(dir=directory, port=port, body=body))
    server = subprocess.Popen(["nginx", "-e", directory / "error.log", "-c", conf])
    for _ in range(200):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            break
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}"
    server.send_signal(signal.SIGTERM)
    server.wait()


class Bench:
    """One installation with one type; a new database for each measurement."""

    def __init__(self, directory, build, cluster, base, policy):
        self.directory, self.build, self.cluster, self.base = directory, build, cluster, base
        self.config = directory / "reconciled.yaml"
        for folder in ("policies.d", "targets.d"):
            (directory / folder).mkdir()
        self.policy(policy)
        self.target(base)
        (directory / "key").write_text("k" * 32)
        self.number = 0
        self.settings = "max_in_flight: 64\n"

    def target(self, base):
        (self.directory / "targets.d" / "crm.yaml").write_text(
            f"target: crm\nbase: {base}\nrate: {{concurrent: {CONNECTIONS}}}\n")

    def policy(self, text):
        (self.directory / "policies.d" / "sync_customer.yaml").write_text(text)

    def fresh(self, due, closed=0):
        """A migrated database with so many due (and closed) operations."""
        self.number += 1
        name = f"bench_{self.number}"
        self.cluster.create_database(name)
        self.config.write_text(f'database: "{self.cluster.conninfo(name)}"\n'
                               f'evidence_hash_key: "file:{self.directory}/key"\n{self.settings}')
        subprocess.run([self.build / "reconciled", "--config", self.config, "--migrate"], check=True,
                       stdout=subprocess.DEVNULL)
        self.name = name
        self.fill("op", due, "awaiting_confirmation", "clock_timestamp() - '1 min'::interval", "null")
        self.fill("old", closed, "confirmed", "null", "clock_timestamp()")
        with self.connect() as db:
            db.execute("VACUUM ANALYZE reconcile.operations")

    def connect(self):
        return self.cluster.connect(self.name)

    def fill(self, prefix, count, status, due_at, closed_at):
        with self.connect() as db:
            db.execute(f"""
                SET session_replication_role = replica;
                INSERT INTO reconcile.operations (operation_id, operation_type, entity_type, entity_id,
                    version, business_key, expected, status, first_sent_at, sent_at, due_at, closed_at,
                    attempts, revision)
                SELECT '{prefix}-' || lpad(i::text, 7, '0'), 'sync_customer', 'customer', i::text, '7',
                    '{prefix}-' || lpad(i::text, 7, '0'), '{{"email": "ada@example.org"}}', '{status}',
                    clock_timestamp() - '1 hour'::interval, clock_timestamp() - '1 hour'::interval,
                    {due_at}, {closed_at}, 1, 3
                FROM generate_series(0, {count} - 1) i""")

    def once(self, *wrapper, **options):
        command = [*wrapper, self.build / "reconciled", "--config", self.config, "--once", "--no-progress"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
        if done.returncode:
            raise SystemExit(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done
