# SPDX-License-Identifier: Apache-2.0
"""Ten thousand random looks: the program and an evaluator that shares nothing with it agree."""

import os
import random
from pathlib import Path

from compared import differences
from evaluator import Verdict, judge_case
from generated import load_policies, load_targets, write_file, write_sources, write_tests
from tree import load_yaml

CASES = 10_000
KEPT = load_yaml(Path(__file__).with_name("kept.yaml").read_text(encoding="utf-8"))


def test_generated_looks_are_judged_alike(tmp_path):
    seed = os.environ.get("DIFFERENTIAL_SEED") or str(random.SystemRandom().randrange(10**9))
    print(f"seed {seed}")
    write_sources(tmp_path)
    expected = write_tests(tmp_path, CASES, seed)
    found = differences(expected)
    assert not found, f"{len(found)} of {CASES} with seed {seed} (scripts/differential --seed {seed}):\n" + \
        "\n".join(found[:20])


def test_kept_cases(tmp_path):
    """By hand, by the evaluator and by the program."""
    policies, targets = {p["operation_type"]: p for p, _ in load_policies()}, load_targets()
    write_sources(tmp_path)
    expected = {}
    for name, cases in KEPT.items():
        policy = policies[name]
        wanted = [(c["name"], Verdict(c["expect"]["class"], c["expect"]["reason"], c["expect"]["rule"])) for c in cases]
        path = tmp_path / f"{name}.test.yaml"
        write_file(path, policy, cases)
        expected[path] = wanted
        for case, (_, want) in zip(cases, wanted):
            got, _ = judge_case(policy, targets[policy["target"]][0], case)
            assert (got.cls, got.reason, got.rule) == (want.cls, want.reason, want.rule), case["name"]
    assert differences(expected) == []
