# SPDX-License-Identifier: Apache-2.0
"""Servers from npm, installed once from the lock file, started on free loopback ports."""

import json
import pathlib
import subprocess
import urllib.error
import urllib.request

DIRECTORY = pathlib.Path(__file__).resolve().parents[1] / "e2e" / "node"


def install(directory=DIRECTORY):
    """npm ci, unless what the lock file names is there already."""
    lock, done = directory / "package-lock.json", directory / "node_modules" / ".done"
    if done.exists() and done.read_bytes() == lock.read_bytes():
        return
    subprocess.run(["npm", "ci", "--omit=dev"], cwd=directory, check=True, timeout=600)
    done.write_bytes(lock.read_bytes())


class NodeServer:
    """A running server; a context manager."""

    def __init__(self, kind, *arguments):
        install()
        self.process = subprocess.Popen(
            ["node", str(DIRECTORY / "serve.js"), kind, *map(str, arguments)],
            cwd=DIRECTORY, stdout=subprocess.PIPE, text=True)
        port = self.process.stdout.readline().strip()
        if not port:
            raise RuntimeError(f"{kind} did not start")
        self.url = f"http://127.0.0.1:{port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(20)
        self.process.stdout.close()

    def request(self, method, path, body=None):
        """Status and decoded body."""
        question = urllib.request.Request(
            self.url + path, None if body is None else json.dumps(body).encode(),
            {"content-type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(question, timeout=20) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as answer:
            return answer.code, json.load(answer)
