# SPDX-License-Identifier: Apache-2.0
"""Promise 8: no transaction and no row lock is open while a target is being asked. Case Q05."""

import threading

from target import answer_json

OPEN = """
SELECT pid, state, query FROM pg_stat_activity
WHERE usename = 'daemon_login' AND datname = current_database() AND xact_start IS NOT NULL
"""
LOCKS = """
SELECT l.mode FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE a.usename = 'daemon_login' AND a.datname = current_database() AND l.granted
"""


def test_no_transaction_while_twenty_answers_are_awaited(world, crm):
    asked, go_on = threading.Semaphore(0), threading.Event()

    def slow(request):
        asked.release()
        assert go_on.wait(60)
        return answer_json({"id": "c1", "version": 7})

    world.policy()
    world.target(crm.url, more="rate: {concurrent: 20}\ntimeout: {total: 60s}")
    world.db.execute("ALTER ROLE daemon_login SET idle_in_transaction_session_timeout = '200ms'")
    crm.answer = slow
    for i in range(20):
        world.send(f"op-{i}")
    running = world.start_once()
    for _ in range(20):
        assert asked.acquire(timeout=30)
    for _ in range(20):
        assert world.db.execute(OPEN).fetchall() == []
        assert world.db.execute(LOCKS).fetchall() == []
    # somebody else can change every row meanwhile
    world.db.execute("SET lock_timeout = '1s'")
    world.db.execute("SELECT operation_id FROM reconcile.operations FOR UPDATE")
    go_on.set()
    out, err = running.communicate(timeout=60)
    world.db.execute("ALTER ROLE daemon_login RESET idle_in_transaction_session_timeout")
    assert running.returncode == 0, err
    assert '"correct":20' in out
