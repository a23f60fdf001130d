# SPDX-License-Identifier: Apache-2.0
"""reconciled.service: starts, says what it is doing, and stops."""

import time

import pytest

import container as booted
from target import answer_json

UNIT = "reconciled.service"
FOUND = answer_json({"id": "c1", "version": 7})


def test_starts_and_works(world, crm):
    world.policy()
    world.send("op-1")
    crm.answer = lambda request: FOUND
    assert world.start().returncode == 0
    assert world.state() == "active"
    assert world.container.property(UNIT, "SubState") == "running"
    world.until_status("op-1", "confirmed")
    booted.until(lambda: world.container.property(UNIT, "StatusText"), "a status text")
    assert world.get("/healthz")[0] == 200
    booted.until(lambda: world.get("/readyz")[0] == 200, "ready")
    assert world.restarts() == 0


def test_runs_as_its_user_without_rights(world, crm):
    world.policy()
    assert world.start().returncode == 0
    shown = world.container.run("ps", "-o", "user=", "-p", world.main_process()).stdout.strip()
    assert shown == "reconciled"


def logged(world, before, operation_id):
    """The fields of the one entry about an operation, beside those of the journal itself."""
    [entry] = booted.until(lambda: world.container.journal(before, OPERATION_ID=operation_id),
                           f"an entry about {operation_id}")
    assert (entry["_SYSTEMD_UNIT"], entry["SYSLOG_IDENTIFIER"]) == (UNIT, "reconciled")
    assert world.hash_key not in str(entry)
    return {name: entry.get(name) for name in (
        "PRIORITY", "MESSAGE", "OPERATION_TYPE", "SCOPE", "TARGET", "STATUS", "CLASS", "REASON",
        "REMOTE_ID", "CORRELATION_ID")}


def test_the_log_has_fields(world, crm):
    """A case for a person is told; a confirmation only at the level debug."""
    world.policy()
    world.send("op-1", correlation_id="c-77", scope="t1")
    crm.answer = lambda request: answer_json({"id": "c1", "version": 8})
    before = world.container.cursor()
    assert world.start().returncode == 0
    assert logged(world, before, "op-1") == {
        "PRIORITY": "6", "MESSAGE": "operation needs a person", "OPERATION_TYPE": "sync_customer",
        "SCOPE": "t1", "TARGET": "crm", "STATUS": "manual_review", "CLASS": "divergent",
        "REASON": "newer", "REMOTE_ID": None, "CORRELATION_ID": "c-77"}
    world.settings(log="{level: debug}")
    world.container.systemctl("reload", UNIT)
    crm.answer = lambda request: FOUND
    world.send("op-2")
    assert logged(world, before, "op-2") == {
        "PRIORITY": "7", "MESSAGE": "operation confirmed", "OPERATION_TYPE": "sync_customer",
        "SCOPE": None, "TARGET": "crm", "STATUS": "confirmed", "CLASS": "correct",
        "REASON": "fields_equal", "REMOTE_ID": "c1", "CORRELATION_ID": None}


@pytest.mark.parametrize("busy", [False, True])
def test_stops_cleanly(world, crm, busy):
    """Also while probes hang; the unit gives up after ten seconds, and the result would tell."""
    world.policy()
    world.load_credentials(UNIT, "TimeoutStopSec=10")
    if busy:
        for i in range(5):
            world.send(f"op-{i}")
        crm.answer = lambda request: time.sleep(30)
    assert world.start().returncode == 0
    if busy:
        booted.until(lambda: crm.asked("/customers"), "a probe hangs")
    before = world.container.cursor()
    world.container.systemctl("stop", UNIT)
    assert world.state() == "inactive"
    assert world.container.property(UNIT, "Result") == "success"
    assert not [text for text in world.container.told(before, UNIT) if "timed out" in text]
    for row in world.db.execute("SELECT * FROM reconcile.operations").fetchall():
        assert (row["status"], row["checks"], row["suspect"]) == ("awaiting_confirmation", 0, 0)
    [instance] = world.db.execute("SELECT * FROM reconcile.instances").fetchall()
    assert instance["stopped_at"] is not None and instance["in_flight"] == []


def test_keeps_who_it_is_over_a_restart(world, crm):
    world.policy()
    assert world.start().returncode == 0
    world.container.systemctl("restart", UNIT)
    assert world.state() == "active"
    assert world.db.execute("SELECT count(*) AS n FROM reconcile.instances").fetchone()["n"] == 1


def test_socket_activation(world, crm):
    """The manager's socket in place of an address of the configuration."""
    world.policy()
    world.settings(http="{}")
    assert world.start("reconciled.socket").returncode == 0
    assert world.state() == "inactive"
    assert world.get("/healthz")[0] == 200  # the first request starts the daemon
    booted.until(lambda: world.state() == "active", "it is started")
    world.container.systemctl("restart", UNIT)
    assert world.get("/healthz")[0] == 200


def test_socket_activation_at_a_path(world, crm):
    world.policy()
    world.settings(http="{}")
    world.container.drop_in("reconciled.socket", "[Socket]", "ListenStream=",
                            "ListenStream=/run/reconciled/http.sock")
    assert world.start("reconciled.socket").returncode == 0
    assert world.get("/healthz", unix="/run/reconciled/http.sock")[0] == 200
    world.container.systemctl("restart", UNIT)
    assert world.get("/healthz", unix="/run/reconciled/http.sock")[0] == 200
