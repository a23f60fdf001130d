# SPDX-License-Identifier: Apache-2.0
"""What a running daemon shows: /metrics, /healthz, /readyz."""

import http.client
import json
import signal
import socket
import threading
import time

import pytest

from ports import free_port
from target import answer_json


def correct(request):
    return answer_json({"id": "c1", "version": 7})


class Pages:
    def __init__(self, world):
        self.port = free_port()
        self.listen = f'{{listen: "127.0.0.1:{self.port}"}}'
        world.settings(interval="1s", http=self.listen)

    def get(self, path, timeout=20):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def numbers(self):
        """{'name{labels}': value} of all samples."""
        status, text = self.get("/metrics")
        assert status == 200
        pairs = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, value in pairs}


@pytest.fixture
def pages(world, crm):
    world.policy()
    crm.answer = correct
    return Pages(world)


def test_numbers_of_the_process_and_of_the_database(world, crm, pages):
    crm.serve({"op-1": {"id": "c1", "version": 7}})
    world.send("op-1", ago="2 hours")
    world.send("op-2")  # honestly not there: for a person
    world.start_daemon()
    world.wait_status("op-1", "confirmed")
    world.wait_status("op-2", "manual_review")
    world.request("op-3")
    numbers = pages.numbers()
    expected = {
        'reconciled_verdicts_total{type="sync_customer",class="correct"}': 1,
        'reconciled_verdicts_total{type="sync_customer",class="missing"}': 1,
        'reconciled_actions_total{type="sync_customer",action="confirm"}': 1,
        'reconciled_actions_total{type="sync_customer",action="review"}': 1,
        'reconciled_probe_seconds_count{target="crm"}': 2,
        'reconciled_confirmation_seconds_count{type="sync_customer"}': 1,
        'reconciled_operations{type="sync_customer",status="manual_review"}': 1,
        'reconciled_operations{type="sync_customer",status="pending"}': 1,
        'reconciled_breaker_state{target="crm"}': 0,
        'reconciled_guard_tripped{type="sync_customer"}': 0,
        "reconciled_instances": 1,
        "reconciled_config_reload_success": 1,
    }
    assert {name: numbers.get(name) for name in expected} == expected
    assert numbers['reconciled_confirmation_seconds_sum{type="sync_customer"}'] >= 7200
    last = numbers['reconciled_last_pass_timestamp_seconds{type="sync_customer"}']
    assert abs(last - time.time()) < 60


def test_the_database_is_measured_every_15_seconds_at_most(world, pages):
    world.start_daemon()
    pending = 'reconciled_operations{type="sync_customer",status="pending"}'
    assert pages.numbers()[pending] == 0
    world.request("op-1")
    assert pages.numbers()[pending] == 0
    world.wait_for(lambda: pages.numbers()[pending] == 1, timeout=40)


def test_many_who_ask_at_once_share_one_question(world, pages):
    world.start_daemon()
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(pages.numbers()))
               for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(answers) == 12
    assert all('reconciled_operations{type="sync_customer",status="pending"}' in a for a in answers)
    sessions = world.db.execute("SELECT count(*) AS n FROM pg_stat_activity WHERE application_name"
                                " = 'reconciled metrics' AND datname = current_database()")
    assert sessions.fetchone()["n"] == 1


def test_a_database_that_does_not_answer_the_question_holds_nobody(world, pages):
    world.start_daemon()
    with world.cluster.connect(world.database, autocommit=False) as locking:
        locking.execute("LOCK TABLE reconcile.outbox IN ACCESS EXCLUSIVE MODE")
        assert pages.numbers()["reconciled_instances"] == 1
    assert pages.get("/healthz")[0] == 200


def test_ready_while_it_serves(world, pages):
    daemon = world.start_daemon()
    assert pages.get("/healthz")[0] == 200
    assert pages.get("/readyz")[0] == 200
    assert daemon.stop() == 0


def test_not_ready_without_the_database_but_it_answers_at_once(world, cluster, pages):
    place = world.directory / "pg"
    world.settings(http=pages.listen, interval="1s", database=json.dumps(
        f"host={place} dbname={world.database} user=daemon_login"))
    daemon = world.start_daemon(serving=False)
    status, text = pages.get("/readyz")
    assert status == 503 and text.strip() != ""
    assert pages.get("/healthz")[0] == 200
    numbers = pages.numbers()
    assert numbers["reconciled_database_connected"] == 0
    assert numbers["reconciled_config_reload_success"] == 1
    place.symlink_to(cluster.directory)
    daemon.wait_serving()
    assert pages.get("/readyz")[0] == 200
    assert pages.numbers()["reconciled_database_connected"] == 1


def test_ready_while_another_configuration_is_published(world, pages):
    daemon = world.start_daemon()
    world.policy(more="give_up: 40\n")
    with world.cluster.connect(world.database, autocommit=False) as locking:
        locking.execute("LOCK TABLE reconcile.operation_types IN EXCLUSIVE MODE")
        daemon.signal(signal.SIGHUP)
        daemon.wait_for(lambda: daemon.manager.status() == "publishing the policies",
                        what="publishing")
        assert pages.get("/readyz")[0] == 200
    daemon.wait_serving()
    assert pages.get("/readyz")[0] == 200


def test_a_slow_first_start_asks_for_time(world, pages):
    with world.cluster.connect(world.database, autocommit=False) as locking:
        locking.execute("LOCK TABLE reconcile.operation_types IN EXCLUSIVE MODE")
        daemon = world.start_daemon(serving=None)
        daemon.wait_for(lambda: daemon.manager.status() == "publishing the policies",
                        what="publishing")
        daemon.wait_for(lambda: "EXTEND_TIMEOUT_USEC=601000000" in daemon.manager.texts(),
                        what="more time")
        assert pages.get("/readyz")[0] == 503
        assert daemon.manager.texts("READY=1") == []
    daemon.wait_serving()
    asked = len(daemon.manager.texts("EXTEND_TIMEOUT_USEC="))
    daemon.reload()
    assert len(daemon.manager.texts("EXTEND_TIMEOUT_USEC=")) == asked


def test_not_ready_while_it_stops(world, crm, pages):
    asked, released = threading.Event(), threading.Event()

    def hang(request):
        asked.set()
        released.wait(60)

    crm.answer = hang
    world.send("op-1")
    daemon = world.start_daemon()
    assert asked.wait(20)
    daemon.signal(15)
    daemon.wait_log("stopping")
    assert pages.get("/readyz")[0] == 503
    released.set()
    assert daemon.wait() == 0


def test_a_bad_reload_shows(world, pages):
    daemon = world.start_daemon()
    world.policy(more="nonsense: 1\n")
    daemon.reload()
    assert pages.numbers()["reconciled_config_reload_success"] == 0
    world.policy()
    daemon.reload()
    assert pages.numbers()["reconciled_config_reload_success"] == 1


def test_counters_go_on_after_a_reload(world, pages):
    daemon = world.start_daemon()
    world.send("op-1")
    world.wait_status("op-1", "confirmed")
    text = (world.directory / "policies.d/sync_customer.yaml").read_text()
    world.policy(text=text.replace("sync_customer", "other_type"))
    daemon.reload()
    numbers = pages.numbers()
    assert numbers['reconciled_verdicts_total{type="sync_customer",class="correct"}'] == 1
    assert numbers['reconciled_verdicts_total{type="other_type",class="correct"}'] == 0


def test_an_address_that_is_taken_ends_the_start(world, pages):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", pages.port))
        taken.listen()
        run = world.run("reconciled")
    assert run.code == 1 and str(pages.port) in run.err


def test_a_unix_socket(world, pages):
    path = world.directory / "http"
    world.settings(http=f'{{listen: "unix:{path}"}}')
    world.start_daemon()
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(path))
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 200")
