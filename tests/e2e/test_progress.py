# SPDX-License-Identifier: Apache-2.0
"""The progress bar of reconciled --once: on a terminal only, and gone at the end."""

import os
import pty
import subprocess
import time

from target import answer_json


def run_on_a_terminal(world, *arguments):
    """What a person sees on standard error, and standard output."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(world.command("reconciled", "--once", *arguments),
                               stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
    out = running.communicate(timeout=60)[0].decode()
    os.close(ours)
    return seen.decode(), out, running.returncode


def send_slowly(world, crm, count):
    def slow(request):
        time.sleep(0.05)
        return answer_json({"id": "c1", "version": 7})

    world.policy()
    world.settings(batch=10)
    world.target(crm.url, more="rate: {concurrent: 4}")
    crm.answer = slow
    for i in range(count):
        world.send(f"op-{i}")


def test_a_bar_on_a_terminal(world, crm):
    send_slowly(world, crm, 40)
    seen, out, code = run_on_a_terminal(world)
    assert code == 0
    assert " of 40 looked at, " in seen and "[" in seen and "#" in seen
    assert seen.endswith("\r\033[K")  # the line is wiped
    assert "sync_customer" in out and "\033" not in out


def test_none_where_it_is_not_wanted(world, crm):
    send_slowly(world, crm, 12)
    seen, out, code = run_on_a_terminal(world, "--no-progress")
    assert (seen, code) == ("", 0)
    assert "sync_customer" in out


def test_none_without_a_terminal(world, crm):
    send_slowly(world, crm, 12)
    assert world.run("reconciled", "--once").err == ""
