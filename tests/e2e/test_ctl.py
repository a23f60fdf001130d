# SPDX-License-Identifier: Apache-2.0
"""reconcilectl: what a person sees, what a program reads, and that nothing gets past the terminal."""

import fcntl
import json
import os
import pty
import re
import shlex
import struct
import subprocess
import termios

import pytest

from target import answer_json
from world import BUILD

HOSTILE = "\x1b]0;owned\x07\x1b[31m\x9b2J<img src=x>\u202ecod\u2066\r\nline"
UNSAFE = set(map(chr, range(0x20))) - {"\n"} | set(map(chr, range(0x7F, 0xA0))) | set(
    "\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


@pytest.fixture
def three(world, crm):
    """The article's example after one look: confirmed, newer there, absent."""
    world.policy(more="idempotent: natural\nactions: {missing: requeue}\nrequeue: {max: 0}\n")
    world.target(crm.url, more="control: {get: /customers/control, found: {status: 200}}")
    crm.serve({"a-correct": {"id": "c7", "version": 7}, "b-newer": {"id": "c9", "version": 8},
               "control": {"id": "c0"}})
    for name in ("a-correct", "b-newer", "c-absent"):
        world.send(name, expected={"email": "a@example.org"})
    world.once()
    return world


def ctl(world, *arguments, expect=0, **options):
    run = world.run("reconcilectl", *arguments, **options)
    assert run.code == expect, run
    return run


def on_terminal(world, *arguments, columns=80, **environment):
    """Output as a terminal of that width gets it, and the exit code."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    program = subprocess.Popen(world.command("reconcilectl", *arguments), stdout=slave, stderr=slave,
                               stdin=subprocess.DEVNULL,
                               env={**os.environ, "TERM": "xterm", **environment})
    os.close(slave)
    output = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the last writer is gone
            break
        if not part:
            break
        output += part
    os.close(master)
    return output.decode().replace("\r\n", "\n"), program.wait(60)


# what is shown


def test_status_counts_by_type_and_status(three):
    [row] = ctl(three, "--json", "status").json["types"]
    assert (row["operation_type"], row["status"], row["operations"]) == \
        ("sync_customer", "manual_review", 2)
    assert row["mode"] == "enforce" and row["paused"] is False and row["verdicts_24h"] == 3
    assert row["oldest_age"] >= 3600
    text = ctl(three, "status").out
    assert ["sync_customer", "enforce", "manual_review", "2", "1h"] == text.splitlines()[1].split()[:5]
    assert "Needs a person\n      2  in review\n" in text
    assert f"{shlex.quote(str(BUILD / 'reconcilectl'))} --config {three.config} list --exceptions" in text


def test_status_of_an_empty_database(world):
    assert ctl(world, "--json", "status").json == {"types": [], "guards": [], "paused": [],
                                                  "instances": []}
    text = ctl(world, "status").out
    assert text == ("No operation is open, and no policy is loaded.\n\n"
                    "No instance of the daemon is running.\n\nNothing needs a person.\n")


def test_exceptions_say_what_differs_and_what_to_do(three):
    text = ctl(three, "list", "--exceptions").out
    newer, absent = text.strip().split("\n\n")
    lines = [line.split(maxsplit=1) for line in newer.splitlines()]
    assert lines[0] == ["b-newer"]
    assert re.fullmatch(r"sync_customer, customer b-newer, version 7, for \d+s", lines[1][1])
    assert lines[2] == ["why", "review: divergent (newer); version newer: expected 7, found 8"]
    assert lines[3] == ["recommended", "review"]
    program = shlex.quote(str(BUILD / "reconcilectl"))
    assert lines[-1] == ["more", f"{program} --config {three.config} show b-newer"]
    assert "recommended      requeue" in absent and "missing (absent_confirmed)" in absent


def test_exceptions_as_json_have_the_columns_of_the_view(three):
    answer = ctl(three, "--json", "list", "--exceptions").json
    assert answer["next"] is None
    assert [row["operation_id"] for row in answer["operations"]] == ["b-newer", "c-absent"]
    newer = answer["operations"][0]
    assert (newer["kind"], newer["class"], newer["reason"], newer["recommended_action"]) == \
        ("review", "divergent", "newer", "review")
    assert newer["evidence"]["compared"][0]["found"] == "8"
    assert newer["duplication_risk"] == "certain" and newer["deadline_at"] is None


def test_show_puts_expected_beside_found_and_tells_the_history(three):
    text = ctl(three, "show", "b-newer").out
    head, compared, recommended, timeline = text.split("\n\n")
    assert head.startswith("b-newer\n")
    assert "  status           manual_review\n" in head
    assert "  verdict          divergent (newer)\n" in head
    assert "  entity           customer b-newer\n" in head
    rows = [line.split() for line in compared.splitlines()]
    assert rows == [["Expected", "against", "found"], ["FIELD", "EXPECTED", "FOUND", "RESULT"],
                    ["version", "7", "8", "newer"], ["email", "not", "compared"]]
    assert "a person" in recommended
    assert [line.split()[0] for line in timeline.splitlines() if line[2:3].isdigit()] == \
        ["0", "1", "2", "3"]
    assert re.search(r"^  3  [-\d]+ [:\d]+Z  review  -> manual_review  by reconciled:test$", timeline, re.M)
    for line in ("asked            GET /customers/{business_key} at crm, probe probe-1",
                 "rules            compare held", "decided          divergent-review",
                 "differs          version newer: expected 7, found 8",
                 "kept             /id = c9, /version = 8"):
        assert line in timeline


def test_show_as_json(three):
    answer = ctl(three, "--json", "show", "c-absent").json
    assert answer["operation"]["status"] == "manual_review" and answer["operation"]["version"] == "7"
    assert answer["operation"]["expected"] == {"email": "a@example.org"}
    assert [row["revision"] for row in answer["journal"]] == [0, 1, 2, 3]
    last = answer["journal"][-1]
    assert last["evidence"]["decided"] and last["actor"] == "reconciled:test"
    assert (last["from_status"], last["to_status"]) == ("awaiting_confirmation", "manual_review")


def test_list_filters_and_pages(three):
    def ids(*arguments):
        answer = ctl(three, "--json", "list", *arguments).json
        return [row["operation_id"] for row in answer["operations"]], answer["next"]

    assert ids() == (["b-newer", "c-absent"], None)
    assert ids("--status", "confirmed") == (["a-correct"], None)
    assert ids("--class", "missing") == (["c-absent"], None)
    assert ids("--reason=newer", "--type=sync_customer") == (["b-newer"], None)
    assert ids("--entity", "b-newer") == (["b-newer"], None)
    assert ids("--scope", "other") == ([], None)
    assert ids("--older-than", "30m") == (["b-newer", "c-absent"], None)
    assert ids("--older-than", "2h") == ([], None)
    assert ids("--limit", "1") == (["b-newer"], "b-newer")
    assert ids("--limit", "1", "--after", "b-newer") == (["c-absent"], None)
    assert ids("--exceptions", "--limit", "1") == (["b-newer"], "b-newer")


def test_numbers_keep_every_digit(world):
    world.request("op-1", expected={"amount": 0})
    world.db.execute("UPDATE reconcile.operations SET expected ="
                     " '{\"amount\": 12345678901234567890.10}' WHERE operation_id = 'op-1'")
    assert '"amount": 12345678901234567890.10' in ctl(world, "--json", "show", "op-1").out


def test_states_are_those_of_the_database(world):
    arrows = ctl(world, "--json", "states").json["arrows"]
    names = {arrow[end] for arrow in arrows for end in ("from", "to")}
    pairs = {(arrow["from"], arrow["to"]) for arrow in arrows}
    for old in names:
        for new in names - {old}:
            allowed = world.db.execute("SELECT reconcile.lifecycle_ok(%s, %s) AS ok",
                                       [old, new]).fetchone()["ok"]
            assert allowed == ((old, new) in pairs), (old, new)
    dot = ctl(world, "states", "--dot").out
    assert dot.startswith("digraph") and "pending -> processing" in dot
    assert "FROM" in ctl(world, "states").out


def test_rules_are_named_and_end_unconditionally(world):
    rules = ctl(world, "--json", "rules").json["rules"]
    names = [rule["name"] for rule in rules]
    assert len(names) == len(set(names)) and "divergent-review" in names
    last = {}
    for rule in rules:
        last[rule["class"]] = rule["when"]
    for name in ("correct", "missing", "divergent", "ambiguous", "not_applicable"):
        assert last[name] is None or (None in last and last[None] is None), name


# policy check


def test_policy_check_names_line_and_column(world):
    world.target("http://127.0.0.1:1")
    world.policy()
    good = world.directory / "policies.d/sync_customer.yaml"
    bad = world.directory / "bad policy.yaml"
    bad.write_text("operation_type: bad\ntarget: crm\nlatency_windo: 5m\n")
    run = ctl(world, "policy", "check", good)
    assert run.out == f"{good}: ok\n" and run.err == ""
    run = ctl(world, "policy", "check", good, bad, expect=1)
    assert f"{bad}:3:1: latency_windo: " in run.err and "latency_window" in run.err
    assert run.out.splitlines() == [f"{good}: ok", f"{bad}: does not load"]
    first, second = ctl(world, "--json", "policy", "check", good, bad, expect=1).json["files"]
    assert first == {"file": str(good), "ok": True, "errors": [], "warnings": []}
    assert second["file"] == str(bad) and second["ok"] is False
    assert {"line": 3, "column": 1}.items() <= next(
        e for e in second["errors"] if "latency_windo" in e["message"]).items()


def test_policy_check_needs_no_configuration_and_shows_no_escape(world):
    bad = world.directory / "hostile.yaml"
    bad.write_text('operation_type: "\\e[31mred\\u202e"\n"\\e]0;x\\a": 1\n')
    done = subprocess.run([BUILD / "reconcilectl", "--config", "/nonexistent", "policy", "check", bad],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert not UNSAFE & set(done.stdout + done.stderr)


# hostile text (cases Y01, E01: it is text in every view)


@pytest.fixture
def hostile(world, crm):
    """Hostile text as entity, scope, version there, and as what a worker reports."""
    world.policy(more="")
    crm.answer = lambda request: answer_json({"id": HOSTILE, "version": HOSTILE})
    world.send("op-1", entity_id=HOSTILE, entity_type=HOSTILE, scope=HOSTILE)
    world.once()
    return world


COMMANDS = (["status"], ["list"], ["list", "--exceptions"], ["show", "op-1"])


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_hostile_text_reaches_no_terminal(hostile, command):
    for text in (ctl(hostile, *command).out, on_terminal(hostile, *command, NO_COLOR="1")[0]):
        assert not UNSAFE & set(text)
    if command != ["status"]:
        assert "\\x1b]0;owned\\x07" in ctl(hostile, *command).out


@pytest.mark.parametrize("command", COMMANDS[1:], ids=" ".join)
def test_hostile_text_is_whole_in_json_and_escaped(hostile, command):
    run = ctl(hostile, "--json", *command)
    assert not UNSAFE & set(run.out)
    row = run.json["operation"] if "operation" in run.json else run.json["operations"][0]
    assert row["entity_id"] == HOSTILE and row["scope"] == HOSTILE


def test_hostile_arguments_are_not_echoed_as_they_are(world):
    for arguments, code in ((["show", HOSTILE.replace("\0", "")], 1), ([HOSTILE], 2),
                            (["list", "--type", "x", "--" + HOSTILE], 2)):
        run = ctl(world, *arguments, expect=code)
        assert run.err and not UNSAFE & set(run.out + run.err)


def test_settings_that_are_not_there_are_told_with_the_option_that_names_others():
    for call in (["reconcilectl", "status"], ["reconciled", "--check-config"]):
        done = subprocess.run([BUILD / call[0], *call[1:], "--config", "/nonexistent/r.yaml"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 2 and done.stdout == ""
        assert done.stderr == (
            "/nonexistent/r.yaml: could not open the file: No such file or directory\n"
            f"{call[0]}: the settings are not there (--config FILE names others)\n")


# the terminal


def test_words_of_the_life_cycle_are_broken_into_lines_and_not_cut(world):
    text, _ = on_terminal(world, "states", columns=100, NO_COLOR="1")
    for word in "the request left, its outcome is not known".split() + ["awaiting_confirmation"]:
        assert word in text
    assert "…" not in text


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_tables_fit_the_terminal(three, columns):
    for command in (["status"], ["list"], ["show", "b-newer"], ["states"]):
        text, code = on_terminal(three, *command, columns=columns, NO_COLOR="1")
        assert code == 0 and text
        lines = [line for line in text.splitlines() if "reconcilectl" not in line]
        assert max(map(len, lines)) <= columns, command


def test_colours_on_a_terminal_only_and_not_with_no_color(three):
    assert "\x1b[" in on_terminal(three, "list")[0]
    assert "\x1b[" not in on_terminal(three, "list", NO_COLOR="1")[0]
    assert "\x1b[" not in on_terminal(three, "list", TERM="dumb")[0]
    assert "\x1b[" not in ctl(three, "list").out


# what is refused


@pytest.mark.parametrize("arguments, code, message", [
    ([], 2, "no command"),
    (["shwo"], 2, 'unknown command "shwo"'),
    (["show"], 2, "usage: reconcilectl show ID"),
    (["show", "a", "b"], 2, "usage: reconcilectl show ID"),
    (["show", "nobody"], 1, 'unknown operation "nobody"'),
    (["list", "--staus", "x"], 2, 'unknown option "--staus"'),
    (["list", "--status", "done"], 2, "manual_review"),
    (["list", "--class", "waiting"], 2, "not_applicable"),
    (["list", "--older-than", "3 weeks"], 2, "--older-than"),
    (["list", "--limit", "0"], 2, "1 to 10000"),
    (["policy", "bless", "x"], 2, "policy check"),
    (["policy", "check"], 2, "policy check|test FILE"),
    (["policy", "check", "/nonexistent.yaml"], 1, "/nonexistent.yaml"),
])
def test_refused_with_a_message(world, arguments, code, message):
    run = ctl(world, *arguments, expect=code)
    assert message in run.err


def test_missing_configuration_is_named(world):
    world.config.unlink()
    assert str(world.config) in ctl(world, "status", expect=2).err


def test_unreachable_database(world):
    world.settings(database='"host=/nonexistent dbname=x"')
    assert "/nonexistent" in ctl(world, "status", expect=1).err


def test_missing_schema_names_the_command_that_mends_it(world):
    world.cluster.create_database("e2e_bare")
    world.settings(database=json.dumps(world.cluster.conninfo("e2e_bare", "daemon_login")))
    for command in (["status"], ["list"], ["list", "--exceptions"], ["show", "x"]):
        assert "reconciled --migrate" in ctl(world, *command, expect=1).err


@pytest.mark.parametrize("role", ["operator", "auditor"])
def test_who_may_read(three, role):
    three.settings(database=json.dumps(three.cluster.conninfo(three.database, f"{role}_login")))
    for command in (["status"], ["list"], ["list", "--exceptions"], ["show", "b-newer"]):
        assert ctl(three, *command).out


def test_who_may_not_read(three):
    three.settings(database=json.dumps(three.cluster.conninfo(three.database, "app_login")))
    error = ctl(three, "status", expect=1).err
    assert "permission denied" in error and "reconciled(8)" in error


def test_looking_changes_nothing(three):
    """Promise 13, for reconcilectl."""
    def everything():
        return [three.db.execute(f"SELECT md5(string_agg(t::text, '' ORDER BY t::text)) AS sum"
                                 f" FROM reconcile.{table} t").fetchone()["sum"]
                for table in ("operations", "journal", "outbox", "tallies", "operation_types")]

    before = everything()
    for command in (["status"], ["list"], ["list", "--exceptions"], ["show", "b-newer"]):
        ctl(three, *command)
        ctl(three, "--json", *command)
    assert everything() == before
