# SPDX-License-Identifier: Apache-2.0
"""What each observation must lead to: one row for each kind of answer that misleads somebody.

All rows of traps_rows.py share one installation and one server: a pass for the first looks of all
operations, one for the second looks, and so on. Time passes by moving what is stored back."""

import itertools
import json
import re
import time
from dataclasses import dataclass
from urllib.parse import unquote

import pytest
import target as http_target
import world as installation
from target import NOT_FOUND, answer_json
from traps_policies import install
from traps_rows import OBJECTS, ROWS

class Stage:
    """The one server: each operation hears what its row says at this look."""

    def __init__(self):
        self.look = 0
        self.rows = {r.id: r for r in ROWS}
        self.asked = {r.id: 0 for r in ROWS}
        self.requests = {}
        self.ids = re.compile("|".join(sorted(map(re.escape, self.rows), key=len, reverse=True)))

    def __call__(self, request):
        if request.path.endswith(("/control", "/control.pdf")):
            return NOT_FOUND if request.path.startswith("/lost/") else answer_json({"id": "control"})
        if request.path.startswith("/plain/objects/"):
            known = OBJECTS.get(request.raw_path.removeprefix("/plain/objects/"))
            return NOT_FOUND if known is None else answer_json({"id": known})
        name = self.ids.search(unquote(request.raw_path) + request.body.decode())[0]
        self.asked[name] += 1
        self.requests[name] = request
        if request.path.startswith("/slow/"):
            time.sleep(1.5)
        answer = self.rows[name].looks[self.look][0]
        if answer is None:
            return None
        status, headers, body = answer
        return status, headers, body if isinstance(body, bytes) else body.replace("$ID", name)


def pass_time(world, r, by):
    world.age(r.id, by)
    if r.worker == "died":  # others that only started are still at it
        world.db.execute("UPDATE reconcile.operations SET attempt_until = attempt_until - %s::interval"
                         " WHERE operation_id = %s", [by, r.id])


def put(world, r):
    fields = {"idempotency_key": r.id, "entity_id": r.id, **r.op}
    if r.type in ("store_document", "store_lost_document"):
        fields["business_key"] = f"2026/{r.id}"
    world.request(r.id, operation_type=r.type, **fields)
    world.app.execute("SELECT reconcile.start(%s)", [r.id])
    if r.worker == "sent":
        world.app.execute("SELECT reconcile.sent(%s)", [r.id])
    if r.worker == "retries":
        world.app.execute("SELECT reconcile.retry(%s, 1, 'connection refused')", [r.id])
    if r.state != "active":
        world.app.execute("SELECT reconcile.set_entity_state('customer', %s, %s)", [r.id, r.state])
    if r.superseded:
        world.request(f"{r.id}-next", operation_type=r.type, entity_id=r.id, version="9")
    pass_time(world, r, r.ago)


def pass_over(world, stage, number):
    """One pass for look NUMBER of all rows that have so many."""
    rows = [r for r in ROWS if len(r.looks) > number]
    for r in rows:
        if number:
            pass_time(world, r, r.gap)
    world.make_due(*[r.id for r in rows])
    stage.look = number
    run = world.run("reconciled", "--once", "--json")
    assert run.code == 3, run  # some could not be asked, and nothing else went wrong
    return {line["operation_id"]: line for line in run.json["operations"]}


@dataclass
class Seen:
    passes: list
    operations: dict
    evidence: dict
    stage: Stage


@pytest.fixture(scope="module")
def seen(cluster, template, tmp_path_factory):
    with cluster.connect() as admin:
        admin.execute(f"CREATE DATABASE e2e_traps TEMPLATE {template}")
    world = installation.World(tmp_path_factory.mktemp("traps"), cluster, "e2e_traps")
    stage = Stage()
    with http_target.Target() as server:
        server.answer = stage
        install(world, server.url)
        check = world.run("reconciled", "--check-config")
        assert check.code == 0, check
        for r in ROWS:
            put(world, r)
        passes = [pass_over(world, stage, n) for n in range(max(len(r.looks) for r in ROWS))]
    yield Seen(passes, {r.id: world.operation(r.id) for r in ROWS},
               {r.id: world.evidence(r.id) for r in ROWS if world.journal(r.id)[-1]["evidence"]}, stage)
    world.close()
    with cluster.connect() as admin:
        admin.execute("DROP DATABASE e2e_traps WITH (FORCE)")


@pytest.mark.parametrize("r", ROWS, ids=lambda r: r.id)
def test_trap(seen, r):
    for number, (_, follows) in enumerate(r.looks):
        line = seen.passes[number][r.id]
        told = (line["class"], line["reason"], line["action"], line["status"])
        assert told == follows, f"look {number + 1}: {line}"
    operation = seen.operations[r.id]
    assert operation["status"] == follows[3]
    if r.recommended:
        assert operation["recommended_action"] == r.recommended
    if r.kept:
        assert r.kept.items() <= seen.evidence[r.id]["kept"].items()
    if r.asked is not None:
        assert seen.stage.asked[r.id] == r.asked


def test_ids_are_unique():
    assert len({r.id for r in ROWS}) == len(ROWS)


def test_a_page_that_is_no_evidence_is_not_kept(seen):
    """Case P01: the journal has status, size and hash of what came, not the page."""
    evidence = seen.evidence["p01-give-up"]
    assert evidence["response"]["status"] == 200 and evidence["response"]["bytes"] > 0
    assert re.fullmatch("[0-9a-f]{64}", evidence["response"]["sha256"])
    assert "Gateway" not in json.dumps(evidence)


def test_nothing_breaks_out_of_its_place(seen):
    """Case H04: a value is one value, whatever it contains."""
    query = seen.stage.requests["h04-nothing-breaks-out-of-a-query"].raw_path
    assert query.endswith("?reference=o1%26reference%3Do2%23x%20%2B%2541")
    body = seen.stage.requests["h04-nothing-breaks-out-of-a-body"].body
    assert json.loads(body) == {"filter": {"reference": 'o1", "role": "admin'}}


def test_what_differs_is_told_exactly(seen):
    """Case J01: no digit is lost between the answer and the journal."""
    [compared] = seen.evidence["j01-beyond-2-53"]["compared"]
    assert (compared["expected"], compared["found"]) == ("9007199254740992", "9007199254740993")


# ---- case T01: windows are elapsed time, whatever the time zones

@pytest.mark.parametrize("zone, database_zone", itertools.product(
    ["America/Los_Angeles", "UTC", "Asia/Kolkata"], ["Asia/Kolkata", "UTC"]))
def test_t01_zones_change_nothing(world, crm, zone, database_zone):
    world.db.execute(f'ALTER DATABASE {world.database} SET timezone = "{database_zone}"')
    world.policy(text=ZONES)
    for name, ago in (("early", "4 minutes"), ("late", "6 minutes")):
        world.send(name, ago=ago)
    run = world.once("--operation", "early", "--operation", "late", env={"TZ": zone, "PATH": "/usr/bin:/bin"})
    assert run.of("early")["reason"] == "too_early"
    assert run.of("late")["class"] == "missing"
    asked = {request.path.rsplit("/", 1)[-1]: request.query for request in crm.requests}
    for name in ("early", "late"):
        sent = world.operation(name)["sent_at"]
        assert abs(int(asked[name]["epoch"]) - (sent.timestamp() - 3600)) <= 1
        assert asked[name]["since"] == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(asked[name]["epoch"])))


ZONES = """
operation_type: sync_customer
target: crm
mode: enforce
describe: {effect: e, truth: t, proof: p, owner: o}
probes:
  - get: /customers/{business_key}
    query: {since: "{sent_at-1h|rfc3339}", epoch: "{sent_at-1h|epoch}"}
    found: {status: 200}
    absent: {status: 404, /error: not_found}
absence: {confirm: 1, over: 0s}
existence_only: true
"""
