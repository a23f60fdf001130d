# SPDX-License-Identifier: Apache-2.0
"""Standard output that takes nothing: the pass is done, the exit code says that its result is lost."""

import shlex
import subprocess

import pytest

from target import answer_json


def shell(world, redirection, program, *arguments):
    command = shlex.join(world.command(program, *arguments))
    return subprocess.run(["bash", "-c", f"{command} {redirection}"], capture_output=True,
                          text=True, timeout=60, check=False)


@pytest.mark.parametrize("arguments", [["--once"], ["--once", "--json"], ["--check-config"],
                                       ["--dump-config"], ["--version"], ["--help"]], ids=" ".join)
@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
def test_what_could_not_be_printed_is_an_error(world, crm, arguments, redirection):
    world.policy()
    run = shell(world, redirection, "reconciled", *arguments)
    assert run.returncode == 1
    assert "could not write to standard output" in run.stderr


def test_the_verdicts_are_recorded_all_the_same(world, crm):
    world.policy()
    crm.serve({"op-1": {"id": "c1", "version": 7}})
    world.send("op-1")
    assert shell(world, ">/dev/full", "reconciled", "--once", "--json").returncode == 1
    assert world.operation("op-1")["status"] == "confirmed"


def test_a_reader_that_left_does_not_end_the_pass(world, crm):
    world.policy()
    crm.answer = lambda request: answer_json({"id": "c1", "version": 7})
    for i in range(20):
        world.send(f"op-{i}")
    shell(world, "| true", "reconciled", "--once", "--json")
    assert world.db.execute("SELECT count(*) AS n FROM reconcile.operations"
                            " WHERE status = 'confirmed'").fetchone()["n"] == 20


def test_no_connection_takes_the_number_of_a_closed_standard_file(world, crm):
    """What is printed must not go to the database or to a target."""
    world.policy()
    crm.serve({"op-1": {"id": "c1", "version": 7}})
    world.send("op-1")
    world.send("op-2")  # not found: says nothing on standard error, but is listed
    shell(world, "<&- >&- 2>&-", "reconciled", "--once", "--json")
    assert world.operation("op-1")["status"] == "confirmed"
    assert world.operation("op-2")["class"] == "missing"


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
def test_reconcilectl_says_it_as_well(world, redirection):
    run = shell(world, redirection, "reconcilectl", "list")
    assert run.returncode == 1 and "could not write to standard output" in run.stderr
