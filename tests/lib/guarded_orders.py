# SPDX-License-Identifier: Apache-2.0
"""What became of orders whose type has a guard, and the word of a person about it."""

import json

AGAIN = "{first: 3s, factor: 1, max: 3s, jitter: 50%}"  # recheck


def one(world, query, *values):
    return next(iter(world.db.execute(query, values).fetchone().values()))


def requeued(world):
    """How many changes, not how many operations."""
    return one(world, "SELECT count(*) FROM reconcile.journal WHERE event = 'requeued'")


def waiting(world):
    """Missing ones that a guard keeps from being sent again, with what would be done."""
    return one(world, "SELECT count(*) FROM reconcile.operations WHERE class = 'missing'"
                      " AND status = 'awaiting_confirmation' AND recommended_action = 'requeue'")


def statuses(world):
    return {row["status"]: row["n"] for row in world.db.execute(
        "SELECT status, count(*) AS n FROM reconcile.operations GROUP BY 1").fetchall()}


def guards(world):
    return world.db.execute("SELECT * FROM reconcile.guards ORDER BY tripped_at").fetchall()


def wait_held(world, count, what="all others wait"):
    world.wait_for(lambda: waiting(world) == count, 90, what)


def looked_again(world):
    """Until everything that waits was looked at once more."""
    checks = {row["operation_id"]: row["checks"] for row in world.db.execute(
        "SELECT operation_id, checks FROM reconcile.operations"
        " WHERE status = 'awaiting_confirmation'").fetchall()}
    world.wait_for(lambda: one(
        world, "SELECT count(*) FROM reconcile.operations o JOIN jsonb_each_text(%s::jsonb) b"
        " ON b.key = o.operation_id WHERE o.checks <= b.value::int"
        " AND o.status = 'awaiting_confirmation'", json.dumps(checks)) == 0, 90, "another look")


def release(world, limit, expect=0):
    operator = world.directory / "operator.yaml"
    world.settings(operator, database=json.dumps(
        world.cluster.conninfo(world.database, "operator_login")))
    before, world.config = world.config, operator
    try:
        run = world.run("reconcilectl", "guard", "release", "create_order", "--limit", str(limit),
                        "--reason", "seen")
    finally:
        world.config = before
    assert run.code == expect, run
