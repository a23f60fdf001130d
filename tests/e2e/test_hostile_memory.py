# SPDX-License-Identifier: Apache-2.0
"""Case H02: answers that are small on the wire and large in memory cost a bounded amount of it."""

import gzip
import json
import os
import threading
import time

import pytest
from target import answer_json

BOMB = gzip.compress(b'{"id":"' + b"0" * 50_000_000)
OPERATIONS = 40
MIB = 1024  # of VmHWM
ROOM = 64 * MIB

# 50 MB for each is 2 GB; a body just below the limit, and a list of 100,000 elements, are read.
ANSWERS = {
    "bomb": ((200, {"content-encoding": "gzip", "content-type": "application/json"}, BOMB), "inconclusive", "too_large"),
    "brackets": (answer_json("[" * 100_000), "inconclusive", "too_deep"),
    "elements": (answer_json({"id": ["a"] * 100_000, "version": 7}), "correct", "fields_equal"),
    "text": (answer_json({"id": "x" * 1_000_000, "version": 7}), "correct", "fields_equal"),
    "plain": (answer_json({"id": "c1", "version": 7}), "correct", "fields_equal"),
}


def most_resident(process, seen):
    """Adds what the kernel notes as the most, until the process has ended. (getrusage counts what
    the parent had before exec.)"""
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                seen += [int(line.split()[1]) for line in status if line.startswith("VmHWM:")]
        except (FileNotFoundError, ProcessLookupError):
            return
        time.sleep(0.005)


def peak_of_a_pass(world):
    """Its verdicts, and the most memory that it had resident."""
    process = world.start_once("--no-progress")
    resident = []
    watch = threading.Thread(target=most_resident, args=(process, resident))
    watch.start()
    out, err = process.communicate(timeout=120)
    watch.join()
    assert process.returncode in (0, 3), err
    operations = json.loads(out)["operations"]
    assert len(operations) == OPERATIONS
    return {(o["class"], o["reason"]) for o in operations}, max(resident)


@pytest.fixture
def little_quarantine(monkeypatch):
    """What a sanitizer keeps of freed memory says nothing about the program."""
    monkeypatch.setenv("ASAN_OPTIONS", os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1")


def test_memory_is_bounded(world, crm, little_quarantine):
    world.policy()
    world.target(crm.url, more="breaker: {failures: 1000}\nrate: {concurrent: 16}\nretry: {attempts: 1}\n")
    peaks = {}
    for name, (answer, *wanted) in ANSWERS.items():
        crm.answer = lambda request, answer=answer: answer
        for n in range(OPERATIONS):
            world.send(f"{name}-{n}")
        seen, peaks[name] = peak_of_a_pass(world)
        assert seen == {tuple(wanted)}
        world.db.execute("UPDATE reconcile.operations SET due_at = now() + interval '1 day'")
        for n in range(OPERATIONS):
            last = world.journal(f"{name}-{n}")[-1]
            assert len(last["evidence"]) <= 16 * 1024
            json.loads(last["evidence"])
    assert max(peaks.values()) - peaks["plain"] < ROOM, peaks
