# SPDX-License-Identifier: Apache-2.0
"""reconcilectl explain: asks now, shows each rule with what it saw, and changes nothing."""

import json

import pytest

from target import answer_json
from test_ctl import on_terminal
from test_promise_13_reading_changes_nothing import snapshot

POLICY = """
operation_type: sync_customer
target: crm
mode: {mode}
describe: {{effect: customer in the CRM, truth: CRM, proof: version, owner: sales}}
latency_window: 5m
probes:
  - name: by_id
    needs: [remote_id]
    get: /ids/{{remote_id}}
    found: {{status: 200, /id: {{present: true}}}}
    absent: {{status: 404, /error: not_found}}
  - name: by_key
    get: /customers/{{business_key}}
    found: {{status: 200, /id: {{present: true}}}}
    absent: {{status: 404, /error: not_found}}
    remote_id: /id
absence: {{confirm: {confirm}, over: 0s}}
judge:
  - {{when: {{/state: archived}}, class: divergent, why: archived by somebody}}
  - {{when: {{/state: [draft, open]}}, class: compare}}
compare:
  version: {{found: /version, type: version, is: op.version}}
  email: {{found: /email, is: op./expected/email}}
evidence: {{keep: [/id, /state]}}
idempotent: natural
actions: {{missing: requeue}}
"""
CONTROL = "control: {get: /customers/control, found: {status: 200}}"
EMAIL = "jane@example.org"


@pytest.fixture
def shop(world, crm):
    """One that is right, one with another address, one that is not there."""
    policy(world)
    world.target(crm.url, more=CONTROL)
    crm.serve({"a-right": {"id": "c7", "version": 7, "email": EMAIL, "state": "open"},
               "b-other": {"id": "c9", "version": 7, "email": "joe@example.org", "state": "open"},
               "control": {"id": "c0"}})
    for name in ("a-right", "b-other", "c-absent"):
        world.send(name, expected={"email": EMAIL})
    return world


def policy(world, mode="enforce", confirm=1):
    world.policy(text=POLICY.format(mode=mode, confirm=confirm))


def explain(world, operation_id, expect=0, **options):
    run = world.run("reconcilectl", "--json", "explain", operation_id, **options)
    assert run.code == expect, run
    return run.json if expect == 0 else run


def held(rules):
    return [(rule["rule"], rule["held"]) for rule in rules]


def seen(rules, name):
    [rule] = [rule for rule in rules if rule["rule"] == name]
    return [(test["at"], test["test"], test["seen"], test["held"]) for test in rule["tests"]]


def test_the_operation_the_questions_and_the_verdict(shop):
    found = explain(shop, "a-right")
    operation = found["operation"]
    assert (operation["operation_id"], operation["operation_type"], operation["target"]) == (
        "a-right", "sync_customer", "crm")
    assert (operation["entity_id"], operation["version"], operation["status"]) == (
        "a-right", "7", "awaiting_confirmation")
    assert 3600 <= operation["age"] < 7200
    [asked, other] = found["probes"]
    assert other == {"probe": "by_id", "asked": False, "why": "it needs remote_id, which the operation has not"}
    assert (asked["probe"], asked["method"], asked["url"], asked["status"], asked["reading"], asked["reason"]) == (
        "by_key", "GET", "/customers/{business_key}", 200, "found", None)
    assert asked["bytes"] == len(json.dumps({"id": "c7", "version": 7, "email": EMAIL, "state": "open"}))
    assert held(asked["rules"]) == [("absent", False), ("found", True)]
    assert seen(asked["rules"], "absent") == [("status", "is 404", ["200"], False), ("/error", "is not_found", [], False)]
    assert seen(asked["rules"], "found") == [("status", "is 200", ["200"], True), ("/id", "is there", ["c7"], True)]
    assert held(found["rules"]) == [("judge[0]", False), ("judge[1]", True), ("compare", True)]
    assert seen(found["rules"], "judge[0]") == [("/state", "is archived", ["open"], False)]
    assert seen(found["rules"], "judge[1]") == [("/state", "is one of draft, open", ["open"], True)]
    assert found["rules"][0]["note"] == "divergent: archived by somebody"
    assert (found["class"], found["reason"], found["rule"], found["action"], found["decided"]) == (
        "correct", "fields_equal", "compare", "confirm", "correct-confirm")
    assert found["mode"] == "enforce" and found["control"] == "found" and found["clauses"] == []


def test_what_differs_is_a_hash_unless_it_is_kept(shop):
    found = explain(shop, "b-other")
    assert (found["class"], found["reason"], found["action"]) == ("divergent", "field_differs", "review")
    compared = {field["field"]: field for field in found["compared"]}
    assert compared["version"]["result"] == "equal"
    email = compared["email"]
    assert email["result"] == "different" and email["expected"] != email["found"]
    assert email["expected"].startswith("hmac:") and email["found"].startswith("hmac:")
    assert found["kept"] == {"/id": "c9", "/state": "open"}


def test_each_clause_of_a_second_send(shop):
    found = explain(shop, "c-absent")
    assert (found["class"], found["reason"], found["rule"], found["action"]) == (
        "missing", "absent_confirmed", "absence", "requeue")
    assert found["clauses"] == [{"name": name, "ok": True} for name in (
        "idempotent", "same_key", "key_fresh", "attempt_over", "wanted", "undisputed", "fresh", "control",
        "limits", "guard")]
    assert found["earned"] == {"looks": 1, "confirm": 1, "seconds": 0, "over": 0, "inconclusive": 0, "give_up": 12}


def test_a_tripped_guard_is_a_clause_that_fails(shop):
    shop.db.execute("INSERT INTO reconcile.guards (kind, name, reason) VALUES ('type', 'sync_customer', 'test')")
    found = explain(shop, "c-absent")
    assert (found["class"], found["action"], found["decided"], found["recommended"]) == (
        "missing", "wait", "guard-wait", "requeue")
    assert {"name": "guard", "ok": False} in found["clauses"]


def test_what_is_earned_so_far(shop):
    policy(shop, confirm=2)
    found = explain(shop, "c-absent")
    assert (found["class"], found["reason"], found["action"]) == ("waiting", "absent_unconfirmed", "wait")
    assert found["earned"]["looks"] == 1
    shop.once()
    assert explain(shop, "c-absent")["earned"]["looks"] == 2
    assert explain(shop, "c-absent")["earned"]["looks"] == 2  # none of these looks was recorded


def test_while_observing_it_says_what_would_be_done(shop):
    policy(shop, mode="observe")
    found = explain(shop, "a-right")
    assert (found["mode"], found["action"]) == ("observe", "confirm")
    assert "confirm, but the policy only observes" in shop.run("reconcilectl", "explain", "a-right").out


@pytest.mark.parametrize("operation_id", ["a-right", "b-other", "c-absent"])
def test_nothing_is_changed(shop, operation_id):
    rows = "SELECT *, xmin::text FROM reconcile.operations ORDER BY operation_id"
    before, all_before = shop.db.execute(rows).fetchall(), snapshot(shop)
    explain(shop, operation_id)
    assert shop.run("reconcilectl", "explain", operation_id).code == 0
    assert shop.db.execute(rows).fetchall() == before and snapshot(shop) == all_before


def test_an_operator_may_ask(shop):
    shop.settings(database=json.dumps(shop.cluster.conninfo(shop.database, "operator_login")))
    assert explain(shop, "a-right")["class"] == "correct"


def test_a_target_that_is_away(shop, crm):
    crm.answer = lambda request: None
    found = explain(shop, "a-right")
    assert (found["class"], found["rule"], found["action"], found["control"]) == (
        "inconclusive", "probe", "wait", "absent")
    [asked] = [probe for probe in found["probes"] if probe["asked"]]
    assert asked["status"] is None and asked["rules"] == []
    assert asked["note"] == f"no answer ({found['reason']}), so no rule is tried"


def test_a_status_that_is_never_evidence(shop, crm):
    crm.answer = lambda request: answer_json({"id": "c0"}, 200 if "control" in request.path else 503)
    found = explain(shop, "a-right")
    assert (found["class"], found["reason"]) == ("inconclusive", "throttled")
    [asked] = [probe for probe in found["probes"] if probe["asked"]]
    assert asked["note"] == "status 503 is never evidence, so no rule is tried"


def test_an_unsafe_reference_is_asked_about_nowhere(shop, crm):
    shop.send("d-unsafe", business_key="a/../b")
    crm.requests.clear()
    found = explain(shop, "d-unsafe")
    assert (found["class"], found["reason"], found["rule"], found["action"]) == (
        "ambiguous", "bad_reference", "reference", "review")
    assert [probe["asked"] for probe in found["probes"]] == [False, False]
    assert found["probes"][1]["why"] == "what it would send is no safe reference"
    assert crm.asked("/customers/a") == []


LIST = """
operation_type: sync_customer
target: crm
latency_window: 5m
probes:
  - name: search
    get: /search
    query: {key: "{business_key}"}
    found: {status: 200}
    items: /data
    where: {/key: op.business_key}
    complete: {/more: false}
compare: {version: {found: /version, type: version, is: op.version}}
evidence: {keep: [/key]}
"""


def test_items_of_others_are_never_shown(shop, crm):
    """Kept values of an item that is not ours are somebody else's."""
    shop.policy(text=LIST)
    items = [{"key": "somebody-else", "version": 7}, {"key": "a-right", "version": 7}]
    crm.answer = lambda request: answer_json({"data": items, "more": False})
    run = shop.run("reconcilectl", "--json", "explain", "a-right")
    [asked] = run.json["probes"]
    assert held(asked["rules"]) == [("found", True), ("where, item 1", False), ("where, item 2", True), ("items", True),
                                    ("complete", True)]
    [(_, _, [other], _)] = seen(asked["rules"], "where, item 1")
    assert other.startswith("hmac:")
    assert seen(asked["rules"], "where, item 2") == [("/key", "is op.business_key", ["a-right"], True)]
    assert [rule["note"] for rule in asked["rules"] if rule["rule"] == "items"] == ["2 listed, 1 ours"]
    assert "somebody-else" not in run.out


STALE = """
operation_type: sync_customer
target: crm
latency_window: 5m
probes:
  - name: search
    get: /search
    query: {key: "{business_key}"}
    found: {status: 200, /data: {present: true}}
    items: /data
    where: {/key: op.business_key}
    complete: {/more: false}
    stale: true
    then: {probe: by_id, with: {remote_id: /id}}
  - name: by_id
    needs: [remote_id]
    get: /ids/{remote_id}
    found: {status: 200, /id: op.remote_id}
    absent: {status: 404, /error: not_found}
compare: {version: {found: /version, type: version, is: op.version}}
evidence: {keep: [/id]}
"""


def test_the_second_read_is_explained_with_its_own_values(shop, crm):
    """`by_id` was asked for an id that the operation has not: it came from the first answer."""
    shop.policy(text=STALE)
    answers = {"/search": {"data": [{"key": "a-right", "id": "c7", "version": 6}], "more": False},
               "/ids/c7": {"id": "c7", "version": 7}}
    crm.answer = lambda request: answer_json(answers.get(request.path, {"id": "c0"}))
    found = explain(shop, "a-right")
    assert [(probe["probe"], probe["second_read"]) for probe in found["probes"]] == [("search", False), ("by_id", True)]
    assert seen(found["probes"][1]["rules"], "found") == [
        ("status", "is 200", ["200"], True), ("/id", "is op.remote_id", ["c7"], True)]
    assert (found["class"], found["reason"]) == ("correct", "fields_equal")


def test_no_secret_and_no_address_of_a_person(shop, crm, monkeypatch):
    monkeypatch.setenv("CRM_TOKEN", "token-of-the-crm")
    shop.target(crm.url, more=CONTROL + '\nauth: {bearer: "env:CRM_TOKEN"}')
    for operation_id in ("a-right", "b-other", "c-absent"):
        for arguments in (["explain"], ["--json", "explain"]):
            run = shop.run("reconcilectl", *arguments, operation_id)
            assert run.code == 0, run
            for secret in ("token-of-the-crm", EMAIL, "joe@example.org", shop.hash_key):
                assert secret not in run.out + run.err
    assert {request.headers["authorization"] for request in crm.requests} == {"Bearer token-of-the-crm"}


def test_a_missing_secret_is_named(shop, crm):
    shop.target(crm.url, more=CONTROL + '\nauth: {bearer: "file:/nowhere/token"}')
    run = explain(shop, "a-right", expect=2)
    assert "file:/nowhere/token" in run.err and "crm.yaml:" in run.err and run.out == ""


def test_secrets_of_other_targets_are_not_needed(shop, crm):
    shop.target("https://other.example", more='auth: {bearer: "file:/nowhere/token"}', name="other")
    assert explain(shop, "a-right")["class"] == "correct"


def test_what_is_unknown(shop):
    assert 'unknown operation "nobody"' in explain(shop, "nobody", expect=1).err
    shop.send("e-order", operation_type="order")
    assert 'no policy for the type "order"' in explain(shop, "e-order", expect=1).err


@pytest.mark.parametrize("operation_id", ["a-right", "b-other", "c-absent"])
def test_on_a_terminal_of_eighty_columns(shop, operation_id):
    text, code = on_terminal(shop, "explain", operation_id, NO_COLOR="1")
    assert code == 0
    assert max(map(len, text.splitlines())) <= 80
    assert text.splitlines()[0] == operation_id and text.rstrip().endswith("Nothing was changed.")
    for heading in ("Questions", "Rules", "Verdict"):
        assert heading in text.splitlines()


def test_the_words_for_people(shop):
    lines = [" ".join(line.split()) for line in shop.run("reconcilectl", "explain", "c-absent").out.splitlines()]
    for line in ("type sync_customer at crm, enforced", "question GET /customers/{business_key}",
                 "absent held", "yes status is 404; saw 404", "absence held",
                 "verdict missing (absent_confirmed), by the rule absence", "action requeue",
                 "decided by missing-requeue", "key_fresh ok", "earned 1 of 1 looks, over 0s of 0s",
                 "control object found"):
        assert line in lines


def test_a_hostile_answer_moves_no_cursor(shop, crm):
    crm.answer = lambda request: answer_json({"id": "\x1b[2Jc7", "version": 7, "email": EMAIL, "state": "\u202eopen"})
    text, code = on_terminal(shop, "explain", "a-right", NO_COLOR="1")
    assert code == 0 and "\x1b" not in text and "\u202e" not in text


def shown(world, operation_id):
    """The facts under Verdict as a terminal shows them: name and text."""
    text, code = on_terminal(world, "explain", operation_id, columns=200, NO_COLOR="1")
    assert code == 0
    return {line[2:19].strip(): line[19:].strip() for line in text.split("\nVerdict\n")[1].splitlines()}


def test_the_next_look_is_that_of_the_operation_as_this_one_is_not_recorded(shop):
    policy(shop, confirm=2)
    due = "UPDATE reconcile.operations SET due_at = %s WHERE operation_id = 'c-absent'"
    shop.db.execute(due, ["2031-02-03T04:05:06Z"])
    facts = shown(shop, "c-absent")
    assert facts["next look"] == "2031-02-03 04:05:06Z"
    assert facts["and then"].endswith(" later, if that one sees the same")
    shop.db.execute(due, [None])
    facts = shown(shop, "c-absent")
    assert facts["next look"] == "none" and "and then" not in facts
