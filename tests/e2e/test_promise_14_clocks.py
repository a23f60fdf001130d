# SPDX-License-Identifier: Apache-2.0
"""Promise 14: what is due is judged by the database's clock. Cases Q03, T01."""

import glob
import os
import subprocess

import pytest
import world as installation


def preload():
    """libfaketime, behind the sanitizer's runtime where the build has one."""
    [faketime] = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
    linked = subprocess.run(["ldd", installation.BUILD / "reconciled"], capture_output=True,
                            text=True, check=True).stdout
    asan = [line.split("=>")[1].split()[0] for line in linked.splitlines() if "libasan" in line]
    return " ".join([*asan, faketime])


def clock(offset, zone="UTC"):
    return {**os.environ, "LD_PRELOAD": preload(), "FAKETIME": offset, "TZ": zone,
            "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1"}


@pytest.mark.parametrize("offset", ["+1h", "-1h"])
def test_a_daemon_whose_clock_is_wrong_decides_the_same(world, crm, offset):
    world.policy()
    crm.serve({"op-there": {"id": "c1", "version": 7}})
    world.send("op-there", ago="6 minutes")
    world.send("op-absent", ago="6 minutes")
    world.send("op-young", ago="4 minutes")
    run = world.once(env=clock(offset))
    assert {o["operation_id"]: o["class"] for o in run.json["operations"]} == \
        {"op-there": "correct", "op-absent": "missing"}
    early = world.once("--operation", "op-young", env=clock(offset)).of("op-young")
    assert (early["class"], early["reason"]) == ("waiting", "too_early")


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles", "Asia/Kolkata"])
def test_time_zones_change_nothing(world, crm, zone):
    world.db.execute(f"ALTER DATABASE {world.database} SET timezone = 'Asia/Kolkata'")
    world.policy()
    crm.serve({"op-1": {"id": "c1", "version": 7}})
    world.send("op-1", ago="6 minutes")
    world.send("op-2", ago="4 minutes")
    run = world.once(env={**os.environ, "TZ": zone})
    assert [o["operation_id"] for o in run.json["operations"]] == ["op-1"]
    assert world.journal("op-1")[-1]["elapsed_ms"] // 1000 in range(360, 420)


def test_due_times_move_by_the_database_clock(world, crm):
    world.policy(more="recheck: {first: 1m, factor: 1, jitter: 0%}\n")
    crm.answer = lambda request: (502, {}, "")
    world.send("op-1")
    world.once(expect=3, env=clock("+1h"))
    left = world.db.execute("SELECT due_at - clock_timestamp() AS left FROM reconcile.operations"
                            ).fetchone()["left"]
    assert 50 < left.total_seconds() <= 60
