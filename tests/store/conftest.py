# SPDX-License-Identifier: Apache-2.0
"""One private cluster for all modules, one fresh migrated database for each module."""

import pathlib
import re
import sys
import threading

import psycopg
import pytest
from psycopg.rows import dict_row

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import cluster as private_cluster  # noqa: E402

ROLES = ("app", "daemon", "operator", "auditor", "retention")


@pytest.fixture(scope="session")
def cluster():
    with private_cluster.Cluster({"max_connections": "250"}) as running:
        running.create_login("migrator", options="CREATEROLE")
        running.create_login("stranger")
        yield running


@pytest.fixture(scope="session")
def migrated(cluster):
    """Name of a database that was migrated by a role without superuser rights."""
    cluster.create_database("migrated", owner="migrator")
    with cluster.connect("migrated", "migrator") as connection:
        private_cluster.migrate(connection)
    for role in ROLES:
        cluster.create_login(f"{role}_login", f"reconcile_{role}")
    return "migrated"


@pytest.fixture(scope="module")
def database(cluster, migrated, request):
    """Name of a copy of it, for one module."""
    name = "t_" + re.sub(r"\W", "_", request.module.__name__).lower()
    return cluster.create_database(name, template=migrated)


@pytest.fixture(scope="module")
def idle(cluster, database):
    """Connections of this module that no test holds, by user. Opening one costs more than a test."""
    connections = {}
    yield connections
    for kept in connections.values():
        for connection in kept:
            connection.close()


@pytest.fixture
def connect(cluster, database, idle):
    """connect("app") is a connection of a member of reconcile_app, for this test alone."""
    taken = []

    def open_as(role, autocommit=True):
        user = {"superuser": "postgres", "stranger": "stranger"}.get(role, f"{role}_login")
        kept = idle.setdefault(user, [])
        connection = kept.pop() if kept else cluster.connect(database, user,
                                                             row_factory=dict_row)
        taken.append((kept, connection))
        connection.autocommit = autocommit
        return connection

    yield open_as
    for kept, connection in taken:
        connection.rollback()
        connection.autocommit = True
        connection.execute("DISCARD ALL")
        kept.append(connection)


@pytest.fixture
def app(connect):
    return connect("app")


@pytest.fixture
def root(connect):
    """A superuser, to arrange rows that the functions would not make."""
    return connect("superuser")


@pytest.fixture
def call(app):
    """call("start", operation_id=…) as an application; the row that comes back, as a dict."""

    def as_app(function, *, on=None, **arguments):
        named = ", ".join(f"{name} => %({name})s" for name in arguments)
        return (on or app).execute(f"SELECT * FROM reconcile.{function}({named})",
                                   arguments).fetchone()

    return as_app


@pytest.fixture
def one(root):
    def row(statement, *parameters):
        return root.execute(statement, parameters or None).fetchone()

    return row


@pytest.fixture
def journal(root):
    """Rows of an operation in order; also checks that the history has no hole."""

    def rows(operation_id):
        found = root.execute("SELECT * FROM reconcile.journal WHERE operation_id = %s"
                             " ORDER BY revision", [operation_id]).fetchall()
        revision = root.execute("SELECT revision FROM reconcile.operations WHERE operation_id = %s",
                                [operation_id]).fetchone()["revision"]
        assert [row["revision"] for row in found] == list(range(revision + 1))
        return found

    return rows


@pytest.fixture
def events(root):
    def types(operation_id):
        return [row["type"] for row in root.execute(
            "SELECT type FROM reconcile.outbox WHERE aggregateid = %s ORDER BY revision",
            [operation_id])]

    return types


@pytest.fixture
def refused():
    """with refused("RC422"): … — the block is refused with that SQLSTATE."""

    class Refused:
        def __init__(self, code):
            self.code = code

        def __enter__(self):
            return self

        def __exit__(self, kind, error, _):
            assert isinstance(error, psycopg.Error), f"not refused with {self.code}"
            assert error.sqlstate == self.code, str(error)
            self.message = str(error)
            return True

    return Refused


@pytest.fixture
def background():
    """background(function): runs it in a thread; result() waits for it or raises what it raised."""
    threads = []

    class Task:
        def __init__(self, function):
            self.value = self.error = None
            self.thread = threading.Thread(target=self._run, args=[function])
            self.thread.start()

        def _run(self, function):
            try:
                self.value = function()
            except BaseException as error:  # handed to result()
                self.error = error

        def result(self):
            self.thread.join(60)
            assert not self.thread.is_alive()
            if self.error:
                raise self.error
            return self.value

    def run(function):
        threads.append(Task(function))
        return threads[-1]

    yield run
    for task in threads:
        task.thread.join(60)
