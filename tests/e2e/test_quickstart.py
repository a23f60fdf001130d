# SPDX-License-Identifier: Apache-2.0
"""scripts/quickstart --exit: all seven verdicts, every case explained, nothing left behind."""

import os
import pathlib
import re
import shlex
import subprocess

import pytest

from world import BUILD

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def run():
    done = subprocess.run([ROOT / "scripts" / "quickstart", "--exit"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=600, check=False, cwd="/",
                          env={**os.environ, "BUILD_DIR": str(BUILD)})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def table(text, title):
    """type → column → number, of one of the two tables."""
    lines = text[text.index(title):].splitlines()
    columns = lines[0].removeprefix(title).replace("on its way", "on_its_way").split()
    rows = {}
    for line in lines[1:4]:
        name, *numbers = line.split()
        rows[name] = dict(zip(columns, (0 if n == "-" else int(n) for n in numbers), strict=True))
    return rows


def test_all_seven_verdicts_were_seen(run):
    seen = table(run, "verdicts seen")
    assert set(seen) == {"sync_customer", "charge_payment", "create_order"}
    for verdict in ("missing", "correct", "divergent", "ambiguous", "not_applicable", "waiting",
                    "inconclusive"):
        assert sum(line[verdict] for line in seen.values()) > 0, verdict


def test_everything_ended_somewhere(run):
    assert table(run, "operations now") == {
        "sync_customer": {"confirmed": 154, "manual_review": 5, "not_applicable": 1},
        "charge_payment": {"confirmed": 134, "manual_review": 6, "not_applicable": 0},
        "create_order": {"confirmed": 110, "manual_review": 5, "not_applicable": 5},
    }


def test_the_three_timeouts(run):
    assert re.search(r"sync-042 +version 7 is there +-> confirmed, remote id CRM-1042\n", run)
    assert re.search(r"sync-043 +another version is there +-> manual_review, newer, "
                     r"recommended: review\n", run)
    assert re.search(r"sync-044 +nothing is there +-> manual_review, absent_confirmed, "
                     r"recommended: requeue\n", run)


def test_each_case_is_explained(run):
    cases = dict(re.findall(r"^((?:sync|pay|order)-\d+)  (.+\n(?:    .+\n){4})", run, re.M))
    assert set(cases) == {
        "sync-043", "sync-044", "sync-061", "sync-062", "sync-063",
        "pay-031", "pay-052", "pay-053", "pay-054", "pay-055", "pay-056",
        "order-022", "order-077", "order-078", "order-079", "order-080"}
    older = cases["sync-061"].splitlines()
    assert re.fullmatch(r"sync_customer  customer customer-061 version 7, \d+ s old", older[0])
    assert older[1:4] == [
        "    verdict      divergent: older",
        "    differs      version: expected 7, found 6 (older)",
        "    recommended  review; risk that another send doubles the effect: certain",
    ]
    assert re.fullmatch(r"    more         .+/reconcilectl --config \S+ show sync-061", older[4])
    program = shlex.split(older[4])[1]
    assert pathlib.Path(program) == BUILD.absolute() / "reconcilectl"  # called from the root folder


def test_no_value_that_the_policy_does_not_keep(run):
    assert "example.com" not in run


def test_nothing_is_left(run):
    directory = re.search(r"private PostgreSQL in (/tmp/reconciled\.\w+)", run)[1]
    assert not pathlib.Path(directory).exists()
    for process in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert directory.encode() not in process.read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            pass
