# SPDX-License-Identifier: Apache-2.0
"""scripts/quickstart: all seven verdicts, every case explained, and a daemon that goes on until it is
told to stop; nothing left behind."""

import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import urllib.request

import pytest

from world import BUILD, wait_for

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
        "sync_customer": {"confirmed": 155, "manual_review": 4, "not_applicable": 1},
        "charge_payment": {"confirmed": 134, "manual_review": 6, "not_applicable": 0},
        "create_order": {"confirmed": 110, "manual_review": 5, "not_applicable": 5},
    }


def test_the_three_timeouts(run):
    assert re.search(r"sync-042 +version 7 is there +-> confirmed, remote id CRM-1042\n", run)
    assert re.search(r"sync-043 +another version is there +-> manual_review, newer, "
                     r"recommended: review\n", run)
    assert re.search(r"sync-044 +nothing was there, so sent again +-> confirmed, remote id CRM-1044\n", run)


def test_what_was_missing_is_sent_again_and_confirmed(run):
    assert run.count("worker   sync-044 sent again, attempt 2: answer 201\n") == 1
    steps = run[run.index("The journal of sync-044"):].split("\n\n")[0].splitlines()[1:]
    events = [line.split()[3] for line in steps if "  looked  " not in line]
    assert events == ["requested", "started", "sent", "requeued", "started", "sent", "confirmed"]


def test_without_a_worker_sending_again_is_for_a_person(run):
    [case] = re.findall(r"^order-080  .+\n(?:    .+\n){4}", run, re.M)
    assert "    recommended  requeue; risk" in case


def test_each_case_is_explained(run):
    cases = dict(re.findall(r"^((?:sync|pay|order)-\d+)  (.+\n(?:    .+\n){4})", run, re.M))
    assert set(cases) == {
        "sync-043", "sync-061", "sync-062", "sync-063",
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


def assert_nothing_is_left(directory):
    assert not pathlib.Path(directory).exists()
    for process in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert directory.encode() not in process.read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            pass


def directory_in(text):
    return re.search(r"private PostgreSQL in (/tmp/reconciled\.\w+)", text)[1]


def test_nothing_is_left(run):
    assert_nothing_is_left(directory_in(run))


def get(url):
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read().decode()


def port_is_open(address):
    host, port = address.split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def allow_interrupt():
    """As on a terminal: what was started in the background of a shell inherits that SIGINT is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def staying(tmp_path):
    """The running script, and its output once it says that the daemon runs."""
    log = tmp_path / "log"
    with open(log, "wb") as file:
        process = subprocess.Popen([ROOT / "scripts" / "quickstart"], stdout=file, stderr=file,
                                   stdin=subprocess.DEVNULL, cwd="/", start_new_session=True,
                                   preexec_fn=allow_interrupt,
                                   env={**os.environ, "BUILD_DIR": str(BUILD)})
    try:
        wait_for(lambda: "Log of the daemon" in log.read_text() or process.poll() is not None, 600,
                 "the daemon")
        assert process.poll() is None, log.read_text()
        yield process, log.read_text()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def paste(text, start, wanted):
    """Runs the one command of the output that begins and goes on so."""
    [line] = re.findall(rf"^  ({re.escape(start)}.*{re.escape(wanted)}.*)$", text, re.M)
    return subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60, check=True,
                          cwd="/").stdout


def test_goes_on_until_it_is_interrupted(staying):
    process, text = staying
    address = re.search(r"http://(127\.0\.0\.1:\d+)/readyz", text)[1]
    directory = directory_in(text)
    assert get(f"http://{address}/readyz") == "ready\n"
    assert 'reconciled_operations{type="sync_customer",status="manual_review"} 4\n' in \
        get(f"http://{address}/metrics")
    paste(text, "curl", "/_sim/behaviours")
    paste(text, "psql", "number=501")
    program = str(BUILD.absolute() / "reconcilectl").replace(" ", "\\ ")  # as a shell reads it
    wait_for(lambda: " confirmed\n" in paste(text, program, "show sync-501"), 120, "sync-501 confirmed")
    assert re.search(r"^  attempts +2$", paste(text, program, "show sync-501"), re.M)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    assert_nothing_is_left(directory)
    assert not port_is_open(address)
