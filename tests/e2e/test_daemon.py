# SPDX-License-Identifier: Apache-2.0
"""reconciled as a daemon: it starts, goes on by itself, and stops in time."""

import json
import re
import signal
import threading
import time

import pytest

from target import answer_json

ONE_HOUR = {"interval": "1h"}
SECONDS = {"interval": "1s"}


def correct(request):
    return answer_json({"id": "c1", "version": 7})


class Silence:
    """Answers nothing until released."""

    def __init__(self, crm):
        self.asked, self.released = threading.Event(), threading.Event()
        crm.answer = self

    def __call__(self, request):
        self.asked.set()
        self.released.wait(60)
        return correct(request)


@pytest.fixture
def silence(crm):
    made = Silence(crm)
    yield made
    made.released.set()


def instance(world):
    return world.db.execute("SELECT * FROM reconcile.instances").fetchone()


def end_backends(world, name="reconciled %"):
    """As an administrator, or a failover, would."""
    return world.db.execute(
        "SELECT count(pg_terminate_backend(pid)) AS n FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name LIKE %s", [name]).fetchone()["n"]


def test_it_confirms_by_itself_and_goes_on(world, crm):
    world.policy()
    world.settings(**SECONDS)
    crm.answer = correct
    world.send("op-1")
    daemon = world.start_daemon()
    world.wait_status("op-1", "confirmed")
    world.send("op-2")
    world.wait_status("op-2", "confirmed")
    row = world.journal("op-2")[-1]
    assert (row["actor"], row["event"]) == ("reconciled:test", "confirmed")
    assert instance(world)["stopped_at"] is None
    assert daemon.stop() == 0
    assert instance(world)["stopped_at"] is not None
    assert instance(world)["in_flight"] == []


def test_what_the_service_manager_is_told(world, crm):
    world.policy()
    daemon = world.start_daemon(environment={"WATCHDOG_USEC": "400000"})
    daemon.wait_for(lambda: len(daemon.manager.texts("WATCHDOG=1")) >= 3, what="the watchdog")
    manager = daemon.manager
    assert daemon.stop() == 0
    assert manager.texts("READY=1") == ["READY=1"]
    assert manager.texts("STOPPING=1") == ["STOPPING=1"]
    told = [text for text in manager.texts() if not text.startswith("WATCHDOG")]
    assert told[-2:] == ["STOPPING=1", "STATUS=stopping"]
    statuses = manager.texts("STATUS=")
    assert all(a != b for a, b in zip(statuses, statuses[1:]))
    assert "STATUS=serving; operation types: 1, instances alive: 1" in statuses


def test_the_watchdog_of_another_process_is_left_alone(world, crm):
    world.policy()
    daemon = world.start_daemon(environment={"WATCHDOG_USEC": "100000", "WATCHDOG_PID": "1"})
    time.sleep(0.5)
    assert daemon.manager.texts("WATCHDOG=1") == []


def test_a_notification_wakes_it_within_an_interval_of_an_hour(world, crm):
    world.policy()
    world.settings(**ONE_HOUR)
    crm.answer = correct
    world.start_daemon()
    world.send("op-1")
    world.db.execute("SELECT pg_notify('reconciled', 'sync_customer')")
    world.wait_status("op-1", "confirmed")
    world.send("op-2")
    world.db.execute("SELECT pg_notify('reconciled', '')")
    world.wait_status("op-2", "confirmed")


def test_cancel_wakes_it(world, crm):
    world.policy()
    world.settings(**ONE_HOUR)
    crm.answer = correct
    world.start_daemon()
    world.send("op-1", ago="1 second")
    world.app.execute("SELECT reconcile.cancel('op-1', 'not wanted any more')")
    world.wait_for(lambda: crm.asked("/customers/op-1"), what="a look")


@pytest.mark.parametrize("which", ["read", "write", "watch"])
def test_a_lost_connection_comes_back_with_a_full_scan_and_listens_again(world, crm, which):
    world.policy()
    world.settings(**ONE_HOUR)
    crm.answer = correct
    daemon = world.start_daemon()
    world.send("op-1")
    assert end_backends(world, f"reconciled {which}") == 1
    world.wait_status("op-1", "confirmed")
    daemon.wait_serving()
    world.send("op-2")
    world.db.execute("SELECT pg_notify('reconciled', 'sync_customer')")
    world.wait_status("op-2", "confirmed")
    assert daemon.log.count("no work with the database") == 1


def test_types_that_somebody_deleted_are_published_again(world, crm):
    world.policy()
    world.settings(**SECONDS)
    crm.answer = correct
    daemon = world.start_daemon()
    world.db.execute("DELETE FROM reconcile.operation_types")
    daemon.wait_log("published again")
    world.send("op-1")
    world.wait_status("op-1", "confirmed")
    assert daemon.log.count("published again") == 1


def test_it_stops_in_time_although_a_target_hangs(world, crm, silence):
    world.policy()
    world.settings(**SECONDS)
    world.target(crm.url, more="timeout: {total: 60s}")
    world.send("op-1")
    before = world.operation("op-1")
    daemon = world.start_daemon()
    assert silence.asked.wait(20)
    assert daemon.stop(10) == 0
    assert world.operation("op-1") == before
    assert instance(world)["stopped_at"] is not None


def test_it_stops_in_time_although_tables_are_locked(world, crm):
    """And what is answered in its last second reaches nobody who is gone."""
    world.policy()
    world.settings(**SECONDS, log="{level: debug}")
    daemon = world.start_daemon()
    with world.cluster.connect(world.database, autocommit=False) as locking:
        locking.execute("LOCK TABLE reconcile.operations, reconcile.instances")
        world.wait_for(lambda: world.db.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
            " AND application_name = 'reconciled read' AND wait_event_type = 'Lock'").fetchone(),
            what="a selection that waits")
        daemon.signal(signal.SIGTERM)
        daemon.wait_log("to=leaving")
    assert daemon.wait(5) == 0


def test_what_a_target_answers_while_it_stops_is_recorded(world, crm, silence):
    world.policy()
    world.send("op-1")
    daemon = world.start_daemon()
    assert silence.asked.wait(20)
    daemon.signal(signal.SIGTERM)
    daemon.wait_log("stopping")
    silence.released.set()
    assert daemon.wait() == 0
    assert world.operation("op-1")["status"] == "confirmed"


def test_a_second_signal_ends_it_at_once(world, crm, silence):
    world.policy()
    world.target(crm.url, more="timeout: {total: 60s}")
    world.send("op-1")
    daemon = world.start_daemon()
    assert silence.asked.wait(20)
    daemon.signal(signal.SIGTERM)
    daemon.wait_log("stopping")
    daemon.signal(signal.SIGINT)
    assert daemon.wait(3) == 0


def test_one_state_directory_has_one_daemon(world, crm):
    world.policy()
    first = world.start_daemon()
    run = world.run("reconciled")
    assert run.code == 1
    assert "state directory" in run.err and "in use by another reconciled" in run.err
    first.kill()  # also one that was killed leaves no lock
    assert world.start_daemon().stop() == 0


def test_it_keeps_its_name_in_the_state_directory(world, crm):
    world.policy()
    for _ in range(2):
        assert world.start_daemon().stop() == 0
    rows = world.db.execute("SELECT * FROM reconcile.instances").fetchall()
    assert len(rows) == 1 and rows[0]["name"] == "test" and rows[0]["beats"] >= 2


def test_without_a_state_directory_it_says_what_that_means(world, crm):
    world.policy()
    text = world.config.read_text()
    world.config.write_text(re.sub("state_directory:.*\n", "", text))
    daemon = world.start_daemon(environment={"STATE_DIRECTORY": ""})
    assert "without state_directory" in daemon.log
    assert daemon.stop() == 0


def test_a_state_file_of_something_else_is_not_overwritten(world, crm):
    world.policy()
    file = world.directory / "state" / "instance"
    file.write_text("somebody's notes\n")
    run = world.run("reconciled")
    assert run.code == 1 and "instance" in run.err and "move it away" in run.err
    assert file.read_text() == "somebody's notes\n"


def test_a_missing_schema_ends_the_start(world, cluster, crm):
    world.policy()
    empty = cluster.create_database(world.database + "_empty")
    world.settings(database=json.dumps(cluster.conninfo(empty, "daemon_login")))
    run = world.run("reconciled")
    assert run.code == 1 and "reconciled --migrate" in run.err


@pytest.mark.parametrize("arguments, expected", [
    (["--limit", "3"], "--limit needs --once"),
    (["--json"], "--json needs --once"),
    (["--operation", "op-1"], "--operation needs --once"),
    (["now"], 'unexpected argument "now"'),
    (["--type", "nothing"], 'no policy for "nothing"'),
    (["--check-config", "--observe"], "--check-config and --observe do not go together"),
])
def test_wrong_arguments(world, crm, arguments, expected):
    world.policy()
    run = world.run("reconciled", *arguments)
    assert run.code == 2 and expected in run.err and run.out == ""


def test_a_wrong_configuration_ends_the_start(world, crm):
    world.policy(more="nonsense: 1\n")
    run = world.run("reconciled")
    assert run.code == 2 and "sync_customer.yaml" in run.err


def test_the_database_is_away_at_the_start(world, cluster, crm):
    world.policy()
    crm.answer = correct
    world.send("op-1")
    place = world.directory / "pg"  # a socket that is not there yet
    world.settings(database=json.dumps(f"host={place} dbname={world.database} user=daemon_login"))
    daemon = world.start_daemon(serving=False)
    assert "no work with the database" in daemon.manager.status()
    assert str(place) in daemon.manager.status()
    place.symlink_to(cluster.directory)
    world.wait_status("op-1", "confirmed")
    assert daemon.manager.status().startswith("serving")
    place.unlink()
    end_backends(world)
    daemon.wait_for(lambda: "no work" in daemon.manager.status(), what="the status")
    assert daemon.stop(3) == 0
    assert daemon.process.returncode == 0


def test_only_these_types(world, crm):
    world.policy()
    world.policy(text=(world.directory / "policies.d/sync_customer.yaml").read_text()
                 .replace("sync_customer", "other_type"))
    crm.answer = correct
    world.send("op-1")
    world.send("op-2", operation_type="other_type")
    world.start_daemon("--type", "other_type")
    world.wait_status("op-2", "confirmed")
    assert world.operation("op-1")["status"] == "awaiting_confirmation"
    assert list(instance(world)["types"]) == ["other_type"]


def test_observing_changes_no_status(world, crm):
    world.policy()
    crm.answer = correct
    world.send("op-1")
    world.start_daemon("--observe")
    world.wait_for(lambda: world.operation("op-1")["class"] == "correct", what="a verdict")
    assert world.operation("op-1")["status"] == "awaiting_confirmation"


def test_a_changed_status_is_one_line_a_confirmation_none(world, crm):
    world.policy()
    crm.serve({"op-1": {"id": "c1", "version": 7}})
    world.send("op-1")
    world.send("op-2")  # honestly not there
    daemon = world.start_daemon()
    world.wait_status("op-2", "manual_review")
    world.wait_status("op-1", "confirmed")
    lines = [line for line in daemon.log.splitlines() if "op-" in line]
    assert len(lines) == 1
    for field in ("operation_id=op-2", "operation_type=sync_customer", "status=manual_review",
                  "target=crm", "class=missing"):
        assert field in lines[0]


def test_every_detail_when_asked_for(world, crm):
    world.policy()
    world.settings(log="{level: debug}")
    crm.answer = correct
    world.send("op-1", idempotency_key="key-of-op-1")
    daemon = world.start_daemon()
    world.wait_status("op-1", "confirmed")
    daemon.wait_log("operation_id=op-1")
    assert "key-of-op-1" not in daemon.log


def test_a_process_that_stood_still_drops_what_it_asked(world, crm, silence):
    """Longer than others wait for its heartbeat: they have taken over, its answers do not count."""
    world.policy()
    world.settings(**SECONDS)
    world.target(crm.url, more="timeout: {total: 60s}")
    world.send("op-1")
    daemon = world.start_daemon()
    assert silence.asked.wait(20)
    daemon.signal(signal.SIGSTOP)
    time.sleep(11)
    asked = len(crm.requests)
    daemon.signal(signal.SIGCONT)
    daemon.wait_log("no heartbeat was answered for 9 seconds")
    silence.released.set()
    world.wait_status("op-1", "confirmed")
    assert len(crm.requests) > asked


def test_the_log_has_times(world, crm):
    world.policy()
    daemon = world.start_daemon()
    assert daemon.stop() == 0
    lines = daemon.log.splitlines()
    assert lines and all(re.match(r"time=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z level=\w+ msg=\"", line)
                         for line in lines)


def test_the_status_says_what_holds_back(world, crm):
    world.policy()
    world.settings(interval="1s")
    daemon = world.start_daemon()
    world.db.execute("INSERT INTO reconcile.guards (kind, name, tripped_at, reason, count)"
                     " VALUES ('type', 'sync_customer', now(), 'max', 21)")
    world.db.execute("SELECT reconcile.pause('sync_customer', 'CRM moves house')")
    wanted = "serving; operation types: 1, guarded: 1, paused: 1, instances alive: 1"
    daemon.wait_for(lambda: daemon.manager.status() == wanted, what=wanted)
    daemon.wait_log("a person paused the type")
    (world.directory / "policies.d/sync_customer.yaml").write_text("nonsense: 1\n")
    daemon.reload()
    wanted = wanted.replace("serving", "serving, last reload failed")
    daemon.wait_for(lambda: daemon.manager.status() == wanted, what=wanted)
