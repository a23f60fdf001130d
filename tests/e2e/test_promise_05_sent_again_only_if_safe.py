# SPDX-License-Identifier: Apache-2.0
"""Promise 5: nothing is sent again unless every clause holds; each is recorded. Trap 55."""

import pytest

from shop_orders import (ALL_HOLD, PAYLOAD, Shop, claim, clauses, failed, let_time_pass, order, policy,
                    send, sent)


@pytest.fixture
def shop(world, target):
    return Shop(world, target)


@pytest.fixture(params=["once", "daemon"])
def look(request, world):
    """look(operation_id): the program looks once at it, as --once or as a daemon."""
    started = []

    def with_daemon(operation_id):
        before = world.operation(operation_id)["checks"]
        if not started:
            world.settings(interval="1s")
            started.append(world.start_daemon())
        world.db.execute("UPDATE reconcile.operations SET due_at = clock_timestamp()"
                         " WHERE operation_id = %s AND due_at > clock_timestamp() + interval '10 s'",
                         [operation_id])
        world.wait_for(lambda: world.operation(operation_id)["checks"] > before, what="a look")

    def with_once(operation_id):
        world.once("--operation", operation_id)

    return with_once if request.param == "once" else with_daemon


def seconds(delta):
    return round(delta.total_seconds())


# all clauses hold


def test_a_missing_operation_is_handed_to_its_workers_again(world, shop, look):
    policy(world)
    send(world)
    look("op-1")
    operation, row = world.operation("op-1"), world.journal("op-1")[-1]
    assert (operation["status"], operation["requeues"], operation["class"], operation["reason"]) == \
        ("retry_scheduled", 1, "missing", "absent_confirmed")
    assert seconds(operation["next_attempt_at"] - row["at"]) == 60
    assert operation["due_at"] > operation["next_attempt_at"]
    assert (row["actor"], row["event"], row["action"]) == ("reconciled:test", "requeued", "requeue")
    assert (row["from_status"], row["to_status"]) == ("awaiting_confirmation", "retry_scheduled")
    assert clauses(world) == ALL_HOLD
    assert world.evidence("op-1")["decided"] == "missing-requeue"
    assert world.events("op-1") == ["operation.requested", "operation.requeued"]


def test_the_worker_gets_the_same_key_and_the_same_bytes(world, shop, look):
    policy(world)
    send(world)
    first = world.operation("op-1")
    for times in (1, 2, 3):
        look("op-1")
        assert world.operation("op-1")["requeues"] == times
        assert claim(world) == []  # not before its time
        let_time_pass(world)
        [again] = claim(world)
        for name in ("operation_id", "idempotency_key", "business_key", "expected", "fingerprint",
                     "first_sent_at"):
            assert again[name] == first[name], name
        assert again["payload"] == PAYLOAD
        assert (again["status"], again["attempts"]) == ("processing", times + 1)
        sent(world)
        first = world.operation("op-1")
    assert world.events("op-1").count("operation.requeued") == 3


def test_the_pauses_grow_as_the_policy_says(world, shop):
    policy(world)
    send(world)
    for pause in (60, 120, 240):
        world.once("--operation", "op-1")
        operation, row = world.operation("op-1"), world.journal("op-1")[-1]
        assert seconds(operation["next_attempt_at"] - row["at"]) == pause
        let_time_pass(world)
        assert len(claim(world)) == 1
        sent(world)


def test_what_waits_for_its_worker_goes_on_waiting(world, shop, look):
    policy(world)
    send(world)
    look("op-1")
    before = world.operation("op-1")
    for _ in range(3):
        look("op-1")
    operation = world.operation("op-1")
    assert (operation["status"], operation["requeues"], operation["next_attempt_at"]) == \
        ("retry_scheduled", 1, before["next_attempt_at"])
    assert world.events("op-1").count("operation.requeued") == 1


def test_an_attempt_that_died_without_a_word_is_sent_again_after_its_lease_and_window(world, shop):
    """Nobody called sent(): the send may have left until the lease ended."""
    policy(world)
    order(world)
    world.app.execute("SELECT reconcile.start('op-1', lease => interval '30 s')")
    world.once("--operation", "op-1")
    assert world.operation("op-1")["status"] == "processing"
    world.db.execute("UPDATE reconcile.operations SET first_sent_at = first_sent_at - interval '2 min',"
                     " sent_at = sent_at - interval '2 min',"
                     " attempt_until = attempt_until - interval '2 min'")
    line = world.once("--operation", "op-1").of("op-1")
    assert (line["class"], line["action"], line["status"]) == ("missing", "requeue", "retry_scheduled")
    assert world.journal("op-1")[-1]["from_status"] == "processing"
    assert world.operation("op-1")["attempt_until"] is None


def test_observing_says_what_would_be_done(world, shop):
    policy(world)
    world.policy(text=(world.directory / "policies.d/create_order.yaml").read_text()
                 .replace("mode: enforce", "mode: observe"))
    send(world)
    line = world.once("--operation", "op-1").of("op-1")
    assert (line["class"], line["action"], line["status"]) == \
        ("missing", "requeue", "awaiting_confirmation")
    operation = world.operation("op-1")
    assert (operation["requeues"], operation["next_attempt_at"]) == (0, None)
    assert operation["recommended_action"] == "requeue"
    assert world.events("op-1") == ["operation.requested"]


# each clause fails alone


def without_a_key(world, shop, look):
    policy(world)
    send(world, idempotency_key=None)


def older_than_the_target_keeps_the_key(world, shop, look):
    policy(world, resend="{key_valid: 2h}")
    send(world, ago="2 hours 1 second")


def older_when_workers_may_take_it(world, shop, look):
    policy(world, resend="{key_valid: 2h}")
    send(world, ago="1 hour 59 minutes 30 seconds")  # requeue.delay is a minute


def replaced_by_a_newer_version(world, shop, look):
    policy(world)
    send(world, entity_id="e", version="7", expected={"total": "10.50"})
    order(world, "op-2", entity_id="e", version="8")
    assert world.operation("op-1")["superseded_by"] == "op-2"


def of_a_cancelled_entity(world, shop, look):
    policy(world)
    send(world, entity_id="e")
    world.app.execute("SELECT reconcile.set_entity_state('order', 'e', 'cancelled')")


def cancelled_after_the_send(world, shop, look):
    policy(world)
    send(world)
    world.app.execute("SELECT reconcile.cancel('op-1', 'not wanted any more')")


def once_seen_different(world, shop, look):
    policy(world, actions="{missing: requeue, divergent: wait}")
    send(world)
    shop.orders["op-1"] = {"id": "o-1", "total": "99.00"}
    look("op-1")
    assert world.operation("op-1")["class"] == "divergent"
    shop.orders.clear()


def sent_again_often_enough(world, shop, look):
    policy(world, requeue="{max: 1, delay: 1m}")
    send(world)
    look("op-1")
    let_time_pass(world)
    assert len(claim(world)) == 1
    sent(world)


def attempted_often_enough(world, shop, look):
    policy(world, attempts="{max: 1}")
    send(world)


@pytest.mark.parametrize("prepare, clause", [
    (without_a_key, "same_key"),
    (older_than_the_target_keeps_the_key, "key_fresh"),
    (older_when_workers_may_take_it, "key_fresh"),
    (replaced_by_a_newer_version, "wanted"),
    (of_a_cancelled_entity, "wanted"),
    (cancelled_after_the_send, "wanted"),
    (once_seen_different, "undisputed"),
    (sent_again_often_enough, "limits"),
    (attempted_often_enough, "limits"),
])
def test_one_clause_that_fails_is_a_case_for_a_person(world, shop, look, prepare, clause):
    prepare(world, shop, look)
    requeued = world.operation("op-1")["requeues"]
    look("op-1")
    operation, row = world.operation("op-1"), world.journal("op-1")[-1]
    assert (operation["status"], operation["class"], operation["recommended_action"]) == \
        ("manual_review", "missing", "requeue")
    assert failed(world) == [clause]
    assert world.evidence("op-1")["decided"] == "missing-requeue-review"
    assert (row["event"], row["action"]) == ("review", "review")
    assert (operation["requeues"], operation["next_attempt_at"]) == (requeued, None)
    assert world.events("op-1")[-1] == "operation.review"
    assert "op-1" not in [row["operation_id"] for row in claim(world)]
    look("op-1")  # and there it stays, although the daemon goes on looking
    assert world.operation("op-1")["status"] == "manual_review"
    assert world.operation("op-1")["requeues"] == requeued


def test_a_living_attempt_is_waited_for(world, shop, look):
    """The absence of what may still be on its way is not evidence, so it does not come to a case."""
    policy(world)
    order(world)
    world.app.execute("SELECT reconcile.start('op-1', lease => interval '1 hour')")
    world.db.execute("UPDATE reconcile.operations SET first_sent_at = first_sent_at - interval '1 day',"
                     " sent_at = sent_at - interval '1 day'")
    look("op-1")
    operation = world.operation("op-1")
    assert (operation["status"], operation["class"], operation["absences"]) == ("processing", None, 0)
    assert world.events("op-1") == ["operation.requested"]


def test_without_the_control_nothing_is_earned(world, shop):
    policy(world)
    send(world)
    shop.control = False
    line = world.once("--operation", "op-1", expect=3).of("op-1")
    assert (line["class"], line["reason"], line["status"]) == \
        ("inconclusive", "control", "awaiting_confirmation")
    shop.control = True
    assert world.once("--operation", "op-1").of("op-1")["status"] == "retry_scheduled"


def test_an_older_copy_that_counts_as_missing_needs_the_control_too(world, shop):
    policy(world, outcome="{older: missing}", idempotent="conditional", resend=None)
    text = (world.directory / "policies.d/create_order.yaml").read_text()
    world.policy(text=text.replace("compare: {total: {found: /total, type: number, is: op./expected/total}}",
                                   "compare: {version: {found: /version, type: version, is: op.version}}"))
    send(world, version="7")
    shop.orders["op-1"] = {"id": "o-1", "version": 6}
    shop.control = False
    line = world.once("--operation", "op-1", expect=3).of("op-1")
    assert (line["class"], line["reason"], line["status"]) == \
        ("inconclusive", "control", "awaiting_confirmation")
    shop.control = True
    line = world.once("--operation", "op-1").of("op-1")
    assert (line["class"], line["reason"], line["action"], line["status"]) == \
        ("missing", "older", "requeue", "retry_scheduled")
    assert clauses(world) == ALL_HOLD


def test_a_tripped_guard_makes_it_wait(world, shop, look):
    policy(world)
    send(world)
    world.db.execute("INSERT INTO reconcile.guards (kind, name, reason)"
                     " VALUES ('type', 'create_order', 'max')")
    look("op-1")
    operation = world.operation("op-1")
    assert (operation["status"], operation["class"], operation["requeues"]) == \
        ("awaiting_confirmation", "missing", 0)
    assert operation["recommended_action"] == "requeue"
    assert failed(world) == ["guard"]
    assert world.evidence("op-1")["decided"] == "guard-wait"
    assert world.events("op-1") == ["operation.requested"]
    look("op-1")
    assert world.operation("op-1")["revision"] == operation["revision"]  # it told this already


def test_an_ambiguous_one_is_not_sent_again(world, shop, look):
    policy(world)
    send(world)
    shop.orders["op-1"] = {"id": "o-1", "total": None}
    look("op-1")
    operation = world.operation("op-1")
    assert (operation["status"], operation["class"], operation["requeues"]) == \
        ("manual_review", "ambiguous", 0)
    assert operation["recommended_action"] in (None, "review")


def test_a_key_that_expires_before_a_worker_comes_is_not_sent(world, shop):
    policy(world, resend="{key_valid: 2h}")
    send(world, ago="1 hour 30 minutes")
    world.once("--operation", "op-1")
    assert world.operation("op-1")["status"] == "retry_scheduled"
    world.age("op-1", "29 minutes")
    let_time_pass(world)
    assert claim(world) == []  # the lease of five minutes would outlive the key
    operation = world.operation("op-1")
    assert (operation["status"], operation["reason"], operation["attempts"]) == \
        ("manual_review", "key_expired", 1)


# policies that do not load


@pytest.mark.parametrize("changes, message", [
    ({"idempotent": None, "resend": None}, "requeue needs idempotent"),
    ({"idempotent": "no", "resend": None}, "requeue needs idempotent"),
    ({"resend": None}, "key_valid"),
    ({"resend": "{key_valid: 1m}"}, "key_valid"),
    ({"actions": "{missing: requeue, ambiguous: requeue}"}, "ambiguous"),
    ({"actions": "{divergent: requeue}"}, "divergent"),
    ({"stakes": "money"}, "when"),
    ({"stakes": "irreversible"}, "when"),
])
def test_a_policy_that_must_not_load(world, shop, changes, message):
    policy(world)
    assert world.run("reconciled", "--check-config").code == 0
    policy(world, **changes)
    send(world)
    for arguments in (["--check-config"], ["--once"], []):
        run = world.run("reconciled", *arguments)
        assert run.code == 2 and "create_order.yaml:" in run.err and message in run.err
    assert world.operation("op-1")["checks"] == 0


@pytest.mark.parametrize("control", ["", "control: none"])
def test_without_a_control_it_does_not_load(world, shop, control):
    policy(world)
    world.target(shop.http.url, more=control, name="shop")
    run = world.run("reconciled", "--check-config")
    assert run.code == 2 and "control" in run.err and "create_order.yaml:" in run.err


def test_what_is_idempotent_by_nature_needs_no_key(world, shop, look):
    policy(world, idempotent="natural", resend=None)
    send(world, ago="400 days", idempotency_key=None)
    look("op-1")
    assert world.operation("op-1")["status"] == "retry_scheduled"
    assert clauses(world) == ALL_HOLD
