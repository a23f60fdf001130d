# SPDX-License-Identifier: Apache-2.0
"""docs/adopting.md: its SQL and its policy do what the page says, beside jobs that do not know of it."""

import json
import pathlib
import re

import psycopg
import pytest

from target import answer_json

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs/adopting.md").read_text()
JOBS = ["done", "failed", "failed", "done"]  # in the shop: there, there, not there, other total


def blocks(language, heading="", text=PAGE):
    """Those of a language below a heading, up to the next one."""
    part = text.split(f"{heading}\n", 1)[1]
    part = re.split(r"^#+ ", part, maxsplit=1, flags=re.MULTILINE)[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", part, flags=re.MULTILINE | re.DOTALL)


class Warehouse:
    def __init__(self, target):
        self.orders = {}
        target.answer = self

    def __call__(self, request):
        found = self.orders.get(request.query.get("number"))
        return answer_json({"data": [found] if found else [], "has_more": False})


@pytest.fixture
def warehouse(world, target):
    world.target(target.url, name="warehouse")
    [policy] = blocks("yaml", "## 2. Observe")
    world.policy(text=policy + "absence: {confirm: 1, over: 0s}\n")
    made = Warehouse(target)
    for i, total in ((1, "10.50"), (2, "10.50"), (4, "1.00")):
        made.orders[f"n-{i}"] = {"id": f"wh-{i}", "number": f"n-{i}", "total": total}
    return made


@pytest.fixture
def jobs(world, warehouse):
    """The jobs table of somebody who has never heard of reconcile, and who works on it."""
    [table] = blocks("sql", "## 2. Observe")
    world.db.execute(table)
    world.cluster.create_login("job_worker")
    world.db.execute("GRANT SELECT, INSERT, UPDATE ON jobs TO job_worker")
    with world.cluster.connect(world.database, "job_worker") as worker:
        yield worker


def queue(jobs, payload, kind="place_order"):
    return jobs.execute("INSERT INTO jobs (kind, payload) VALUES (%s, %s) RETURNING id",
                        [kind, json.dumps(payload)]).fetchone()[0]


def finish(jobs, job, status):
    jobs.execute("UPDATE jobs SET status = 'running' WHERE id = %s", [job])
    jobs.execute("UPDATE jobs SET status = %s, finished_at = clock_timestamp() WHERE id = %s",
                 [status, job])


def run_jobs(jobs):
    for i, status in enumerate(JOBS, 1):
        finish(jobs, queue(jobs, {"number": f"n-{i}", "total": "10.50"}), status)
    finish(jobs, queue(jobs, {"mail": "x"}, kind="mail"), "done")
    queue(jobs, {"number": "n-6", "total": "10.50"})  # nobody took it yet


def observed(world):
    """What is said of each job, an hour later, by one pass."""
    ids = [row["operation_id"] for row in world.db.execute(
        "SELECT operation_id FROM reconcile.operations ORDER BY 1").fetchall()]
    for operation_id in ids:
        world.age(operation_id, "1 hour")
    world.once()
    rows = {name: world.operation(name) for name in ids}
    assert {row["status"] for row in rows.values()} == {"awaiting_confirmation"}
    assert {row["type"] for row in world.db.execute(
        "SELECT DISTINCT type FROM reconcile.outbox").fetchall()} == {"operation.requested"}
    return {name: (row["class"], row["recommended_action"]) for name, row in rows.items()}


VERDICTS = {"job-1": ("correct", "confirm"), "job-2": ("correct", "confirm"),
            "job-3": ("missing", "review"), "job-4": ("divergent", "review")}


@pytest.fixture
def trigger(world, jobs):
    [statements] = blocks("sql", "### By a trigger")
    world.db.execute("DROP ROLE IF EXISTS job_observer")
    world.db.execute(statements)
    yield
    world.db.execute("DROP TRIGGER observe_job ON jobs; DROP FUNCTION observe_job();"
                     "DROP ROLE job_observer")


def test_jobs_are_observed_by_a_trigger(world, jobs, trigger):
    run_jobs(jobs)
    assert observed(world) == VERDICTS
    assert world.db.execute("SELECT count(*) AS n FROM reconcile.content").fetchone()["n"] == 0


def test_a_job_that_runs_twice_is_one_operation(world, jobs, trigger):
    job = queue(jobs, {"number": "n-1", "total": "10.50"})
    finish(jobs, job, "failed")
    finish(jobs, job, "done")
    assert observed(world) == {"job-1": ("correct", "confirm")}
    assert [row["event"] for row in world.journal("job-1")] == ["requested", "observed"]


def test_a_job_that_is_rolled_back_is_not_observed(world, jobs, trigger):
    job = queue(jobs, {"number": "n-1", "total": "10.50"})
    with jobs.transaction(force_rollback=True):
        finish(jobs, job, "done")
    assert observed_count(world) == 0


def observed_count(world):
    return world.db.execute("SELECT count(*) AS n FROM reconcile.operations").fetchone()["n"]


@pytest.mark.parametrize("obstacle, undo", [
    ("ALTER SCHEMA reconcile RENAME TO elsewhere", "ALTER SCHEMA elsewhere RENAME TO reconcile"),
    ("REVOKE reconcile_app FROM job_observer", "GRANT reconcile_app TO job_observer")])
def test_a_trigger_that_fails_does_not_stop_the_job(world, jobs, trigger, obstacle, undo):
    notices = []
    jobs.add_notice_handler(lambda said: notices.append(said.message_primary))
    job = queue(jobs, {"number": "n-1", "total": "10.50"})
    world.db.execute(obstacle)
    try:
        finish(jobs, job, "done")
    finally:
        world.db.execute(undo)
    assert jobs.execute("SELECT status FROM jobs").fetchall() == [("done",)]
    [said] = notices
    assert said.startswith("job 1 is not observed: ")
    assert observed_count(world) == 0


def test_workers_need_no_right_to_call_anything(world, jobs, trigger):
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        jobs.execute("SELECT reconcile.request('place_order', 'op-1')")


def test_jobs_are_observed_by_a_view(world, jobs):
    view, statement = blocks("sql", "### By a view")
    world.db.execute(view)
    world.db.execute("GRANT SELECT ON jobs_to_observe TO app_login")
    run_jobs(jobs)
    long_ago = queue(jobs, {"number": "n-7", "total": "10.50"})
    finish(jobs, long_ago, "done")
    world.db.execute("UPDATE jobs SET finished_at = finished_at - interval '2 days' WHERE id = %s",
                     [long_ago])
    assert world.app.execute(statement).fetchone()["count"] == 4
    assert world.app.execute(statement).fetchone()["count"] == 0
    assert observed(world) == VERDICTS
