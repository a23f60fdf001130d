# SPDX-License-Identifier: Apache-2.0
"""What a test finds in the container: configuration in /etc/reconciled, units, a target."""

import http.client
import shutil
import socket

from psycopg.rows import dict_row

import container as booted
import target as http_target
import world as installation

HTTP_PORT = 9464
UNITS = ("reconciled.socket", "reconciled.service", "reconciled-once.timer", "reconciled-once.service")


class Target(http_target.Target):
    """Listens in the container, answers in the process of the test."""

    def __init__(self, container):
        super().__init__()
        self.container = container

    def __enter__(self):
        with self.container.network():
            return super().__enter__()


class Installed(installation.World):
    """The world of a test, with the programs as services of the container."""

    def __init__(self, container, cluster, database):
        self.container = container
        self.begin = container.cursor()
        directory = container.root / "etc/reconciled"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        super().__init__(directory, cluster, database)
        self.load_credentials()

    def close(self):
        """The services as they were before, also after a test that failed."""
        units = [f"--unit={unit}" for unit in UNITS]
        print(self.container.run("journalctl", "--no-pager", "--output=cat",
                                 f"--after-cursor={self.begin}", *units).stdout)
        self.container.systemctl("stop", *UNITS, check=False)
        self.container.systemctl("reset-failed", check=False)
        for unit in UNITS:
            shutil.rmtree(self.container.root / f"etc/systemd/system/{unit}.d", ignore_errors=True)
        shutil.rmtree(self.container.root / "var/lib/reconciled", ignore_errors=True)
        self.container.systemctl("daemon-reload")
        super().close()

    def settings(self, file=None, **more):
        super().settings(file, **{
            "database": f"host={booted.SOCKETS} dbname={self.database} user=daemon_login",
            "evidence_hash_key": "credential:hash_key",
            "http": f"{{listen: '127.0.0.1:{HTTP_PORT}'}}",
            **more})
        text = self.config.read_text().splitlines()
        self.config.write_text("".join(f"{line}\n" for line in text
                                       if not line.startswith("state_directory")))

    def load_credentials(self, unit="reconciled.service", *more, path="/etc/reconciled/hash.key"):
        """The drop-in of the unit: its secrets, and lines of the test."""
        self.container.drop_in(unit, "[Service]", "RestartSec=500ms",
                               f"LoadCredential=hash_key:{path}", *more)

    def reconnect(self):
        """After the server was away."""
        self.app.close()
        self.db.close()
        self.app = self.cluster.connect(self.database, "app_login", row_factory=dict_row)
        self.db = self.cluster.connect(self.database, "postgres", row_factory=dict_row)

    # the service

    def start(self, unit="reconciled.service"):
        return self.container.run("systemctl", "start", unit, check=False)

    def state(self, unit="reconciled.service"):
        return self.container.property(unit, "ActiveState")

    def main_process(self):
        return int(self.container.property("reconciled.service", "MainPID"))

    def restarts(self):
        return int(self.container.property("reconciled.service", "NRestarts"))

    def get(self, path, port=HTTP_PORT, unix=None):
        """Status and text of the daemon's own server."""
        with self.container.network():
            if unix:
                connection = socket.socket(socket.AF_UNIX)
                connection.connect(str(self.container.root) + unix)
            else:
                connection = socket.create_connection(("127.0.0.1", port), 20)
        client = http.client.HTTPConnection("localhost")
        client.sock = connection
        try:
            client.request("GET", path)
            answer = client.getresponse()
            return answer.status, answer.read().decode()
        finally:
            client.close()

    def metric(self, line):
        """The number behind the name and labels."""
        status, text = self.get("/metrics")
        assert status == 200
        [value] = [row.rsplit(" ", 1)[1] for row in text.splitlines() if row.rsplit(" ", 1)[0] == line]
        return float(value)

    def until_status(self, operation_id, status):
        booted.until(lambda: self.operation(operation_id)["status"] == status,
                     f"{operation_id} is {status}")
