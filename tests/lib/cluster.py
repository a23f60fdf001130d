# SPDX-License-Identifier: Apache-2.0
"""A private PostgreSQL for tests.

It listens on a unix socket in a short temporary path only, trusts whoever reaches that socket,
and is stopped by the process id that it wrote. Called as root it runs as an unprivileged user,
because the server refuses to run as root.
"""

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

import psycopg
from psycopg import sql

MIGRATIONS = pathlib.Path(__file__).resolve().parents[2] / "migrations"
LOCK = 0x7265636F6E63696C  # of migrate(); any number that only migrations use

SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "autovacuum": "off",
    "log_min_messages": "warning",
}


def bindir():
    found = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=True)
    return pathlib.Path(found.stdout.strip())


def server_user():
    """Who runs the server: nobody else but us, unless we are root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise RuntimeError("no unprivileged user to run PostgreSQL as")


class Cluster:
    """A running server. Use it as a context manager or call start() and stop()."""

    def __init__(self, settings=None):
        self.settings = {**SETTINGS, **(settings or {})}
        self.directory = self._server = None
        self.user = server_user()
        self.bin = bindir()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def data(self):
        return self.directory / "data"

    def _run(self, *command):
        done = subprocess.run(self._as_server(command), capture_output=True, text=True,
                              cwd=self.directory, check=False)
        if done.returncode:
            raise RuntimeError(f"{command[0]}: {done.stderr or done.stdout}")

    def _as_server(self, command):
        command = [str(part) for part in command]
        if self.user is None:
            return command
        return ["setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}",
                "--clear-groups", *command]

    def start(self):
        if self.directory is None:
            self._create()
        log = open(self.directory / "log", "ab")
        with log:
            self._server = subprocess.Popen(
                self._as_server([self.bin / "postgres", "-D", self.data, "-k", self.directory]),
                stdout=log, stderr=log, cwd=self.directory, start_new_session=True)
        self._wait()

    def _create(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        if self.user is not None:
            os.chown(self.directory, self.user.pw_uid, self.user.pw_gid)
        self.directory.chmod(0o755)  # clients of any user reach the socket
        self._fill()
        with open(self.data / "postgresql.conf", "a", encoding="ascii") as conf:
            for name, value in self.settings.items():
                conf.write(f"{name} = '{value}'\n")

    def _fill(self):
        self._run(self.bin / "initdb", "-A", "trust", "-N", "-U", "postgres", "-E", "UTF8",
                  "--locale=C.UTF-8", "-D", self.data)

    def _wait(self):
        deadline = time.monotonic() + 60
        while True:
            try:
                self.connect().close()
                return
            except psycopg.OperationalError as failure:
                if self._server.poll() is not None or time.monotonic() > deadline:
                    text = (self.directory / "log").read_text(errors="replace")
                    raise RuntimeError(f"PostgreSQL did not start: {text}") from failure
                time.sleep(0.05)

    def _settle(self, query, *expected):
        """Waits until the first column of the first row is one of these."""
        deadline = time.monotonic() + 60
        with self.connect() as admin:
            while (row := admin.execute(query).fetchone()) is None or row[0] not in expected:
                if time.monotonic() > deadline:
                    raise RuntimeError(f"{query}: {row}")
                time.sleep(0.02)

    def synchronous(self, standby):
        """From now on what is committed here is in the standby's log too."""
        with self.connect() as admin:
            admin.execute(sql.SQL("ALTER SYSTEM SET synchronous_standby_names = {}").format(
                standby.name))
            admin.execute("SELECT pg_reload_conf()")
        self._settle("SELECT sync_state FROM pg_stat_replication", "sync")

    def halt(self, how=signal.SIGINT):
        """Stop the server and keep its data: start() brings it back."""
        self._server.send_signal(how)
        self._server.wait(60)

    def kill(self):
        """Ends it at once, if it runs, as a power cut would; start() recovers the data."""
        if self._server and self._server.poll() is None:
            self.halt(signal.SIGQUIT)

    def stop(self):
        if self.directory is None:
            return
        self.kill()  # nobody needs the data any more
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory = None

    def conninfo(self, database="postgres", user="postgres"):
        """As the configuration of the daemon takes it."""
        port = f" port={self.settings['port']}" if "port" in self.settings else ""
        return f"host={self.directory}{port} dbname={database} user={user}"

    def connect(self, database="postgres", user="postgres", **options):
        options.setdefault("autocommit", True)
        options.setdefault("prepare_threshold", None)  # a session may be discarded and go on
        return psycopg.connect(self.conninfo(database, user), **options)

    def create_database(self, name, owner=None, template="template0"):
        with self.connect() as admin:
            admin.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                sql.Identifier(name), sql.Identifier(template)))
            if owner:
                admin.execute(sql.SQL("GRANT CREATE ON DATABASE {} TO {}").format(
                    sql.Identifier(name), sql.Identifier(owner)))
        return name

    def create_login(self, name, *roles, options="NOCREATEROLE"):
        """A login role that is a member of the given roles, once for the whole cluster."""
        with self.connect() as admin:
            if admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name]).fetchone():
                return name
            admin.execute(sql.SQL("CREATE ROLE {} LOGIN " + options).format(sql.Identifier(name)))
            for role in roles:
                admin.execute(sql.SQL("GRANT {} TO {}").format(
                    sql.Identifier(role), sql.Identifier(name)))
        return name


class Standby(Cluster):
    """A copy of a running server that follows it, reads only, and can take its place."""

    def __init__(self, primary, name="standby"):
        super().__init__({"cluster_name": name})  # so it is known to the primary
        self.primary, self.name = primary, name

    def _fill(self):
        self._run(self.bin / "pg_basebackup", "-h", self.primary.directory, "-U", "postgres",
                  "-D", self.data, "-R", "-c", "fast", "-X", "stream")

    def promote(self):
        """Make it the primary, which waits for no standby of its own."""
        with self.connect() as admin:
            admin.execute("SELECT pg_promote(true, 60)")
            admin.execute("ALTER SYSTEM RESET synchronous_standby_names")
            admin.execute("SELECT pg_reload_conf()")
        self._settle("SHOW transaction_read_only", "off")
        self._settle("SHOW synchronous_standby_names", "")


def migrations(directory=MIGRATIONS):
    """(version, name, path), in order."""
    return sorted((int(path.name[:4]), path.stem[5:], path)
                  for path in pathlib.Path(directory).glob("[0-9][0-9][0-9][0-9]_*.sql"))


def migrate(connection, directory=MIGRATIONS):
    """Apply what is missing, one transaction for each file. Returns the versions applied."""
    applied = []
    for version, name, path in migrations(directory):
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            if _is_applied(connection, version):
                continue
            connection.execute(path.read_text(encoding="utf-8"))
            connection.execute(
                "INSERT INTO reconcile.schema_migrations (version, name, sha256)"
                " VALUES (%s, %s, encode(sha256(%s::bytea), 'hex'))",
                [version, name, path.read_bytes()])
        applied.append(version)
    return applied


def _is_applied(connection, version):
    there = connection.execute("SELECT to_regclass('reconcile.schema_migrations')").fetchone()[0]
    return there is not None and connection.execute(
        "SELECT 1 FROM reconcile.schema_migrations WHERE version = %s", [version]).fetchone()
