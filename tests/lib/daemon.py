# SPDX-License-Identifier: Apache-2.0
"""A running reconciled, and the service manager that it talks to."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time


def wait_for(condition, timeout=90, what="the condition"):
    """What the condition returns as soon as that is true."""
    deadline = time.monotonic() + timeout
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"{what} did not come true in {timeout} s"
        time.sleep(0.02)


class Manager:
    """Receives what is sent to $NOTIFY_SOCKET: (monotonic seconds, datagram), in order."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="notify-", dir="/tmp"))
        self.path = str(self.directory / "socket")
        self.messages = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.path)
        self._thread = threading.Thread(target=self._receive, daemon=True)
        self._thread.start()

    def _receive(self):
        while True:
            text = self._socket.recv(65536).decode()
            if text == "close":
                return
            self.messages.append((time.monotonic(), text))

    def close(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
            last.sendto(b"close", self.path)
        self._thread.join(10)
        self._socket.close()
        shutil.rmtree(self.directory)

    def texts(self, start=""):
        return [text for _, text in self.messages if text.startswith(start)]

    def status(self):
        """The last line of status, or ""."""
        return self.texts("STATUS=")[-1][len("STATUS="):] if self.texts("STATUS=") else ""


class Daemon:
    """Use it as a context manager, or call stop()."""

    def __init__(self, command, log, environment=None, ready=True):
        self.manager = Manager()
        self.log_file = pathlib.Path(log)
        environment = {**os.environ, "NOTIFY_SOCKET": self.manager.path, **(environment or {})}
        environment.pop("JOURNAL_STREAM", None)
        with open(self.log_file, "ab") as file:
            self.process = subprocess.Popen(command, stdout=file, stderr=file, env=environment,
                                            stdin=subprocess.DEVNULL)
        if ready:
            self.wait_ready()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    @property
    def pid(self):
        return self.process.pid

    @property
    def log(self):
        return self.log_file.read_text()

    def wait_for(self, condition, timeout=90, what="the condition"):
        """As wait_for, but a daemon that ended meanwhile is told at once."""
        def alive_or_true():
            found = condition()
            assert found or self.process.poll() is None, \
                f"reconciled ended with {self.process.returncode}: {self.log}"
            return found
        return wait_for(alive_or_true, timeout, what)

    def wait_ready(self, times=1):
        self.wait_for(lambda: len(self.manager.texts("READY=1")) >= times, what="READY=1")

    def wait_serving(self, timeout=90):
        self.wait_for(lambda: self.manager.status().startswith("serving"), timeout,
                      "serving")

    def wait_log(self, text, times=1, timeout=90):
        self.wait_for(lambda: self.log.count(text) >= times, timeout, f"{text!r} in the log")

    def signal(self, number):
        self.process.send_signal(number)

    def reload(self):
        """SIGHUP, until it is ready again."""
        before = len(self.manager.texts("READY=1"))
        self.signal(signal.SIGHUP)
        self.wait_ready(before + 1)

    def stop(self, timeout=10):
        """SIGTERM; the exit code. Ten seconds are promised."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout)
        finally:
            self.kill()

    def wait(self, timeout=90):
        """Until it ends by itself; the exit code."""
        return self.process.wait(timeout)

    def kill(self):
        """SIGKILL, as the power would; nothing when it has ended."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
        if self.manager:
            self.manager.close()
            self.manager = None
