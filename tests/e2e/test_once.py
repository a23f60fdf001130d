# SPDX-License-Identifier: Apache-2.0
"""reconciled --once: the article's example, order, limits, fairness, output."""

import re

from target import answer_json

THREE = {"article-correct": {"id": "c9", "version": 7}, "article-newer": {"id": "c9", "version": 8}}


def test_the_example_of_the_article(world, crm):
    """sync_customer, version 7 expected, the worker's request timed out."""
    world.policy(more="idempotent: natural\nactions: {missing: requeue}\n")
    world.target(crm.url, more="control: {get: /customers/control, found: {status: 200}}")
    crm.serve({**THREE, "control": {"id": "c0"}})
    for name in ("article-correct", "article-newer", "article-absent"):
        world.send(name)
    run = world.once()
    assert run.json["types"]["sync_customer"] == {
        "checked": 3, "missing": 1, "correct": 1, "divergent": 1, "ambiguous": 0,
        "not_applicable": 0, "waiting": 0, "inconclusive": 0, "stale": 0,
        "actions": {"confirm": 1, "requeue": 1, "review": 1}}
    assert run.of("article-correct") == {
        "operation_id": "article-correct", "operation_type": "sync_customer", "class": "correct",
        "reason": "fields_equal", "rule": "compare", "action": "confirm", "mode": "enforce",
        "status": "confirmed", "revision": 3}
    confirmed = world.operation("article-correct")
    assert confirmed["remote_id"] == "c9" and confirmed["closed_at"] and not confirmed["due_at"]
    newer = world.operation("article-newer")
    assert (newer["status"], newer["class"], newer["reason"]) == ("manual_review", "divergent", "newer")
    absent = world.operation("article-absent")
    assert (absent["status"], absent["class"], absent["requeues"]) == ("retry_scheduled", "missing", 1)
    assert {request.method for request in crm.requests} == {"GET"}  # nothing was overwritten
    evidence = world.evidence("article-newer")
    assert evidence["compared"] == [{"field": "version", "result": "newer", "expected": "7", "found": "8"}]
    assert evidence["decided"] == "divergent-review"
    assert evidence["rules"][-1] == {"rule": "compare", "held": True}


def test_the_worker_and_the_reconciler_confirm_by_one_path(world, crm):
    """Case P07: same journal row, same event; only actor and evidence differ."""
    world.policy()
    crm.serve({"by-us": {"id": "c1", "version": 7}})
    world.send("by-us")
    world.send("by-worker", ago="0s")
    world.app.execute("SELECT reconcile.confirm('by-worker', remote_id => 'c1')")
    world.once()
    ours, theirs = (world.journal(name)[-1] for name in ("by-us", "by-worker"))
    assert ours.keys() == theirs.keys()
    for column in ("event", "from_status", "to_status", "revision"):
        assert ours[column] == theirs[column], column
    assert ours["actor"] == "reconciled:test" and theirs["actor"].startswith("app:")
    events = {row["aggregateid"]: row for row in world.db.execute(
        "SELECT * FROM reconcile.outbox WHERE type = 'operation.confirmed'").fetchall()}
    ours, theirs = events["by-us"], events["by-worker"]
    assert ours["payload"].keys() == theirs["payload"].keys()
    assert (ours["aggregatetype"], ours["type"]) == (theirs["aggregatetype"], theirs["type"])


def test_the_oldest_comes_first_and_the_limit_holds(world, crm):
    world.policy()
    crm.answer = lambda request: answer_json({"id": "c", "version": 7})
    for i, ago in enumerate(["2 hours", "5 hours", "3 hours", "4 hours"]):
        world.send(f"op-{i}", ago=ago)
    run = world.once("--limit", "2")
    assert {o["operation_id"] for o in run.json["operations"]} == {"op-1", "op-3"}


def test_no_type_starves_another(world, crm):
    world.policy()
    world.policy(text=(world.directory / "policies.d/sync_customer.yaml").read_text()
                 .replace("sync_customer", "late_type"))
    crm.answer = lambda request: answer_json({"id": "c", "version": 7})
    for i in range(30):
        world.send(f"a-{i}", ago="9 hours")
    for i in range(10):
        world.send(f"z-{i}", operation_type="late_type", ago="1 hour")
    counts = world.once("--limit", "20").json["types"]
    assert (counts["sync_customer"]["checked"], counts["late_type"]["checked"]) == (10, 10)


def test_only_these_types(world, crm):
    world.policy()
    world.policy(text=(world.directory / "policies.d/sync_customer.yaml").read_text()
                 .replace("sync_customer", "other_type"))
    crm.answer = lambda request: answer_json({"id": "c", "version": 7})
    world.send("op-1")
    world.send("op-2", operation_type="other_type")
    run = world.once("--type", "other_type")
    assert list(run.json["types"]) == ["other_type"]
    assert [o["operation_id"] for o in run.json["operations"]] == ["op-2"]


def test_each_is_looked_at_once_although_looks_make_due_again(world, crm):
    world.policy(more="recheck: {first: 1s, factor: 1, jitter: 0%}\n")
    crm.answer = lambda request: answer_json({"neither": "found nor absent"})
    for i in range(25):
        world.send(f"op-{i}")
    world.settings(batch=10, max_in_flight=4)
    assert world.once().json["types"]["sync_customer"]["checked"] == 25
    assert len(crm.requests) == 25


def test_the_limit_of_a_target_holds(world, crm):
    import threading
    import time
    busy, most, lock = [0], [0], threading.Lock()

    def slow(request):
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        time.sleep(0.02)
        with lock:
            busy[0] -= 1
        return answer_json({"id": "c", "version": 7})

    world.policy()
    world.target(crm.url, more="rate: {concurrent: 3}")
    crm.answer = slow
    for i in range(40):
        world.send(f"op-{i}")
    assert world.once().json["types"]["sync_customer"]["correct"] == 40
    assert most[0] == 3


def test_paused_types_stay_paused(world, crm):
    world.policy()
    world.once()
    world.db.execute("UPDATE reconcile.operation_types SET paused = true")
    world.send("op-1")
    assert world.once().json["types"]["sync_customer"]["checked"] == 0
    assert "paused" in world.once("--operation", "op-1").err
    assert crm.requests == []


def test_the_summary_for_people(world, crm):
    world.policy()
    crm.serve(THREE)
    for name in ("article-correct", "article-newer", "article-absent"):
        world.send(name)
    run = world.run("reconciled", "--once")
    assert run.code == 0 and run.err == ""
    lines = run.out.splitlines()
    assert re.split(r"\s+", lines[0]) == ["type", "checked", "missing", "correct", "divergent",
                                          "ambiguous", "not_applicable", "waiting", "inconclusive",
                                          "stale", "actions"]
    assert re.split(r"\s+", lines[1], maxsplit=10) == [
        "sync_customer", "3", "1", "1", "1", "0", "0", "0", "0", "0", "confirm 1, review 2"]


def test_review_goes_on_looking_and_confirms_itself(world, crm):
    world.policy()
    world.send("op-1")
    assert world.once().of("op-1")["status"] == "manual_review"  # missing
    crm.serve({"op-1": {"id": "c1", "version": 7}})  # the effect came late
    world.make_due("op-1")
    line = world.once().of("op-1")
    assert (line["class"], line["status"]) == ("correct", "confirmed")


def test_what_was_once_divergent_does_not_confirm_itself(world, crm):
    world.policy()
    crm.serve({"op-1": {"id": "c1", "version": 8}})
    world.send("op-1")
    world.once()
    crm.serve({"op-1": {"id": "c1", "version": 7}})
    world.make_due("op-1")
    line = world.once().of("op-1")
    assert (line["class"], line["action"], line["status"]) == ("correct", "review", "manual_review")


def test_interrupted_is_whole(world, crm):
    import signal
    import threading
    asked = threading.Event()

    def slow(request):
        asked.set()
        import time
        time.sleep(0.3)
        return answer_json({"id": "c", "version": 7})

    world.policy()
    world.settings(max_in_flight=2)
    crm.answer = slow
    for i in range(30):
        world.send(f"op-{i:02}")
    running = world.start_once()
    assert asked.wait(20)
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate(timeout=20)
    assert running.returncode == 1 and "interrupted" in err
    confirmed = world.db.execute("SELECT count(*) AS n FROM reconcile.operations"
                                 " WHERE status = 'confirmed'").fetchone()["n"]
    assert 1 <= confirmed < 30
    assert out.count('"confirmed"') == confirmed


def test_interrupted_while_the_target_hangs(world, crm):
    import signal
    import threading
    asked, over = threading.Event(), threading.Event()

    def hang(request):
        asked.set()
        over.wait(90)

    world.policy()
    world.target(crm.url, more="timeout: {total: 5m}")
    crm.answer = hang
    world.send("op-1")
    before = world.operation("op-1")
    running = world.start_once()
    assert asked.wait(20)
    running.send_signal(signal.SIGTERM)
    _, err = running.communicate(timeout=60)
    over.set()
    assert running.returncode == 1 and "stays due" in err
    assert world.operation("op-1") == before
