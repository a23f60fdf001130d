# SPDX-License-Identifier: Apache-2.0
"""Promise 13: no probe writes, and looking at operations writes nothing."""

import pytest
from target import answer_json

TABLES = ("operations", "content", "journal", "outbox", "tallies", "operation_types", "policies",
          "instances", "guards", "idempotency_records")


def snapshot(world):
    """Every row with the transaction that wrote it."""
    return {table: world.db.execute(
        f"SELECT count(*), coalesce(max(xmin::text::bigint), 0) FROM reconcile.{table}").fetchone()
        for table in TABLES}


@pytest.mark.parametrize("arguments", [["status"], ["list"], ["show", "op-1"], ["--json", "status"],
                                       ["explain", "op-1"], ["--json", "list"], ["--json", "show", "op-1"],
                                       ["--json", "explain", "op-1"]],
                         ids=" ".join)
def test_looking_writes_nothing(world, crm, arguments):
    world.policy()
    crm.serve({"op-1": {"id": "c1", "version": 8}})
    world.send("op-1")
    world.once()
    before = snapshot(world)
    run = world.run("reconcilectl", *arguments)
    assert run.code == 0, run
    assert snapshot(world) == before


def test_probes_only_read(world, crm):
    world.policy()
    world.target(crm.url, more="control: {head: /customers/control, found: {status: 200}}")
    for i in range(5):
        world.send(f"op-{i}")
    crm.answer = lambda request: answer_json({"id": "x", "version": 7})
    world.once()
    assert {request.method for request in crm.requests} == {"GET", "HEAD"}
    assert all(request.body == b"" for request in crm.requests)


def test_a_post_must_say_that_it_reads(world, crm):
    world.policy(text="""
operation_type: sync_customer
target: crm
probes:
  - post: /search
    json: {key: "{business_key}"}
    found: {status: 200}
    items: /data
    where: {/key: op.business_key}
compare: {version: {found: /version, type: version, is: op.version}}
""")
    run = world.run("reconciled", "--check-config")
    assert run.code == 2 and "reads" in run.err
