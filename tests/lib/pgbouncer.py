# SPDX-License-Identifier: Apache-2.0
"""A private PgBouncer in front of a private cluster, on a unix socket beside the cluster's."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import psycopg

PORT = 6432

SETTINGS = {
    "pool_mode": "transaction",
    "default_pool_size": "2",
    "listen_addr": "",
    "listen_port": str(PORT),
    "auth_type": "trust",
}


class PgBouncer:
    """A context manager. users: the logins that may connect."""

    def __init__(self, cluster, users, settings=None):
        self.cluster, self.users = cluster, users
        self.settings = {**SETTINGS, **(settings or {})}

    def __enter__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pb-", dir="/tmp"))
        self.directory.chmod(0o755)
        self._configure()
        self.start()
        return self

    def __exit__(self, *_):
        self.halt()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _configure(self):
        users = self.directory / "users"
        users.write_text("".join(f'"{user}" ""\n' for user in self.users))
        keys = {**self.settings, "auth_file": users, "unix_socket_dir": self.directory,
                "logfile": self.directory / "log"}
        lines = [f"[databases]\n* = host={self.cluster.directory}\n[pgbouncer]\n",
                 *(f"{name} = {value}\n" for name, value in keys.items())]
        (self.directory / "pgbouncer.ini").write_text("".join(lines))
        if self.cluster.user is not None:
            os.chown(self.directory, self.cluster.user.pw_uid, self.cluster.user.pw_gid)

    def start(self):
        command = ["pgbouncer", "-q", str(self.directory / "pgbouncer.ini")]
        if self.cluster.user is not None:  # it refuses to run as root
            user = self.cluster.user
            command = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}",
                       "--clear-groups", *command]
        self._process = subprocess.Popen(command, cwd=self.directory, start_new_session=True)
        deadline = time.monotonic() + 30
        while True:
            try:
                self.connect("postgres", self.users[0]).close()
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def halt(self):
        """At once; start() brings it back."""
        self._process.kill()
        self._process.wait(10)
        with contextlib.suppress(FileNotFoundError):
            (self.directory / f".s.PGSQL.{PORT}").unlink()

    def conninfo(self, database, user):
        return f"host={self.directory} port={PORT} dbname={database} user={user}"

    def connect(self, database, user, **options):
        return psycopg.connect(self.conninfo(database, user), autocommit=True,
                               prepare_threshold=None, **options)
