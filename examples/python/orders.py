#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""orders.py place TENANT KEY ARTICLE TOTAL: one order, however often it is called with this key.
orders.py work: sends orders to the warehouse until SIGTERM.

Environment: DATABASE (a conninfo), for work WAREHOUSE (HOST:PORT); TIMEOUT and LEASE in seconds.
examples/php tells the same story in more words, and has table, policy and simulated warehouse.
"""

import hashlib
import http.client
import json
import os
import signal
import socket
import sys
import time

import psycopg
from psycopg.rows import dict_row

TIMEOUT = float(os.environ.get("TIMEOUT", 5))
LEASE = float(os.environ.get("LEASE", 30))
MARGIN = 1
# With the warehouse's own error document these say that nothing was done and nothing will be.
REFUSALS = {"bad_body", "too_large", "unknown_article"}

RESERVE = """SELECT * FROM reconcile.reserve(scope => %(scope)s, operation => 'place_order',
    key => %(key)s, payload => %(payload)s, operation_id => %(id)s, lease => '10 s', wait => '2 s')"""
INSERT = """INSERT INTO orders (id, tenant, article, total)
    VALUES (%(id)s, %(scope)s, %(article)s, %(total)s) ON CONFLICT (id) DO NOTHING"""
REQUEST = """SELECT FROM reconcile.request(operation_type => 'place_order', operation_id => %(id)s,
    scope => %(scope)s, entity_type => 'order', entity_id => %(id)s, idempotency_key => %(id)s,
    business_key => %(id)s, expected => %(expected)s, payload => %(sent)s)"""
COMPLETE = """SELECT FROM reconcile.complete(scope => %(scope)s, operation => 'place_order',
    key => %(key)s, owner => %(owner)s, response_code => 202, response_body => %(answer)s,
    content_type => 'application/json', resource_id => %(id)s)"""
CLAIM = """SELECT * FROM reconcile.claim(operation_types => '{place_order}', worker => %s,
    lease => make_interval(secs => %s))"""
# Joined to the claim, it would not see what was committed after that statement began.
PAYLOAD = "SELECT payload::text FROM reconcile.content WHERE operation_id = %s"
CONFIRM = "SELECT FROM reconcile.confirm(operation_id => %s, attempt => %s, remote_id => %s)"
REJECT = "SELECT FROM reconcile.reject(operation_id => %s, attempt => %s, code => %s)"
RETRY = "SELECT FROM reconcile.retry(operation_id => %s, attempt => %s, cause => %s)"
SENT = "SELECT FROM reconcile.sent(operation_id => %s, attempt => %s, request_ref => %s)"


def connect():
    """Each statement commits by itself, and none is named, which PgBouncer would lose."""
    return psycopg.connect(os.environ["DATABASE"], autocommit=True, prepare_threshold=None,
                           row_factory=dict_row, application_name="orders.py")


def place(scope, key, article, total):
    """Status and bytes of the answer: the stored ones, when the key was used before."""
    order = {"scope": scope, "key": key, "article": article, "total": total,
             "id": "ord-" + hashlib.sha256(f"{scope}\0{key}".encode()).hexdigest()[:24],
             "payload": json.dumps({"article": article, "total": total}),
             "expected": json.dumps({"total": total})}
    order["sent"] = json.dumps({"number": order["id"], "article": article, "total": total})
    order["answer"] = json.dumps({"order": order["id"], "accepted": time.time()}).encode()
    with connect() as db:
        held = db.execute(RESERVE, order).fetchone()
        if held["response_body"] is not None:
            return held["response_code"], held["response_body"]
        if held["outcome"] != "reserved":
            return (422 if held["outcome"] == "conflict" else 409), held["outcome"].encode()
        with db.transaction():  # all of it, or nothing
            db.execute(INSERT, order)
            db.execute(REQUEST, order)
            db.execute(COMPLETE, {**order, "owner": held["owner"]})
    return 202, order["answer"]


def send(operation):
    """How it ended: a statement to say it with, and its last value."""
    host, _, port = os.environ["WAREHOUSE"].rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=TIMEOUT)
    try:
        connection.connect()
    except OSError as failure:
        return RETRY, type(failure).__name__  # nothing can have left
    try:
        connection.request("POST", "/orders", operation["payload"], {
            "Content-Type": "application/json", "Operation-Id": operation["operation_id"],
            "Idempotency-Key": operation["idempotency_key"]})
        answer = connection.getresponse()
        body = dict(json.loads(answer.read()))
    except (OSError, TypeError, ValueError, http.client.HTTPException) as failure:
        return SENT, type(failure).__name__  # nobody knows
    finally:
        connection.close()
    wanted = json.loads(operation["payload"])
    if answer.status in (200, 201) and body.get("id") and wanted.items() <= body.items():
        return CONFIRM, body["id"]
    if answer.status < 500 and body.get("error") in REFUSALS:
        return REJECT, body["error"]
    return SENT, f"http_{answer.status}"


def say(db, operation, statement, value):
    try:
        db.execute(statement, [operation["operation_id"], operation["attempts"], value])
    except psycopg.Error as refused:
        if not (refused.sqlstate or "").startswith("RC"):
            raise
        print(refused, file=sys.stderr)  # it moved on meanwhile, and its state knows more


def work():
    """A supervisor starts it again when the database goes away; what it held is found out."""
    stopping = []
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
    name = f"{socket.gethostname()}-{os.getpid()}"
    with connect() as db:
        while not stopping:
            until = time.monotonic() + LEASE
            operation = db.execute(CLAIM, [name, LEASE]).fetchone()
            if operation is None:
                time.sleep(0.25)
                continue
            operation |= db.execute(PAYLOAD, [operation["operation_id"]]).fetchone()
            if until - time.monotonic() > TIMEOUT + MARGIN:
                say(db, operation, *send(operation))  # no transaction is open meanwhile


if __name__ == "__main__":
    if sys.argv[1] == "work":
        work()
    else:
        code, text = place(*sys.argv[2:])
        print(code, text.decode())
