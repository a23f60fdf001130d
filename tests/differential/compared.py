# SPDX-License-Identifier: Apache-2.0
"""Runs policy tests through reconcilectl and compares its verdicts with those of the evaluator."""

import json
import os
import subprocess
from pathlib import Path

BUILD = Path(os.environ.get("BUILD_DIR", Path(__file__).resolve().parents[2] / "build"))


def verdicts(files):
    """{case name: case} as `reconcilectl policy test --json` tells them."""
    run = subprocess.run([BUILD / "reconcilectl", "--json", "policy", "test", *files], capture_output=True, check=False)
    assert run.returncode in (0, 1), run.stderr.decode()
    told = json.loads(run.stdout)
    assert told["passed"] + told["failed"] == len(told["cases"]), (told["passed"], told["failed"], run.stderr.decode())
    return {case["name"]: case for case in told["cases"]}


def differences(expected):
    """Texts, one for each case that is judged otherwise. expected: {file: [(name, verdict)]}."""
    told = verdicts(sorted(expected))
    out = []
    for path, cases in expected.items():
        for name, want in cases:
            got = told.get(name)
            seen = got and (got["class"], got["reason"], got["rule"])
            if seen != (want.cls, want.reason, want.rule):
                out.append(f"{path}: {name}: the program says {seen or 'nothing'}, "
                           f"the evaluator {(want.cls, want.reason, want.rule)}")
            elif not got["ok"]:
                out.append(f"{path}: {name}: judged as expected, but not ok: {got}")
    return out
