# SPDX-License-Identifier: Apache-2.0
"""The fault proxy does to a connection what it says, and nothing else."""

import contextlib
import pathlib
import socket
import subprocess
import sys
import threading
import time

import psycopg
import pytest

from fault_proxy import FaultProxy

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "lib" / "fault_proxy.py"


class Echo:
    """Sends back what it gets; knows how much that was and how each connection ended."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.got, self.ended = b"", threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)  # wakes who accepts
        self.listener.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        with connection:
            try:
                while data := connection.recv(65536):
                    self.got += data
                    connection.sendall(data)
            except OSError:
                pass
        self.ended.set()


@pytest.fixture
def echo():
    server = Echo()
    yield server
    server.close()


@pytest.fixture
def proxy(echo):
    with FaultProxy(echo.address) as running:
        yield running


def connect(proxy):
    client = socket.create_connection(("127.0.0.1", proxy.port), timeout=10)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client


def receive(client, count):
    """That many bytes, or what came before the end."""
    data = b""
    while len(data) < count and (piece := client.recv(count - len(data))):
        data += piece
    return data


def is_silent(client, seconds=0.3):
    client.settimeout(seconds)
    try:
        client.recv(1)
    except TimeoutError:
        return True
    finally:
        client.settimeout(10)
    return False


def test_honest(proxy):
    data = bytes(range(256)) * 1000
    with connect(proxy) as client:
        threading.Thread(target=client.sendall, args=[data]).start()
        assert receive(client, len(data)) == data
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1) == b""


def test_unix_sockets(proxy, tmp_path):
    path = str(tmp_path / "second")
    with FaultProxy(proxy.address, f"unix:{path}") as second, \
            socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        client.connect(path)
        client.sendall(b"through both")
        assert receive(client, 12) == b"through both"
        second.refuse()
        with pytest.raises(FileNotFoundError):
            socket.socket(socket.AF_UNIX).connect(path)
        client.sendall(b"still")
        assert receive(client, 5) == b"still"


def test_delay_and_rate(proxy):
    with connect(proxy) as client:
        proxy.down(delay=0.3)
        began = time.monotonic()
        client.sendall(b"x")
        assert receive(client, 1) == b"x"
        assert time.monotonic() - began >= 0.3
        proxy.down(rate=1000)
        began = time.monotonic()
        client.sendall(b"y" * 300)
        assert receive(client, 300) == b"y" * 300
        assert time.monotonic() - began >= 0.2
        proxy.down()
        client.sendall(b"z")
        assert receive(client, 1) == b"z"


def test_blackhole(proxy, echo):
    with connect(proxy) as client:
        client.sendall(b"before")
        assert receive(client, 6) == b"before"
        proxy.up(blackhole_after=3)
        client.sendall(b"1234567")
        assert receive(client, 3) == b"123"
        assert is_silent(client)
        assert echo.got == b"before123"
        proxy.up()
        client.sendall(b"again")
        assert receive(client, 5) == b"again"
        proxy.down(blackhole_after=0)
        client.sendall(b"unheard")
        assert is_silent(client)
        assert echo.got == b"before123againunheard"


def test_truncation(proxy, echo):
    with connect(proxy) as client:
        proxy.down(truncate_after=4)
        client.sendall(b"12345678")
        assert receive(client, 8) == b"1234"
        assert echo.ended.wait(10)


def test_reset(proxy, echo):
    with connect(proxy) as client:
        proxy.up(reset_after=2)
        client.sendall(b"123")
        with pytest.raises(ConnectionResetError):
            receive(client, 3)
            client.recv(1)
        assert echo.ended.wait(10)


def test_half_close(proxy, echo):
    with connect(proxy) as client:
        proxy.up(half_close_after=2)
        client.sendall(b"12")
        assert receive(client, 3) == b"12"  # the echo saw the end and ended too
        assert echo.got == b"12"


def test_refuse_and_accept(proxy):
    with connect(proxy) as client:
        client.sendall(b"x")
        assert receive(client, 1) == b"x"  # it is accepted now
        proxy.refuse()
        with pytest.raises(ConnectionRefusedError):
            connect(proxy)
        client.sendall(b"x")
        assert receive(client, 1) == b"x"
        proxy.accept()
        connect(proxy).close()


@pytest.mark.parametrize("how", ["close", "reset", "silence"])
def test_cut(proxy, how):
    with connect(proxy) as client:
        client.sendall(b"x")
        assert receive(client, 1) == b"x"
        proxy.cut(how)
        if how == "silence":
            client.sendall(b"y")
            assert is_silent(client)
        elif how == "close":
            assert client.recv(1) == b""
        else:
            with pytest.raises(ConnectionResetError):
                client.recv(1)
    with connect(proxy) as client:
        client.sendall(b"z")
        assert receive(client, 1) == b"z"


def test_target_away(echo, proxy):
    echo.close()
    with pytest.raises(ConnectionResetError), connect(proxy) as client:
        client.recv(1)


@pytest.fixture
def ledger(cluster):
    with cluster.connect(autocommit=True) as admin:
        admin.execute("CREATE TABLE ledger (n int)")
        yield admin
        admin.execute("DROP TABLE ledger")


@pytest.fixture
def postgres(cluster, ledger):
    with FaultProxy(f"unix:{cluster.directory}/.s.PGSQL.5432", postgres=True) as running:
        yield running


def session(proxy, **options):
    return psycopg.connect(f"host=127.0.0.1 port={proxy.port} user=postgres dbname=postgres",
                           autocommit=True, connect_timeout=10, **options)


def entries(ledger):
    return [n for n, in ledger.execute("SELECT n FROM ledger ORDER BY n").fetchall()]


@pytest.mark.parametrize("parameters", [None, [2]], ids=["simple", "extended"])
def test_answer_lost(postgres, ledger, parameters):
    statement = "INSERT INTO ledger VALUES (%s)" if parameters else "INSERT INTO ledger VALUES (2)"
    with session(postgres) as client:
        loss = postgres.lose("INSERT INTO ledger", nth=2)
        client.execute("INSERT INTO ledger VALUES (1)")
        with pytest.raises(psycopg.OperationalError):
            client.execute(statement, parameters)
    assert loss.happened.wait(10)
    assert entries(ledger) == [1, 2]
    assert postgres.sent("INSERT INTO ledger") == 2
    with session(postgres) as client:
        client.execute("INSERT INTO ledger VALUES (3)")
    assert entries(ledger) == [1, 2, 3]


def test_question_lost(postgres, ledger):
    with session(postgres) as client:
        loss = postgres.lose("INSERT", what="question", how="reset")
        with pytest.raises(psycopg.OperationalError):
            client.execute("INSERT INTO ledger VALUES (1)")
    assert loss.happened.is_set()
    assert entries(ledger) == []


def test_answer_of_commit_lost(postgres, ledger):
    with session(postgres) as client:
        client.execute("BEGIN")
        client.execute("INSERT INTO ledger VALUES (1)")
        postgres.lose("COMMIT")
        with pytest.raises(psycopg.OperationalError):
            client.execute("COMMIT")
    assert entries(ledger) == [1]


def test_program(echo):
    program = subprocess.Popen([sys.executable, PROGRAM, echo.address], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    port = int(program.stdout.readline().rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(b"x")
        assert receive(client, 1) == b"x"
        program.stdin.write("down truncate_after=1\n")
        program.stdin.flush()
        assert program.stdout.readline() == "done\n"
        client.sendall(b"yz")
        assert receive(client, 2) == b"y"
    program.stdin.close()
    assert program.wait(10) == 0
