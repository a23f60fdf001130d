# SPDX-License-Identifier: Apache-2.0
"""Killed passes, lost connections and busy workers leave a history without holes."""

import random
import threading
import time

import psycopg
import pytest

import history
from target import NOT_FOUND, answer_json

MANY = "guard: {max: 1000, share: 100%}\n"  # four of ten are sent to review


def check(world):
    assert history.holes(world.db) == {}


def send_many(world, count):
    with world.app.transaction():
        for i in range(count):
            world.request(f"op-{i:03}")
    for call in ("start", "sent"):
        world.app.execute(f"SELECT reconcile.{call}(operation_id) FROM reconcile.operations")
    world.db.execute("UPDATE reconcile.operations SET due_at = now(), sent_at = sent_at"
                     " - interval '1 hour', first_sent_at = first_sent_at - interval '1 hour'")


def mixed(request):
    last = request.path[-1]
    return NOT_FOUND if last == "5" else answer_json({"id": "c1", "version": 7 + (last > "6")})


def test_killed_again_and_again(world, crm):
    world.policy(more=MANY)
    world.settings(batch=10, max_in_flight=16)
    crm.answer = mixed
    send_many(world, 250)
    for _ in range(6):
        running = world.start_once()
        time.sleep(random.uniform(0.05, 0.5))
        running.kill()
        running.communicate()
        check(world)
    world.once()
    check(world)
    assert world.db.execute("SELECT DISTINCT status FROM reconcile.operations ORDER BY 1").fetchall() == [
        {"status": "confirmed"}, {"status": "manual_review"}]


@pytest.mark.parametrize("blow", ["terminate", "full"])
def test_the_database_goes_away(world, crm, blow):
    world.policy(more=MANY)
    world.settings(batch=10, max_in_flight=16)
    crm.answer = lambda request: (time.sleep(0.02), mixed(request))[1]
    send_many(world, 120)
    running = world.start_once()
    while len(crm.requests) < 40:
        time.sleep(0.01)
    if blow == "terminate":
        world.db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                         " WHERE application_name = 'reconciled' AND datname = current_database()")
    else:
        world.db.execute("""
            CREATE FUNCTION public.full() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'no space'; END $$;
            CREATE TRIGGER full_disk BEFORE INSERT ON reconcile.journal
            FOR EACH ROW EXECUTE FUNCTION public.full()""")
    _, err = running.communicate(timeout=60)
    assert running.returncode == 1 and ("lost" in err or "53100" in err)
    check(world)
    world.db.execute("DROP TRIGGER IF EXISTS full_disk ON reconcile.journal")
    world.once()
    check(world)


def test_workers_are_busy_meanwhile(world, crm):
    world.policy(more=MANY + "recheck: {first: 1s, factor: 1}")
    world.settings(batch=20, max_in_flight=16)
    crm.answer = mixed
    for i in range(100):
        world.request(f"op-{i:03}")
    calls = ["start(%s)", "sent(%s)", "confirm(%s)", "retry(%s, delay => '0')", "cancel(%s)",
             "set_entity_state('customer', %s, 'refunded')", "receipt(%s, 'r')", "reject(%s)"]
    over, strange = threading.Event(), []

    def work():
        with world.cluster.connect(world.database, "app_login") as own:
            while not over.is_set():
                try:
                    own.execute(f"SELECT reconcile.{random.choice(calls)}",
                                [f"op-{random.randrange(100):03}"])
                except psycopg.Error as refused:
                    if refused.sqlstate != "RC422":
                        strange.append(refused)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    try:
        for _ in range(4):
            world.db.execute("UPDATE reconcile.operations SET due_at = now() WHERE due_at IS NOT NULL")
            world.once()
    finally:
        over.set()
        for worker in workers:
            worker.join()
    assert strange == []
    check(world)
