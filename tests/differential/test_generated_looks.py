# SPDX-License-Identifier: Apache-2.0
"""Ten thousand random looks: the program and an evaluator that shares nothing with it agree."""

import os
import random

from compared import differences
from generated import write_sources, write_tests

CASES = 10_000


def test_generated_looks_are_judged_alike(tmp_path):
    seed = os.environ.get("DIFFERENTIAL_SEED") or str(random.SystemRandom().randrange(10**9))
    print(f"seed {seed}")
    write_sources(tmp_path)
    expected = write_tests(tmp_path, CASES, seed)
    found = differences(expected)
    assert not found, f"{len(found)} of {CASES} with seed {seed} (scripts/differential --seed {seed}):\n" + \
        "\n".join(found[:20])
