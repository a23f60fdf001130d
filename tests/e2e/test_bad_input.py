# SPDX-License-Identifier: Apache-2.0
"""Bad input: a message with place, found and allowed; nothing lost; the rest is done."""

import os
import re

import pytest


def check(world, *expected):
    run = world.run("reconciled", "--check-config")
    assert run.code == 2, run
    for text in expected:
        assert re.search(text, run.err), f"{text}\n{run.err}"
    once = world.run("reconciled", "--once")
    assert once.code == 2 and once.out == ""
    return run


def edit(world, name, old, new):
    path = world.directory / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_everything_wrong_is_said_at_once(world, crm):
    world.policy()
    edit(world, "policies.d/sync_customer.yaml", "latency_window: 5m", "latency_windw: 5m")
    edit(world, "policies.d/sync_customer.yaml", "mode: enforce", "mode: enforced")
    edit(world, "targets.d/crm.yaml", "target: crm", "target: crm\ntimeout: {connect: 3 s}")
    world.settings(batch="0")
    run = check(world, r'sync_customer.yaml:6:1: .*latency_windw.*latency_window',
                r'sync_customer.yaml:4:7: .*enforced.*enforce', r'crm.yaml:3:20: .*3 s',
                r'reconciled.yaml:\d+:8: .*0.*1')
    assert len(run.err.splitlines()) == 4


def test_broken_yaml(world, crm):
    world.policy()
    edit(world, "policies.d/sync_customer.yaml", "describe: {", "describe: {{")
    check(world, r"sync_customer.yaml:\d+:\d+: ")


@pytest.mark.parametrize("prepare, expected", [
    (lambda w: None, r"crm.yaml:\d+:\d+: .*env:NOT_THERE"),
    (lambda w: (w.directory / "token").write_text("\n"), r"crm.yaml:\d+:\d+: .*token.*empty"),
], ids=["missing", "empty"])
def test_a_secret_that_is_not_there(world, crm, prepare, expected):
    prepare(world)
    reference = "env:NOT_THERE" if "NOT" in expected else f"file:{world.directory}/token"
    world.policy()
    world.target(crm.url, more=f'auth: {{bearer: "{reference}"}}')
    check(world, expected)


def test_an_unreachable_database(world, crm):
    world.policy()
    world.settings(database='"host=/nowhere dbname=x"')
    run = world.run("reconciled", "--once")
    assert run.code == 1 and run.out == ""
    assert "could not connect to the database" in run.err and "/nowhere" in run.err


def test_a_database_without_the_schema_names_the_command(world, crm):
    world.policy()
    world.cluster.create_database("empty_one")
    world.settings(database=f'"{world.cluster.conninfo("empty_one")}"')
    run = world.run("reconciled", "--once")
    assert run.code == 1 and "reconciled --migrate" in run.err
    ctl = world.run("reconcilectl", "status")
    assert ctl.code == 1 and ctl.err.strip()


def test_a_newer_schema_refuses_to_start(world, crm):
    world.policy()
    world.db.execute("INSERT INTO reconcile.schema_migrations (version, name, sha256)"
                     " VALUES (9999, 'from_the_future', 'x')")
    run = world.run("reconciled", "--once")
    assert run.code == 1 and "newer" in run.err


def test_types_without_a_policy_are_left_alone_and_counted(world, crm):
    world.policy()
    crm.serve({"op-1": {"id": "c1", "version": 7}})
    world.send("op-1")
    world.send("op-2", operation_type="unheard_of")
    before = world.operation("op-2")
    run = world.once()
    assert run.json["without_policy"] == 1
    assert [o["operation_id"] for o in run.json["operations"]] == ["op-1"]
    assert world.operation("op-2") == before
    assert "without a policy" in world.run("reconciled", "--once").out


def test_asking_for_a_type_without_a_policy_is_a_usage_error(world, crm):
    world.policy()
    run = world.run("reconciled", "--once", "--type", "sync_custmer")
    assert run.code == 2 and "sync_custmer" in run.err


def test_an_unknown_operation_is_named_and_the_rest_is_done(world, crm):
    world.policy()
    crm.serve({"op-1": {"id": "c1", "version": 7}})
    world.send("op-1")
    run = world.once("--operation", "op-1", "--operation", "op-404", expect=1)
    assert 'operation "op-404" is unknown' in run.err
    assert run.of("op-1")["status"] == "confirmed"


@pytest.mark.parametrize("arguments, expected", [
    (["--limit", "3"], "--limit needs --once"), (["--once", "--check-config"], "do not go together"),
    (["--once", "--limit", "0"], "--limit"), (["--once", "--limit", "1x"], "1x"),
    (["--json", "--migrate"], "--json"), (["--once", "extra"], "extra"), (["--onec"], "--onec"),
], ids=" ".join)
def test_usage(world, arguments, expected):
    run = world.run("reconciled", *arguments)
    assert run.code == 2 and expected in run.err and "usage:" in run.err


def test_expected_that_says_nothing_is_for_a_person(world, crm):
    world.policy(more="", text="""
operation_type: sync_customer
target: crm
mode: enforce
describe: {effect: e, truth: t, proof: p, owner: o}
probes:
  - get: /customers/{business_key}
    found: {status: 200}
    absent: {status: 404, /error: not_found}
compare: {email: {found: /email, is: op./expected/email}}
""")
    crm.serve({"op-1": {"id": "c1", "email": "a@example.org"}})
    world.send("op-1")  # expected is {}
    line = world.once().of("op-1")
    assert (line["class"], line["reason"], line["action"]) == ("ambiguous", "unreadable", "review")


@pytest.mark.parametrize("key", ["o1#x", "o1?x=1", "../o2", "..", ".", "a/b", "o1%2F", "a b", 'x"y', "é"])
def test_unsafe_references_are_never_sent(world, crm, key):
    """Case H04."""
    world.policy()
    crm.serve({"o1": {"id": "c1", "version": 7}})
    world.send("op-1", business_key=key)
    line = world.once().of("op-1")
    assert (line["class"], line["reason"], line["rule"]) == ("ambiguous", "bad_reference", "reference")
    assert crm.requests == []


def test_an_answer_about_another_object_is_no_answer(world, crm):
    """Case H04: the id in the answer must be the id that was asked for, where the policy says so."""
    world.policy(text="""
operation_type: sync_customer
target: crm
mode: enforce
describe: {effect: e, truth: t, proof: p, owner: o}
probes:
  - get: /customers/{business_key}
    found: {status: 200}
    absent: {status: 404, /error: not_found}
    items: ""
    where: {/key: op.business_key}
compare: {version: {found: /version, type: version, is: op.version}}
""")
    crm.serve({"op-1": {"key": "op-2", "version": 7}})
    world.send("op-1")
    line = world.once().of("op-1")
    assert (line["class"], line["reason"]) == ("inconclusive", "incomplete")


def test_the_environment_has_no_say_over_proxies(world, crm):
    world.policy()
    crm.serve({"op-1": {"id": "c1", "version": 7}})
    world.send("op-1")
    env = {**os.environ, "http_proxy": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9"}
    assert world.once(env=env).of("op-1")["status"] == "confirmed"
