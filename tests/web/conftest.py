# SPDX-License-Identifier: Apache-2.0
"""The HTTP server in a small program of its own, and raw sockets to talk to it."""

import os
import pathlib
import socket
import subprocess
import time

import pytest

BUILD = pathlib.Path(os.environ.get(
    "BUILD_DIR", pathlib.Path(__file__).resolve().parents[2] / "build"))
SERVE = BUILD / "tests/web/web_serve"


class Answer:
    """One response, read from a stream of them."""

    def __init__(self, stream, without_body=False):
        self.line = stream.readline().decode("ascii").rstrip("\r\n")
        self.status = int(self.line.split()[1]) if self.line else None
        self.fields = {}
        while (line := stream.readline()) not in (b"\r\n", b""):
            name, value = line.decode("ascii").split(":", 1)
            assert name.lower() not in self.fields, name
            self.fields[name.lower()] = value.strip()
        length = 0 if without_body else int(self.fields.get("content-length", 0))
        self.body = stream.read(length).decode()

    @property
    def closes(self):
        return self.fields.get("connection") == "close"


class Server:
    """web_serve; it must end without a complaint of the sanitizers."""

    def __init__(self, address, **options):
        self.address = address
        self.process = subprocess.Popen([SERVE, address], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, **options)
        first = self.process.stdout.readline()
        self.port = int(first) if first else None

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def connect(self, timeout=30):
        if self.address.startswith("unix:"):
            made = socket.socket(socket.AF_UNIX)
            made.settimeout(timeout)
            made.connect(self.address[5:])
            return made
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def ask(self, request, without_body=False):
        """Sends bytes and reads one answer; None when the connection was closed without."""
        with self.connect() as made, made.makefile("rb") as stream:
            made.sendall(request)
            answer = Answer(stream, without_body)
            return answer if answer.status else None

    def get(self, path, more="", method="GET"):
        request = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n"
        return self.ask(request.encode("latin-1"), method == "HEAD")

    def end(self):
        """Returns exit code and standard error."""
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.stdin = None
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, err


@pytest.fixture
def start():
    started = []

    def start_one(address="127.0.0.1:0", **options):
        started.append(Server(address, **options))
        return started[-1]

    yield start_one
    ended = [server.end() for server in started]
    assert all(code in (0, 1) and "ERROR" not in err and "runtime error" not in err
               for code, err in ended), ended


@pytest.fixture
def server(start):
    return start()


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
