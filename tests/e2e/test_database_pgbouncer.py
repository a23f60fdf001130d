# SPDX-License-Identifier: Apache-2.0
"""Behind PgBouncer in transaction mode each statement may meet another server session."""

import json
import subprocess
import time

import pytest
from psycopg.rows import dict_row

import history
import world as installation
from pgbouncer import PgBouncer
from target import NOT_FOUND, answer_json

USERS = ["daemon_login", "app_login", "operator_login", "auditor_login", "migrator"]


@pytest.fixture(params=[2, 1], ids=["pool of two", "pool of one"])
def pooler(cluster, template, request):
    with PgBouncer(cluster, USERS, {"default_pool_size": request.param}) as running:
        yield running


@pytest.fixture
def pooled(world, crm, pooler):
    world.policy()
    connect_app(world, pooler)
    as_user(world, pooler, "daemon_login")
    crm.answer = honest
    return world


def connect_app(world, pooler):
    world.app.close()
    world.app = pooler.connect(world.database, "app_login", row_factory=dict_row)


def as_user(world, pooler, user):
    world.settings(database=json.dumps(pooler.conninfo(world.database, user)), batch=5,
                   max_in_flight=4, interval="1s")


def honest(request):
    name = request.path.rpartition("/")[2]
    if name.startswith("missing"):
        return NOT_FOUND
    return answer_json({"id": "c1", "version": 6 if name.startswith("older") else 7})


def statuses(world):
    return {row["operation_id"]: (row["status"], row["class"]) for row in world.db.execute(
        "SELECT operation_id, status, class FROM reconcile.operations").fetchall()}


EXPECTED = {
    **{f"right-{i}": ("confirmed", "correct") for i in range(8)},
    **{f"missing-{i}": ("manual_review", "missing") for i in range(4)},
    **{f"older-{i}": ("manual_review", "divergent") for i in range(4)},
}


def test_the_whole_scenario(pooled, crm, pooler):
    for name in EXPECTED:
        pooled.send(name)
    run = pooled.once()
    assert run.json["types"]["sync_customer"]["checked"] == len(EXPECTED)
    assert statuses(pooled) == EXPECTED
    assert history.holes(pooled.db) == {}
    pooled.app.execute("SELECT reconcile.confirm('missing-0', remote_id => 'c1')")
    assert pooled.operation("missing-0")["status"] == "confirmed"
    as_user(pooled, pooler, "operator_login")
    shown = pooled.run("reconcilectl", "--json", "list")
    assert shown.code == 0
    assert {o["operation_id"] for o in shown.json["operations"]} >= {"missing-1", "older-0"}
    shown = pooled.run("reconcilectl", "--json", "show", "older-0")
    assert [row["to_status"] for row in shown.json["journal"]] == [
        "pending", "processing", "awaiting_confirmation", "manual_review"]


def test_nothing_is_held_while_targets_are_asked(pooled, crm):
    """With one server session for all, a transaction that stays open would stop everybody."""
    for name in EXPECTED:
        pooled.send(name)
    others = []

    def answer(request):
        others.append(pooled.app.execute("SELECT 1 AS one").fetchone()["one"])
        time.sleep(0.05)
        return honest(request)

    crm.answer = answer
    pooled.once()
    assert others == [1] * len(EXPECTED) and statuses(pooled) == EXPECTED


def test_settings_do_not_leak(pooled, pooler):
    """What a statement sets ends with its transaction: the next user of the session sees none."""
    for name in EXPECTED:
        pooled.send(name)
    pooled.once()
    with pooler.connect(pooled.database, "daemon_login") as other:
        for _ in range(4):
            assert other.execute("SHOW lock_timeout").fetchone() == ("0",)
    assert pooled.db.execute(
        "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory'"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    ).fetchone()["n"] == 0


@pytest.mark.parametrize("blow", ["server sessions die", "the pooler dies"])
def test_lost_in_the_middle(pooled, crm, pooler, blow):
    for name in EXPECTED:
        pooled.send(name)

    def answer(request):
        if crm.requests.index(request) == 8 and blow == "the pooler dies":
            pooler.halt()
        elif crm.requests.index(request) == 8:
            pooled.db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                              " WHERE usename = 'daemon_login' AND datname = current_database()")
        return honest(request)

    crm.answer = answer
    run = pooled.run("reconciled", "--once", "--json")
    assert run.code == 1 or blow == "server sessions die"  # idle ones are replaced unnoticed
    assert history.holes(pooled.db) == {}
    crm.answer = honest
    if blow == "the pooler dies":
        pooler.start()
    pooled.once()
    assert statuses(pooled) == EXPECTED
    assert history.holes(pooled.db) == {}


def test_the_daemon(pooled, crm, pooler):
    """Three connections share the pool; notifications do not come, but the interval does."""
    for name in EXPECTED:
        pooled.send(name)
    daemon = pooled.start_daemon()
    pooled.wait_for(lambda: statuses(pooled) == EXPECTED)
    for _ in range(5):  # they may reach a session of the server that belongs to nobody now
        pooled.db.execute("SELECT pg_notify('reconciled', 'sync_customer')")
    pooled.send("right-7b")
    pooled.wait_status("right-7b", "confirmed")
    assert "no work with the database" not in daemon.log
    pooler.halt()
    daemon.wait_log("no work with the database")
    pooler.start()
    connect_app(pooled, pooler)
    pooled.send("right-8")
    pooled.wait_status("right-8", "confirmed")
    assert history.holes(pooled.db) == {}
    assert daemon.stop() == 0


def test_migrating(cluster, pooler, tmp_path):
    cluster.create_database("pooled_empty", owner="migrator")
    made = tmp_path / "reconciled.yaml"
    (tmp_path / "key").write_text("k" * 32)
    made.write_text(f'database: "{pooler.conninfo("pooled_empty", "migrator")}"\n'
                    f'evidence_hash_key: "file:{tmp_path}/key"\n')
    for _ in range(2):  # the second finds nothing to do
        subprocess.run([installation.BUILD / "reconciled", "--config", made, "--migrate"],
                       check=True)
    with cluster.connect("pooled_empty") as admin:
        assert admin.execute("SELECT count(*) > 10 FROM reconcile.schema_migrations"
                             ).fetchone() == (True,)
    with cluster.connect() as admin:
        admin.execute("DROP DATABASE pooled_empty WITH (FORCE)")
