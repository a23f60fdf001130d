# SPDX-License-Identifier: Apache-2.0
"""Promise 11: secrets reach no output; values that evidence.keep does not list reach none either."""

import os
import subprocess

from target import answer_json

TOKEN, PERSONAL, KEPT = "tok-b52c9a0d77", "ada.lovelace@example.org", "c-4711"
OTHER = "charles.babbage@example.org"
POLICY = """
operation_type: sync_customer
target: crm
mode: enforce
describe: {effect: e, truth: t, proof: p, owner: o}
probes:
  - get: /customers/{business_key}
    query: {mail: "{expected./email}", day: "1"}
    found: {status: 200}
    absent: {status: 404, /error: not_found}
compare:
  email: {found: /email, is: op./expected/email}
evidence: {keep: [/id], hash: [/phone]}
reference: '^[a-z0-9-]+$'
"""


def everything_written(world, run):
    dump = subprocess.run([world.cluster.bin / "pg_dump", "--data-only", "--schema=reconcile",
                           "--exclude-table=reconcile.operations", "--exclude-table=reconcile.content",
                           "-h", str(world.cluster.directory), "-U", "postgres", world.database],
                          capture_output=True, text=True, check=True).stdout
    return dump + run.out + run.err


def test_neither_token_nor_mail_is_seen_anywhere(world, crm):
    world.policy(text=POLICY)
    world.target(crm.url, more='auth: {bearer: "env:CRM_TOKEN"}')
    world.settings(log="{level: debug}")
    crm.answer = lambda request: answer_json({"id": KEPT, "email": OTHER, "phone": "+44 20 7946"})
    world.send("op-1", expected={"email": "ada.lovelace+x=1@example.org"})
    run = world.once(env={**os.environ, "CRM_TOKEN": TOKEN})
    assert crm.requests[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert run.of("op-1")["class"] == "divergent"
    for program in (["reconcilectl", "show", "op-1"], ["reconcilectl", "--json", "list"]):
        shown = world.run(*program)
        written = everything_written(world, run) + (shown.out if "list" in program else "")
        for value in (TOKEN, OTHER, "7946", world.hash_key):
            assert value not in written
            assert value not in shown.out + shown.err or value == PERSONAL
    evidence = world.evidence("op-1")
    assert evidence["kept"] == {"/id": KEPT}
    [email] = evidence["compared"]
    assert email["found"].startswith("hmac:") and email["expected"].startswith("hmac:")
    assert email["found"] != email["expected"]
    assert evidence["request"]["url"] == "/customers/{business_key}?mail={expected./email}&day=1"


def test_credentials_go_to_the_configured_origin_only(world, crm):
    """Case H03: a redirect to another port is not followed."""
    import target as http_target
    with http_target.Target() as other:
        world.policy()
        world.target(crm.url, more='auth: {header: {name: X-Api-Key, value: "env:CRM_TOKEN"}}')
        crm.answer = lambda request: (302, {"location": f"{other.url}/steal"}, "")
        world.send("op-1")
        run = world.once(expect=3, env={**os.environ, "CRM_TOKEN": TOKEN})
        assert run.of("op-1")["reason"] == "redirect"
        assert crm.requests[0].headers["x-api-key"] == TOKEN
        assert other.requests == []


def test_a_password_in_the_configuration_is_refused_and_not_repeated(world):
    world.settings(database='"host=db password=hunter2"')
    run = world.run("reconciled", "--check-config")
    assert run.code == 2 and "password" in run.err and "hunter2" not in run.err


def test_a_secret_written_in_a_target_is_refused_and_not_repeated(world, target):
    world.policy()
    world.target(target.url, more="auth: {bearer: hunter2}")
    run = world.run("reconciled", "--check-config")
    assert run.code == 2 and "crm.yaml:" in run.err and "hunter2" not in run.err
