# SPDX-License-Identifier: Apache-2.0
"""A booted systemd container made of the system it runs on and of what the build installs.

The database stays outside and is reached by its unix socket; targets run in the process of the
tests and listen in the network of the container, which has nothing but loopback.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time

import world as installation

HERE = pathlib.Path(__file__).resolve().parent
CLONE_NEWNET = 0x40000000
SOCKETS = "/srv/postgresql"  # where the container sees the directory of the server's socket


def until(holds, what, seconds=30):
    """Wait until holds() is true; its value."""
    deadline = time.monotonic() + seconds
    while True:
        value = holds()
        if value:
            return value
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.05)


def _children(process):
    with contextlib.suppress(FileNotFoundError):
        for task in pathlib.Path(f"/proc/{process}/task").iterdir():
            yield from map(int, (task / "children").read_text().split())


def _first_process(process):
    """The descendant that is process 1 in there."""
    for child in _children(process):
        with contextlib.suppress(FileNotFoundError):
            status = pathlib.Path(f"/proc/{child}/status").read_text()
            ids = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()
            if len(ids) > 2 and ids[-1] == "1":
                return child
        found = _first_process(child)
        if found:
            return found
    return None


class Container:
    """A context manager; fails with the words of the machine if it cannot boot."""

    def __init__(self, sockets):
        self.sockets = sockets

    def __enter__(self):
        if os.geteuid() != 0:
            raise RuntimeError("booting a container needs root: scripts/test service asks sudo")
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="service-", dir="/tmp"))
        with open(self.directory.with_suffix(".log"), "wb") as log:
            # It dies with us, and its mounts with it.
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--propagation", "private",
                 HERE / "boot", installation.BUILD, self.directory, f"rt{os.getpid()}", self.sockets],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            with contextlib.suppress(Exception):
                self.run("systemctl", "poweroff", check=False, timeout=10)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.with_suffix(".log").unlink()

    def _booted(self):
        if self.process.poll() is not None:
            raise RuntimeError("this machine cannot boot a container: "
                               + self.directory.with_suffix(".log").read_text(errors="replace"))
        self.leader = _first_process(self.process.pid)
        return self.leader and self.systemctl("is-active", "basic.target", check=False) == "active"

    def _wait(self):
        until(self._booted, "the container boots")

    @property
    def root(self):
        return pathlib.Path(f"/proc/{self.leader}/root")

    # what runs in there

    def run(self, *command, check=True, timeout=60):
        done = subprocess.run(
            ["nsenter", "-t", str(self.leader), "-a", "--", *map(str, command)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False,
            cwd="/")
        assert not check or done.returncode == 0, (command, done.stdout, done.stderr)
        return done

    def systemctl(self, *arguments, check=True):
        return self.run("systemctl", "--no-pager", *arguments, check=check).stdout.strip()

    def property(self, unit, name):
        return self.systemctl("show", "--value", "--property", name, unit)

    def drop_in(self, unit, *lines):
        """Replaces what an earlier call for the unit said."""
        directory = self.root / f"etc/systemd/system/{unit}.d"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "test.conf").write_text("\n".join(lines) + "\n")
        self.systemctl("daemon-reload")

    def cursor(self):
        """A place in the journal, for journal(after)."""
        out = self.run("journalctl", "--no-pager", "-n", "1", "--show-cursor", "-q").stdout
        return out.rsplit("-- cursor: ", 1)[-1].strip()

    def journal(self, after, **fields):
        """Entries since the cursor, whose fields are as given. It is not journalctl that filters:
        it would skip the first match after a cursor that does not match."""
        out = self.run("journalctl", "--no-pager", "-o", "json", "--after-cursor", after).stdout
        entries = [json.loads(line) for line in out.splitlines()]
        return [entry for entry in entries
                if all(entry.get(name) == value for name, value in fields.items())]

    def told(self, after, unit):
        """Messages of the unit and about it."""
        return [str(entry.get("MESSAGE")) for entry in self.journal(after)
                if unit in (entry.get("UNIT"), entry.get("_SYSTEMD_UNIT"))]

    @contextlib.contextmanager
    def network(self):
        """Sockets that this thread makes meanwhile are the container's."""
        libc = ctypes.CDLL(None, use_errno=True)
        ours = os.open(f"/proc/self/task/{threading.get_native_id()}/ns/net", os.O_RDONLY)
        theirs = os.open(f"/proc/{self.leader}/ns/net", os.O_RDONLY)
        try:
            if libc.setns(theirs, CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
            yield
        finally:
            if libc.setns(ours, CLONE_NEWNET):
                os._exit(1)  # nothing may go on in the wrong network
            os.close(ours)
            os.close(theirs)
