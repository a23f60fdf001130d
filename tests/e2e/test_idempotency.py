# SPDX-License-Identifier: Apache-2.0
"""A client repeats its request; what the daemon found out is its answer."""

import pytest

from target import answer_json

RESERVE = """SELECT * FROM reconcile.reserve('', 'sync', %(key)s, '{"version": 7}',
    operation_id => %(id)s, lease => %(lease)s)"""
COMPLETE = """SELECT reconcile.complete('', 'sync', %(key)s, %(owner)s, 201, %(body)s,
    'application/json')"""
BODY = b'{"customer": "c1"}\x00'


@pytest.fixture
def reserve(world):
    def as_client(name, lease="1 min"):
        return world.app.execute(RESERVE, {"key": f"k-{name}", "id": name, "lease": lease}).fetchone()

    return as_client


def record(world, name):
    return world.db.execute("SELECT * FROM reconcile.idempotency_records WHERE key = %s",
                            [f"k-{name}"]).fetchone()


def found(request):
    return answer_json({"id": "c1", "version": 7})


@pytest.mark.parametrize("lease", ["1 min", "0 s"])
def test_a_confirmed_operation_is_the_answer(world, crm, reserve, lease):
    """The answer of the target was lost, and the one who asked it died."""
    crm.answer = found
    world.policy()
    world.settings(interval="1s")
    held = reserve("op-1", lease)
    world.send("op-1")
    again = reserve("op-1")["outcome"]
    assert again == ("in_progress" if lease == "1 min" else "uncertain")
    world.start_daemon()
    world.wait_for(lambda: record(world, "op-1")["status"] == "completed", what="the settlement")
    row = record(world, "op-1")
    assert (row["resource_id"], row["response_body"]) == ("c1", None)
    assert row["expires_at"] - row["updated_at"] == row["ttl"]
    replay = reserve("op-1")
    assert (replay["outcome"], replay["resource_id"], replay["operation_id"]) == \
        ("replay", "c1", "op-1")
    world.app.execute(COMPLETE, {"key": "k-op-1", "owner": held["owner"], "body": BODY})
    assert (reserve("op-1")["response_body"], reserve("op-1")["response_code"]) == (BODY, 201)


def test_what_is_still_open_settles_nothing(world, crm, reserve):
    crm.answer = lambda request: answer_json({"id": "c1", "version": 6})
    world.policy()
    world.settings(interval="1s")
    reserve("op-2", "0 s")
    world.send("op-2")
    world.start_daemon()
    world.wait_status("op-2", "manual_review")
    assert record(world, "op-2")["status"] == "processing"
    assert reserve("op-2")["outcome"] == "uncertain"


def test_an_expired_lease_is_asked_about_at_once(world, crm, reserve):
    """Its window would have been over in five minutes only."""
    crm.answer = found
    world.policy()
    world.settings(interval="1s")
    reserve("op-3", "0 s")
    world.request("op-3")
    world.app.execute("SELECT reconcile.start('op-3', lease => '0 s')")
    world.app.execute("SELECT reconcile.sent('op-3')")
    world.start_daemon()
    assert world.operation("op-3")["checks"] == 0
    assert reserve("op-3")["outcome"] == "uncertain"
    world.wait_status("op-3", "confirmed")
    world.wait_for(lambda: reserve("op-3")["outcome"] == "replay", what="the answer")
