# SPDX-License-Identifier: Apache-2.0
"""Starts and steers build/reconcile-sim for tests."""

import http.client
import json
import os
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BUILD_DIR", ROOT / "build"))


class Answer:
    """One HTTP answer: status, headers (a dict in lower case), text."""

    def __init__(self, response, text):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.text = text

    @property
    def body(self):
        return json.loads(self.text)


class Simulator:
    """The process, its books, and requests to it."""

    def __init__(self, directory, config=None, listen="127.0.0.1:0", build=BUILD):
        self.directory = Path(directory)
        self.books = self.directory / "books.jsonl"
        address_file = self.directory / "address"
        command = [str(build / "reconcile-sim"), "--listen", listen, "--books", str(self.books),
                   "--address-file", str(address_file)]
        if config is not None:
            config_file = self.directory / "sim.yaml"
            # JSON is YAML.
            config_file.write_text(json.dumps(config) if isinstance(config, dict) else config)
            command += ["--config", str(config_file)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while not address_file.exists():
            if self.process.poll() is not None:
                raise RuntimeError(f"reconcile-sim ended with {self.process.returncode}")
            if time.monotonic() > deadline:
                self.process.kill()
                raise RuntimeError("reconcile-sim did not start")
            time.sleep(0.01)
        self.address = address_file.read_text().strip()
        self.base = f"http://{self.address}"

    def request(self, method, path, body=None, headers=None, timeout=10):
        """One request on a connection of its own; raises what http.client raises."""
        connection = http.client.HTTPConnection(self.address, timeout=timeout)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, headers or {})
            response = connection.getresponse()
            return Answer(response, response.read().decode())
        finally:
            connection.close()

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def admin(self, method, path, body=None):
        """A call below /_sim/ that must succeed; its body, or None for 204."""
        answer = self.request(method, f"/_sim/{path}", body)
        assert answer.status in (200, 204), answer.text
        return answer.body if answer.status == 200 else None

    def seed(self, collection, *objects):
        self.admin("POST", f"objects/{collection}", list(objects))

    def behave(self, *behaviours):
        self.admin("POST", "behaviours", list(behaviours))

    def honest(self):
        self.admin("DELETE", "behaviours")

    def counts(self):
        return self.admin("GET", "counts")

    def effects(self, operation):
        return self.admin("GET", f"effects?operation_id={operation}")["data"]

    def lines(self, kind):
        """What the books hold of one kind, oldest first."""
        self.counts()  # makes it write what it has buffered
        entries = [json.loads(line) for line in self.books.read_text().splitlines()]
        return [entry for entry in entries if entry["kind"] == kind]

    def stop(self):
        """Ends it gracefully; its exit status."""
        self.process.terminate()
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
