# SPDX-License-Identifier: Apache-2.0
"""reconcilectl guard, pause, resume: what is held back, by whom, and a person's word about it."""

import json

import pytest

HOSTILE = "\x1b]0;owned\x07\u202ereason"


@pytest.fixture
def one(world, crm):
    """A type that is known to the database, and a person who may order something."""
    world.policy()
    world.once()
    as_role(world, "operator")
    return world


def as_role(world, role):
    world.settings(database=json.dumps(world.cluster.conninfo(world.database, f"{role}_login")))


def ctl(world, *arguments, expect=0):
    run = world.run("reconcilectl", *arguments)
    assert run.code == expect, run
    return run


def trip(world, kind="type", name="sync_customer", reason="max", count=21, share=None):
    world.db.execute("SELECT reconcile.trip_guard(%s, %s, %s, %s, %s)",
                     [kind, name, reason, count, share])


def guards(world, *arguments):
    return ctl(world, "--json", "guard", "list", *arguments).json["guards"]


# guards


def test_no_guard(one):
    assert ctl(one, "guard", "list").out == "No guard holds anything back.\n"
    assert guards(one) == []


def test_what_tripped_and_why(one):
    trip(one)
    trip(one, name="charge_card", reason="share", count=40, share="0.6250")
    trip(one, "rewind", "database", "beats", 12)
    lines = {line.split()[0]: " ".join(line.split()[3:])
             for line in ctl(one, "guard", "list").out.splitlines()}
    assert list(lines)[0] == "GUARD" and len(lines) == 4
    assert lines["sync_customer"] == "21 actions wanted in one window tripped"
    assert lines["charge_card"] == "62.5 % of 40 verdicts missing or divergent tripped"
    assert lines["(rewind)"] == "the database went back in time tripped"
    [newest, *_] = guards(one)
    assert newest.pop("tripped_at") and newest.pop("age") >= 0
    assert newest == {"kind": "rewind", "name": "database", "reason": "beats", "count": 12,
                      "share": None, "action_limit": None, "let_through": 0, "released_at": None,
                      "released_by": None, "release_reason": None}


def test_release_of_a_type(one):
    trip(one)
    text = ctl(one, "guard", "release", "sync_customer", "--limit", "5", "--reason", "CRM is back").out
    assert text == ("The guard of sync_customer is released. 5 actions may go through before the "
                    "limits of the policy hold again.\n")
    [left] = guards(one)
    assert (left["action_limit"], left["let_through"]) == (5, 0)
    assert (left["released_by"], left["release_reason"]) == ("operator:operator_login", "CRM is back")
    assert "released, 0 of 5 used, by operator:operator_login: CRM is back" in \
        ctl(one, "guard", "list").out
    one.db.execute("UPDATE reconcile.guards SET let_through = 5")  # as if they went through
    assert guards(one) == [] and len(guards(one, "--all")) == 1


def test_release_as_json(one):
    trip(one)
    guard = ctl(one, "--json", "guard", "release", "sync_customer", "--limit=0", "--reason=seen").json["guard"]
    assert (guard["kind"], guard["name"], guard["action_limit"]) == ("type", "sync_customer", 0)
    assert guard["released_at"] and guards(one) == []


def test_release_of_the_rewind_guard(one):
    one.request("op-1")
    trip(one, "rewind", "database", "beats", 1)
    text = ctl(one, "guard", "release", "--rewind", "--reason", "restored on purpose").out
    assert text.startswith("The rewind guard is released.")
    assert guards(one) == []
    assert one.operation("op-1")["look_first"] is True


@pytest.mark.parametrize("arguments, code, message", [
    (["guard"], 2, "usage: reconcilectl guard"),
    (["guard", "open"], 2, "usage: reconcilectl guard"),
    (["guard", "list", "sync_customer"], 2, "usage: reconcilectl guard"),
    (["guard", "release"], 2, "TYPE or --rewind is missing"),
    (["guard", "release", "sync_customer", "--reason", "x"], 2, "--limit is missing"),
    (["guard", "release", "sync_customer", "--limit", "1"], 2, "--reason is missing"),
    (["guard", "release", "--rewind"], 2, "--reason is missing"),
    (["guard", "release", "--rewind", "--limit", "1", "--reason", "x"], 2, "neither TYPE nor --limit"),
    (["guard", "release", "x", "--rewind", "--reason", "x"], 2, "neither TYPE nor --limit"),
    (["guard", "release", "x", "--limit", "-1", "--reason", "x"], 2, "0 to 1000000"),
    (["guard", "release", "x", "--limit", "1.5", "--reason", "x"], 2, "0 to 1000000"),
    (["guard", "release", "x", "--limit", "1", "--reason", "x"], 1, 'no guard type "x" is tripped'),
    (["guard", "release", "--rewind", "--reason", "x"], 1, 'no guard rewind "database" is tripped'),
    (["guard", "release", "x", "--limit", "1", "--reason", " "], 1, "reason is missing or longer"),
    (["pause"], 2, "usage: reconcilectl pause TYPE"),
    (["pause", "sync_customer"], 2, "--reason is missing"),
    (["pause", "x", "--reason", "y"], 1, 'unknown operation type "x"'),
    (["resume", "x", "--reason", "y"], 1, 'unknown operation type "x"'),
    (["resume", "sync_customer", "--reason", "z" * 2001], 1, "reason is missing or longer"),
])
def test_refused_in_a_sentence(one, arguments, code, message):
    run = ctl(one, *arguments, expect=code)
    assert run.err.startswith("reconcilectl: ") and message in run.err
    assert "SQLSTATE" not in run.err and run.err.count("\n") == 1


# pause and resume


def test_pause_and_resume(one):
    text = ctl(one, "pause", "sync_customer", "--reason", "CRM moves house").out
    assert text.startswith("sync_customer is paused, since 20")
    assert text.endswith(" by operator:operator_login: CRM moves house\n")
    as_role(one, "daemon")
    one.send("op-1")
    one.once()
    assert one.operation("op-1")["checks"] == 0
    as_role(one, "operator")
    kept = ctl(one, "pause", "sync_customer", "--reason", "me too").out
    assert kept == text  # who came first
    text = ctl(one, "resume", "sync_customer", "--reason", "it is there").out
    assert text.startswith("sync_customer is not paused, since 20") and "it is there" in text
    as_role(one, "daemon")
    one.once()
    assert one.operation("op-1")["checks"] == 1


def test_pause_as_json(one):
    row = ctl(one, "--json", "pause", "sync_customer", "--reason", "x").json["type"]
    assert (row["operation_type"], row["paused"], row["pause_reason"]) == ("sync_customer", True, "x")
    row = ctl(one, "--json", "resume", "sync_customer", "--reason", "y").json["type"]
    assert (row["paused"], row["pause_reason"]) == (False, "y")


def test_resume_of_what_never_was_paused(one):
    assert ctl(one, "resume", "sync_customer", "--reason", "x").out == "sync_customer is not paused\n"


# who may, and what is shown


@pytest.mark.parametrize("command", [
    ["guard", "release", "sync_customer", "--limit", "1", "--reason", "x"],
    ["pause", "sync_customer", "--reason", "x"],
    ["resume", "sync_customer", "--reason", "x"],
])
@pytest.mark.parametrize("role", ["auditor", "app", "daemon"])
def test_only_operators_order(one, role, command):
    trip(one)
    as_role(one, role)
    assert "permission denied" in ctl(one, *command, expect=1).err


@pytest.mark.parametrize("role", ["auditor", "daemon"])
def test_who_may_look(one, role):
    trip(one)
    as_role(one, role)
    assert len(guards(one)) == 1


def test_status_tells_what_holds_the_work_up_and_who_works(one):
    trip(one)
    ctl(one, "pause", "sync_customer", "--reason", "CRM moves house")
    one.db.execute(
        "INSERT INTO reconcile.instances (instance_id, name, version, types, heartbeat_at, stopped_at)"
        " VALUES ('i-1', 'alpha', '0.1.0', '{\"sync_customer\": \"d\"}', clock_timestamp(), NULL),"
        " ('i-2', 'stale', '0.1.0', '{}', clock_timestamp() - interval '11 s', NULL),"
        " ('i-3', 'gone', '0.1.0', '{}', clock_timestamp(), clock_timestamp())")
    text = ctl(one, "status").out
    assert "21 actions wanted in one window  tripped" in text
    assert "operator:operator_login  CRM moves house" in text
    words = [line.split() for line in text.splitlines()]
    assert ["INSTANCE", "VERSION", "UP", "TYPES", "IN", "FLIGHT"] in words
    assert ["alpha", "0.1.0", "0s", "1", "0"] in [[w[0], w[1], "0s", *w[3:]] for w in words if len(w) == 5]
    assert "stale" not in text and "gone" not in text
    assert "      1  guards that hold actions back\n" in text
    answer = ctl(one, "--json", "status").json
    assert [row["name"] for row in answer["instances"]] == ["alpha"]
    assert [row["operation_type"] for row in answer["paused"]] == ["sync_customer"]
    assert [(row["kind"], row["name"]) for row in answer["guards"]] == [("type", "sync_customer")]


def test_hostile_reasons_reach_no_terminal(one):
    trip(one)
    ctl(one, "pause", "sync_customer", "--reason", HOSTILE)
    ctl(one, "guard", "release", "sync_customer", "--limit", "3", "--reason", HOSTILE)
    for command in (["status"], ["guard", "list"], ["pause", "sync_customer", "--reason", "x"]):
        for run in (ctl(one, *command), ctl(one, "--json", *command)):
            assert not set(HOSTILE[:1] + "\x07\u202e") & set(run.out)
    assert guards(one)[0]["release_reason"] == HOSTILE
