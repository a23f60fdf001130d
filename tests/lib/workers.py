#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""workers.py CONNINFO TARGET TYPE NAME: a worker as an application would write one.

It claims operations of one type, POSTs each payload to the target with its idempotency key, and
says what came of it: confirmed, refused, or sent with an unknown outcome. Nothing is open in the
database while it talks to the target. It may be killed at any moment, and is, in the tests.
"""

import http.client
import pathlib
import signal
import subprocess
import sys
import time

import psycopg

LEASE = 4  # seconds
ENOUGH = 2.5  # of the lease, to begin a request
TIMEOUT = 1  # of a request
AT_ONCE = 10
PAUSE = 0.25

CLAIM = """
SELECT o.operation_id, o.attempts, o.idempotency_key, o.operation_type, c.payload::text
FROM reconcile.claim(operation_types => ARRAY[%s], worker => %s,
    lease => make_interval(secs => %s), max => %s) o
JOIN reconcile.content c USING (operation_id)"""
CONFIRM = "SELECT reconcile.confirm(%s, remote_id => %s, attempt => %s)"
REJECT = "SELECT reconcile.reject(%s, attempt => %s, code => %s)"
RETRY = "SELECT reconcile.retry(%s, attempt => %s, cause => 'lease_short')"
SENT = "SELECT reconcile.sent(%s, attempt => %s)"


class Worker:
    def __init__(self, conninfo, target, operation_type, name):
        self.db = psycopg.connect(conninfo, autocommit=True, prepare_threshold=None)
        self.target, self.operation_type, self.name = target, operation_type, name
        self.http = None

    def post(self, operation_id, key, payload):
        """Status and body, or None when the outcome is not known."""
        try:
            if self.http is None:
                self.http = http.client.HTTPConnection(self.target, timeout=TIMEOUT)
            self.http.request("POST", "/orders", payload, {
                "Content-Type": "application/json", "Idempotency-Key": key,
                "Operation-Id": operation_id})
            answer = self.http.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            if self.http:
                self.http.close()
            self.http = None
            return None

    def tell(self, statement, *values):
        """An operation that moved on meanwhile does not stop the worker."""
        try:
            self.db.execute(statement, values)
        except psycopg.Error as refused:
            if refused.sqlstate not in ("RC422", "40001", "40P01"):
                raise

    def work(self, operation_id, attempt, key, payload, until):
        if time.monotonic() > until - ENOUGH:
            self.tell(RETRY, operation_id, attempt)  # another attempt is safe: nothing was sent
            return
        answer = self.post(operation_id, key, payload)
        if answer is None or answer[0] >= 500:
            self.tell(SENT, operation_id, attempt)
        elif answer[0] in (200, 201):
            remote_id = answer[1].decode().split('"id":"', 1)[1].split('"', 1)[0]
            self.tell(CONFIRM, operation_id, remote_id, attempt)
        else:
            self.tell(REJECT, operation_id, attempt, str(answer[0]))

    def run(self):
        while True:
            until = time.monotonic() + LEASE
            claimed = self.db.execute(CLAIM, [self.operation_type, self.name, LEASE,
                                              AT_ONCE]).fetchall()
            for operation_id, attempt, key, _, payload in claimed:
                self.work(operation_id, attempt, key, payload, until)
            if not claimed:
                time.sleep(PAUSE)


def start(conninfo, target, operation_type, name, log):
    """A worker as a process of its own; it ends with the one that started it."""
    with open(log, "ab") as file:
        return subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", sys.executable, pathlib.Path(__file__), conninfo,
             target, operation_type, name],
            stdin=subprocess.DEVNULL, stdout=file, stderr=file)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    Worker(*sys.argv[1:]).run()
