# SPDX-License-Identifier: Apache-2.0
"""reconcilectl policy test: written readings, judged as the daemon judges, without network or database."""

import json
import os
import subprocess
import textwrap

import pytest

from world import BUILD, Run

POLICY = """
operation_type: charge
target: pay
latency_window: 5m
probes:
  - name: by_id
    needs: [remote_id]
    get: /charges/{remote_id}
    found: {status: 200, /object: charge}
    absent: {status: 404, /error: gone_or_never}
  - name: by_reference
    get: /charges
    query: {reference: "{operation_id}"}
    found: {status: 200}
    items: /data
    where: {/reference: op.operation_id}
    complete: {/has_more: false}
absence: {confirm: 2, over: 10m, horizon: 30d}
judge:
  - {when: {/status: open}, class: waiting, why: still_open}
  - {when: {/status: failed}, class: divergent, why: the bank refused it}
compare:
  amount: {found: /amount, type: number, is: op./expected/amount}
waiting: {until: 2d}
give_up: 3
"""
TARGET = """
target: pay
base: https://pay.invalid/v1
auth: {bearer: "credential:never_read"}
control: {get: /charges/c, found: {status: 200}}
"""
FOUND = '{"object":"charge","reference":"op-1","status":"done","amount":10.99}'
LISTED = '{"data":[%s],"has_more":false}' % FOUND
EMPTY = '{"data":[],"has_more":false}'
OP = {"operation_id": "op-1", "expected": {"amount": 10.99}}
OP_WITH_ID = {**OP, "remote_id": "ch_1"}
RIGHT = {"class": "correct", "reason": "fields_equal", "rule": "compare", "action": "confirm"}


def listed(at, body=LISTED, **more):
    return {"at": at, "probe": "by_reference", "status": 200, "body": body, **more}


def by_id(at, body=FOUND, status=200):
    return {"at": at, "probe": "by_id", "status": status, "body": body}


NOT_BY_ID = '{"error":"gone_or_never"}'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "charge.yaml").write_text(POLICY)
    (tmp_path / "pay.yaml").write_text(TARGET)
    return tmp_path


def write(folder, *cases, name="tests.yaml", **more):
    """JSON is YAML."""
    file = folder / name
    file.write_text(json.dumps({"policy": "charge.yaml", "target": "pay.yaml", "cases": list(cases), **more}))
    return file


def policy_test(*arguments, expect=0, cwd="/"):
    done = subprocess.run([str(BUILD / "reconcilectl"), "policy", "test", *map(str, arguments)],
                          capture_output=True, text=True, check=False, cwd=cwd, timeout=60)
    run = Run(done)
    assert run.code == expect, run
    return run


def outcome(folder, *readings, op=None, expect=None, **more):
    """The one case, played; its expectation is the one that is given, or met in any case."""
    wanted = expect or {"class": "correct"}
    file = write(folder, {"name": "it", "operation": op or OP, "readings": list(readings),
                          "expect": wanted, **more})
    done = subprocess.run([str(BUILD / "reconcilectl"), "--json", "policy", "test", str(file)],
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in (0, 1), done
    [case] = json.loads(done.stdout)["cases"]
    return case


def is_like(case, **wanted):
    wanted["class"] = wanted.pop("klass")
    assert {name: case[name] for name in wanted} == wanted, case


# what is printed, and the exit code


def test_a_case_that_passes_and_one_that_does_not(folder):
    file = write(folder, {"name": "right", "operation": OP, "readings": [listed("20m")], "expect": RIGHT},
                 {"name": "wrong", "operation": OP, "readings": [listed("20m")],
                  "expect": {"class": "divergent", "action": "review"}})
    run = policy_test(file, expect=1)
    assert run.out == textwrap.dedent("""\
        ok      right: correct (fields_equal) by compare, confirm
        not ok  wrong: correct (fields_equal) by compare, confirm
                class: expected divergent, got correct
                action: expected review, got confirm
        1 passed, 1 failed
        """)
    assert run.err == ""


def test_json_has_the_members_that_programs_read(folder):
    file = write(folder, {"name": "right", "operation": OP, "readings": [listed("20m")], "expect": RIGHT})
    assert policy_test("--json", file).json == {
        "cases": [{"name": "right", "class": "correct", "reason": "fields_equal", "rule": "compare",
                   "action": "confirm", "ok": True}], "passed": 1, "failed": 0}


def test_several_files_give_one_object_that_names_them(folder):
    case = {"name": "right", "operation": OP, "readings": [listed("20m")], "expect": RIGHT}
    one = write(folder, case, name="one.yaml")
    two = write(folder, {**case, "expect": {"class": "missing"}}, name="two.yaml")
    found = policy_test("--json", one, two, expect=1).json
    assert [(case["file"], case["name"], case["ok"]) for case in found["cases"]] == [
        (str(one), "right", True), (str(two), "right", False)]
    assert found["cases"][1]["faults"] == ["class: expected missing, got correct"]
    assert (found["passed"], found["failed"]) == (1, 1)
    assert policy_test(one, two, expect=1).out.splitlines()[0] == str(one)


def test_tap(folder):
    file = write(folder, {"name": "right # not a directive", "operation": OP, "readings": [listed("20m")],
                          "expect": RIGHT},
                 {"name": "wrong", "operation": OP, "readings": [listed("20m")],
                  "expect": {"class": "missing"}})
    assert policy_test("--tap", file, expect=1).out.splitlines() == [
        "TAP version 13",
        f"# {file}",
        "ok 1 - right \\# not a directive",
        "# correct (fields_equal) by compare, confirm",
        "not ok 2 - wrong",
        "# correct (fields_equal) by compare, confirm",
        "# class: expected missing, got correct",
        "1..2",
        "# 1 passed, 1 failed"]


def test_tap_and_json_together_are_a_mistake(folder):
    file = write(folder, {"name": "right", "operation": OP, "readings": [listed("20m")], "expect": RIGHT})
    assert "--tap" in policy_test("--tap", "--json", file, expect=2).err


def test_paths_count_from_the_file(folder):
    (folder / "tests").mkdir()
    file = folder / "tests" / "t.yaml"
    file.write_text(json.dumps({"policy": "../charge.yaml", "target": "../pay.yaml", "cases": [
        {"name": "right", "operation": OP, "readings": [listed("20m")], "expect": RIGHT}]}))
    policy_test(file)
    policy_test("tests/t.yaml", cwd=folder)


def test_files_may_have_any_name(folder):
    """A draft beside the policy that is in use is tested as it is."""
    (folder / "charge.yaml").rename(folder / "charge-draft.yaml")
    (folder / "pay.yaml").rename(folder / "pay-sandbox.yaml")
    case = {"name": "right", "operation": OP, "readings": [listed("20m")], "expect": RIGHT}
    policy_test(write(folder, case, policy="charge-draft.yaml", target="pay-sandbox.yaml"))


# what does not load


@pytest.mark.parametrize("change, message", [
    ({"operation": {"operation_id": "op-1", "remote": "ch_1"}}, "remote: unknown key, nearest known key: remote_id"),
    ({"readings": [{**listed("20m"), "probe": "by_refrence"}]},
     'probe: the policy has no probe "by_refrence"; nearest: by_reference'),
    ({"readings": [{"at": "20m", "probe": "by_id", "receipt": "{}"}]}, "receipt: not supported yet"),
    ({"readings": [{"at": "20m", "probe": "by_id", "files": []}]}, "files: not supported yet"),
    ({"readings": [{"at": "20 minutes", "probe": "by_id", "status": 200}]}, "at: found \"20 minutes\""),
    ({"readings": [{"at": "20m", "probe": "by_id"}]}, "status or fault is missing"),
    ({"readings": [{"at": "20m", "probe": "by_id", "status": 200, "fault": "timeout"}]}, "fault: contradicts"),
    ({"readings": [{"at": "20m", "probe": "by_id", "fault": "slow"}]}, 'fault: found "slow"'),
    ({"expect": {"class": "right"}}, 'class: found "right"'),
    ({"expect": {"action": "confirm"}}, "class is missing"),
    ({"sent": "yesterday"}, 'sent: found "yesterday"'),
    ({"operation": {"operation_id": "op-1", "operation_type": "refund"}}, 'found "refund", allowed: "charge"'),
])
def test_what_does_not_load(folder, change, message):
    case = {"name": "it", "operation": OP, "readings": [listed("20m")], "expect": RIGHT, **change}
    run = policy_test(write(folder, case), expect=2)
    assert message in run.err and str(folder / "tests.yaml") in run.err
    assert run.out.endswith("does not load\n0 passed, 0 failed\n")


def test_two_cases_with_one_name_are_refused(folder):
    case = {"name": "it", "operation": OP, "readings": [listed("20m")], "expect": RIGHT}
    run = policy_test(write(folder, case, case), expect=2)
    assert 'name: "it" names a case already' in run.err


def test_a_policy_that_does_not_load_is_named_with_its_place(folder):
    (folder / "charge.yaml").write_text(POLICY + "actions: {ambiguous: requeue}\n")
    case = {"name": "it", "operation": OP, "readings": [listed("20m")], "expect": RIGHT}
    run = policy_test(write(folder, case), expect=2)
    assert f"{folder}/charge.yaml:" in run.err and "ambiguous" in run.err


def test_a_target_of_another_name_is_not_the_one(folder):
    (folder / "other.yaml").write_text(TARGET.replace("target: pay", "target: other"))
    file = folder / "t.yaml"
    file.write_text(json.dumps({"policy": "charge.yaml", "target": "other.yaml", "cases": [
        {"name": "it", "operation": OP, "expect": {"class": "inconclusive"}}]}))
    assert "target" in policy_test(file, expect=2).err


# looks over time


def test_the_first_probe_needs_an_id(folder):
    is_like(outcome(folder, by_id("20m"), op=OP_WITH_ID), klass="correct", ok=True)
    assert "faults" in outcome(folder, by_id("20m"))


def test_readings_of_one_time_are_one_look(folder):
    found = outcome(folder, by_id("20m", NOT_BY_ID, 404), listed("20m"), op=OP_WITH_ID, expect=RIGHT)
    assert found["ok"] and "unasked" not in found


def test_a_probe_without_a_reading_ends_the_look(folder):
    found = outcome(folder, by_id("20m", NOT_BY_ID, 404), op=OP_WITH_ID, expect={"class": "inconclusive"})
    is_like(found, klass="inconclusive", ok=True, action="wait", unasked="by_reference")


def test_no_readings_at_all(folder):
    is_like(outcome(folder, expect={"class": "inconclusive"}), klass="inconclusive", unasked="by_reference", ok=True)


def test_looks_that_end_early_never_give_up(folder):
    found = outcome(folder, *[by_id(f"{n}0m", NOT_BY_ID, 404) for n in range(1, 9)], op=OP_WITH_ID)
    is_like(found, klass="inconclusive", unasked="by_reference")


def test_a_reading_that_is_not_used_fails_the_case(folder):
    found = outcome(folder, by_id("20m"), listed("20m"), op=OP_WITH_ID, expect=RIGHT)
    is_like(found, klass="correct", ok=False, faults=["by_reference at 20m is not used: the look was over before"])


def test_times_out_of_order_fail_the_case(folder):
    found = outcome(folder, listed("20m"), listed("10m"), expect=RIGHT)
    assert not found["ok"]
    assert found["faults"] == ["by_reference at 10m is out of order: there is a later one before"]


def test_absence_is_earned_from_look_to_look(folder):
    looks = [listed("6m", EMPTY), listed("10m", EMPTY), listed("16m", EMPTY)]
    is_like(outcome(folder, looks[0]), klass="waiting", reason="absent_unconfirmed", rule="absence")
    is_like(outcome(folder, *looks[:2]), klass="waiting", reason="absent_unconfirmed")
    is_like(outcome(folder, *looks), klass="missing", reason="absent_confirmed", rule="absence", action="review")


def test_before_the_window_nothing_counts(folder):
    is_like(outcome(folder, listed("4m", EMPTY)), klass="waiting", reason="too_early")
    is_like(outcome(folder, listed("4m", EMPTY), listed("14m", EMPTY)), klass="waiting", reason="absent_unconfirmed")


def test_an_outage_between_takes_nothing_away(folder):
    fault = {"at": "8m", "probe": "by_reference", "fault": "timeout"}
    is_like(outcome(folder, listed("6m", EMPTY), fault, listed("16m", EMPTY)), klass="missing")
    is_like(outcome(folder, listed("6m", EMPTY), fault), klass="inconclusive", reason="timeout", rule="probe")


def test_something_else_between_begins_anew(folder):
    looks = [listed("6m", EMPTY), listed("10m"), listed("16m", EMPTY)]
    is_like(outcome(folder, *looks), klass="waiting", reason="absent_unconfirmed")


def test_now_is_when_the_last_look_is_judged(folder):
    still = listed("20m", LISTED.replace("done", "open"))
    is_like(outcome(folder, still), klass="waiting", reason="still_open", rule="judge[0]")
    is_like(outcome(folder, still, now="49h"), klass="ambiguous", reason="stuck_at_target")
    is_like(outcome(folder, listed("20m", EMPTY), now="31d"), klass="ambiguous", reason="beyond_horizon")
    is_like(outcome(folder, listed("4m", EMPTY), now="6m"), klass="waiting", reason="absent_unconfirmed")


def test_now_before_the_last_reading_fails_the_case(folder):
    found = outcome(folder, listed("20m"), now="10m", expect=RIGHT)
    assert not found["ok"] and found["faults"] == ["now is before the last reading"]


def test_a_lost_control_makes_absence_no_evidence(folder):
    looks = [listed("6m", EMPTY), listed("16m", EMPTY)]
    is_like(outcome(folder, *looks, control="found"), klass="missing")
    is_like(outcome(folder, *looks, control="absent"), klass="inconclusive", reason="control", rule="control")
    is_like(outcome(folder, listed("6m"), control="absent"), klass="correct")


def test_without_a_control_none_is_lost(folder):
    (folder / "pay.yaml").write_text(TARGET.replace("control:", "#"))
    is_like(outcome(folder, listed("6m", EMPTY), listed("16m", EMPTY), control="absent"), klass="missing")


def test_giving_up_is_counted(folder):
    odd = [listed(f"{n}0m", '{"data":[]}', status=204) for n in range(1, 4)]
    is_like(outcome(folder, *odd[:2]), klass="inconclusive", reason="unrecognised")
    is_like(outcome(folder, *odd), klass="ambiguous", reason="give_up", rule="give_up", action="review")


# the operation of a case


def test_the_last_send_is_where_at_counts_from(folder):
    """Also where the operation tells it itself; told twice, it must be the same."""
    policy = POLICY.replace('reference: "{operation_id}"', 'since: "{sent_at|rfc3339}"')
    (folder / "charge.yaml").write_text(policy)
    looks = [listed("6m", EMPTY), listed("16m", EMPTY)]
    is_like(outcome(folder, *looks, sent="2027-05-05T05:05:05Z"), klass="missing")
    is_like(outcome(folder, *looks, op={**OP, "sent_at": "2027-05-05T05:05:05Z"}), klass="missing")
    case = {"name": "it", "operation": {**OP, "sent_at": "2027-05-05T05:05:05Z"}, "readings": looks,
            "sent": "2027-05-05T05:05:06Z", "expect": {"class": "missing"}}
    assert "another moment" in policy_test(write(folder, case), expect=2).err


def test_what_no_worker_sent_is_not_missing(folder):
    op = {**OP, "first_sent_at": None}
    is_like(outcome(folder, listed("16m", EMPTY), op=op), klass="waiting", reason="never_sent", action="wait")
    is_like(outcome(folder, listed("16m"), op=op), klass="correct", action="confirm")


def test_a_living_attempt_moves_the_last_send(folder):
    op = {**OP, "attempt_until": "2026-03-01T12:10:00Z"}
    is_like(outcome(folder, listed("14m", EMPTY), op=op), klass="waiting", reason="too_early")
    is_like(outcome(folder, listed("15m", EMPTY), op=op), klass="waiting", reason="absent_unconfirmed")


@pytest.mark.parametrize("written, found, equal", [
    ("10.99", '10.99', True), ('"10.99"', '10.990', True), ("10.99", '"10.99"', True),
    ("1099e-2", '10.99', True), ("10.98", '10.99', False),
    ("12345678901234567890123", "12345678901234567890123", True),
    ("12345678901234567890123", "12345678901234567890124", False),
])
def test_expected_values_are_exact(folder, written, found, equal):
    body = LISTED.replace("10.99", found)
    (folder / "t.yaml").write_text(f"""
policy: charge.yaml
target: pay.yaml
cases:
  - name: it
    operation: {{operation_id: op-1, expected: {{amount: {written}}}}}
    readings: [{{at: 20m, probe: by_reference, status: 200, body: '{body}'}}]
    expect: {{class: {"correct" if equal else "divergent"}}}
""")
    policy_test(folder / "t.yaml")


def test_plain_and_quoted_values_have_their_types(folder):
    policy = POLICY.replace("type: number, is: op./expected/amount", "type: bool, is: op./expected/paid")
    (folder / "charge.yaml").write_text(policy)
    body = LISTED.replace("10.99", "true")
    is_like(outcome(folder, listed("20m", body), op={"operation_id": "op-1", "expected": {"paid": True}}), klass="correct")
    is_like(outcome(folder, listed("20m", body), op={"operation_id": "op-1", "expected": {}}), klass="ambiguous",
            reason="unreadable")


def test_no_reference_no_question(folder):
    is_like(outcome(folder, op={"expected": {}}), klass="ambiguous", reason="no_reliable_query", rule="applicable")
    is_like(outcome(folder, op={"operation_id": "op 1"}), klass="ambiguous", reason="bad_reference", rule="reference")


# the action


ENFORCED = POLICY + """
idempotent: key
resend: {key_valid: 1h}
actions: {missing: requeue}
"""


@pytest.mark.parametrize("change, now, action", [
    ({"idempotency_key": "k-1"}, None, "requeue"),
    ({}, None, "review"),  # no key to send again
    ({"idempotency_key": "k-1"}, "2h", "review"),  # the target has forgotten the key
    ({"idempotency_key": "k-1", "entity_state": "cancelled"}, None, "review"),
    ({"idempotency_key": "k-1", "superseded_by": "op-2"}, None, "review"),
    ({"idempotency_key": "k-1", "requeues": 3}, None, "review"),
    ({"idempotency_key": "k-1", "attempts": 5}, None, "review"),
    ({"idempotency_key": "k-1", "status": "retry_scheduled"}, None, "wait"),
])
def test_the_action_is_what_an_enforced_policy_would_do(folder, change, now, action):
    (folder / "charge.yaml").write_text(ENFORCED)
    more = {"now": now} if now else {}
    found = outcome(folder, listed("6m", EMPTY), listed("16m", EMPTY), op={**OP, **change}, **more)
    is_like(found, klass="missing", action=action)


def test_what_was_once_divergent_is_confirmed_by_a_person(folder):
    is_like(outcome(folder, listed("6m", LISTED.replace("10.99", "1")), listed("16m")), klass="correct", action="review")


# faults and pages


@pytest.mark.parametrize("fault", ["timeout", "refused", "dns", "tls", "truncated", "transport"])
def test_faults(folder, fault):
    is_like(outcome(folder, {"at": "20m", "probe": "by_reference", "fault": fault}), klass="inconclusive",
            reason=fault, rule="probe", action="wait")


def test_a_body_beyond_the_limit_is_not_read(folder):
    (folder / "pay.yaml").write_text(TARGET + "max_body: 1KiB\n")
    is_like(outcome(folder, listed("20m", LISTED + " " * 1024)), klass="inconclusive", reason="too_large")


def test_headers_are_found_in_any_case(folder):
    (folder / "charge.yaml").write_text(POLICY.replace("found: {status: 200}", "found: {header.x-kind: list}"))
    is_like(outcome(folder, listed("20m", headers={"X-Kind": "list"})), klass="correct")


PAGED = POLICY.replace("    complete: {/has_more: false}\n", "    pages: {next: /next, into: after}\n")


def page(items, following=None):
    return {"status": 200, "body": json.dumps({"data": items, "next": following})}


def pages(at, *list_of):
    return {"at": at, "probe": "by_reference", "pages": list(list_of)}


def test_pages_are_fed_in_order(folder):
    (folder / "charge.yaml").write_text(PAGED)
    ours = json.loads(FOUND)
    is_like(outcome(folder, pages("20m", page([{"reference": "x"}], "t1"), page([ours]))), klass="correct", ok=True)


def test_too_few_pages_end_the_look(folder):
    (folder / "charge.yaml").write_text(PAGED)
    found = outcome(folder, pages("20m", page([json.loads(FOUND)], "t1")))
    is_like(found, klass="inconclusive", unasked="by_reference, page 2")


def test_pages_that_are_not_used_fail_the_case(folder):
    (folder / "charge.yaml").write_text(PAGED)
    found = outcome(folder, pages("20m", page([json.loads(FOUND)]), page([])))
    is_like(found, klass="correct", ok=False, faults=["by_reference at 20m: 1 of 2 pages are not used"])


STALE = """
operation_type: charge
target: pay
latency_window: 5m
probes:
  - name: by_reference
    get: /search
    query: {reference: "{operation_id}"}
    found: {status: 200}
    items: /data
    where: {/reference: op.operation_id}
    stale: true
    then: {probe: by_id, with: {remote_id: /id}}
  - name: by_id
    needs: [remote_id]
    get: /charges/{remote_id}
    found: {status: 200, /object: charge}
    absent: {status: 404, /error: gone_or_never}
compare:
  amount: {found: /amount, type: number, is: op./expected/amount}
"""


def test_the_second_read_stands_for_the_stale_one(folder):
    (folder / "charge.yaml").write_text(STALE)
    old = listed("20m", json.dumps({"data": [{"id": "ch_1", "reference": "op-1", "amount": 1}]}))
    is_like(outcome(folder, old, by_id("20m"), expect=RIGHT), klass="correct", ok=True)
    is_like(outcome(folder, old), klass="inconclusive", unasked="by_id")
    fresh = listed("20m", json.dumps({"data": [{"id": "ch_1", "reference": "op-1", "amount": 10.99}]}))
    is_like(outcome(folder, fresh, expect=RIGHT), klass="correct", ok=True)


BATCH = """
operation_type: charge
target: pay
latency_window: 5m
probes:
  - name: by_reference
    post: /search
    reads: true
    json: {wanted: "{batch|each reference=operation_id}"}
    batch: {max: 100, match: /reference}
    found: {status: 200}
    items: /data
    where: {/reference: {is: op.operation_id}}
compare:
  amount: {found: /amount, type: number, is: op./expected/amount}
"""


def test_a_batch_is_judged_for_this_operation(folder):
    (folder / "charge.yaml").write_text(BATCH)
    other = '{"reference":"op-2","amount":10.99}'
    is_like(outcome(folder, listed("20m", '{"data":[%s,%s]}' % (FOUND, other))), klass="correct")
    is_like(outcome(folder, listed("6m", '{"data":[%s]}' % other)), klass="waiting", reason="absent_unconfirmed")


def test_neither_network_nor_database_nor_settings(folder):
    """The base of the target does not resolve and no settings are there: nothing of it is touched."""
    file = write(folder, {"name": "right", "operation": OP, "readings": [listed("20m")], "expect": RIGHT})
    done = subprocess.run(["strace", "-f", "-e", "trace=network", "-o", str(folder / "trace"),
                           str(BUILD / "reconcilectl"), "--config", "/nowhere", "policy", "test", str(file)],
                          capture_output=True, text=True, check=False, timeout=60,
                          env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})  # not while it is traced
    assert done.returncode == 0, done
    assert "socket(" not in (folder / "trace").read_text()
