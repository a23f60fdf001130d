# SPDX-License-Identifier: Apache-2.0
"""/metrics of a running daemon: well formed, and it tells what people and guards hold back."""

import contextlib
import json
import socket
import subprocess

import pytest

from test_daemon_http import Pages, correct


@pytest.fixture
def pages(world, crm):
    world.policy()
    crm.answer = correct
    return Pages(world)


def test_the_text_is_well_formed(world, pages):
    world.send("op-1")
    world.start_daemon()
    world.wait_status("op-1", "confirmed")
    _, text = pages.get("/metrics")
    done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                          capture_output=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert 'reconciled_type_target{type="sync_customer",target="crm"} 1\n' in text
    assert "op-1" not in text and world.hash_key not in text


def test_what_holds_back_is_told_until_it_is_lifted(world, pages):
    world.start_daemon()
    operator = world.directory / "operator.yaml"
    operator.write_text(world.config.read_text().replace("daemon_login", "operator_login"))

    def ctl(*arguments):
        done = subprocess.run([world.command("reconcilectl")[0], "--config", operator, *arguments],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def told(name):
        return pages.numbers()[name + '{type="sync_customer"}']

    world.db.execute("SELECT reconcile.trip_guard('type', 'sync_customer', 'max', 21, NULL)")
    ctl("pause", "sync_customer", "--reason", "CRM moves house")
    world.wait_for(lambda: told("reconciled_guard_tripped") == 1 and told("reconciled_paused") == 1)
    ctl("guard", "release", "sync_customer", "--limit", "1", "--reason", "looked into")
    ctl("resume", "sync_customer", "--reason", "it has moved")
    world.wait_for(lambda: told("reconciled_guard_tripped") == 0 and told("reconciled_paused") == 0)


def test_clients_that_hang_do_not_hold_the_work_up(world, pages):
    daemon = world.start_daemon()
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            made = stack.enter_context(socket.create_connection(("127.0.0.1", pages.port), 20))
            with contextlib.suppress(ConnectionError):
                made.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ")
        world.send("op-1")
        world.wait_status("op-1", "confirmed", timeout=9)
    def answers():
        with contextlib.suppress(ConnectionError):  # its places may still be taken
            return pages.get("/readyz")[0] == 200
        return False

    world.wait_for(answers)
    assert daemon.process.poll() is None


def test_living_instances_in_status(world, pages):
    world.start_daemon()
    status = json.loads(world.run("reconcilectl", "--json", "status").out)
    assert [(row["name"], row["types"]) for row in status["instances"]] == [("test", 1)]
