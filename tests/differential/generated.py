# SPDX-License-Identifier: Apache-2.0
"""Writes generated policy tests to a folder."""

import json
import random
from pathlib import Path

from looks import make_case
from tree import load_yaml

HERE = Path(__file__).parent
PART = 100  # cases in a file, which may have a mebibyte


def documents(name):
    """The mappings of a file with several YAML documents, each with its text."""
    for text in (HERE / name).read_text(encoding="utf-8").split("\n---\n")[1:]:
        yield load_yaml(text), text


def load_policies():
    """[(policy, its text)], with the names that probes get."""
    out = []
    for policy, text in documents("policies.yaml"):
        for n, probe in enumerate(policy["probes"], 1):
            probe.setdefault("name", f"probe-{n}")
        out.append((policy, text))
    return out


def load_targets():
    return {target["target"]: (target, text) for target, text in documents("targets.yaml")}


def write_sources(folder):
    """Policies and targets as files, where the tests name them."""
    for part in ("policies.d", "targets.d"):
        (folder / part).mkdir(exist_ok=True)
    for policy, text in load_policies():
        (folder / f"policies.d/{policy['operation_type']}.yaml").write_text(text, encoding="utf-8")
    for name, (_, text) in load_targets().items():
        (folder / f"targets.d/{name}.yaml").write_text(text, encoding="utf-8")


def write_file(path, policy, cases):
    """One file of policy tests, a case on a line."""
    lines = [f"policy: policies.d/{policy['operation_type']}.yaml", f"target: targets.d/{policy['target']}.yaml", "cases:"]
    lines += ["- " + json.dumps(case, ensure_ascii=False) for case in cases]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_tests(folder, count, seed):
    """Files of cases, as even as possible over the policies. Returns {file: [(name, verdict)]}."""
    policies, targets = load_policies(), load_targets()
    expected = {}
    for n, (policy, _) in enumerate(policies):
        rng = random.Random(f"{seed}/{policy['operation_type']}")
        share = count // len(policies) + (n < count % len(policies))
        target = targets[policy["target"]][0]
        made = [make_case(rng, policy, target, f"{policy['operation_type']}-{i}") for i in range(share)]
        for part in range(0, share, PART):
            path = folder / f"{policy['operation_type']}-{part // PART}.test.yaml"
            write_file(path, policy, [case for case, _ in made[part:part + PART]])
            expected[path] = [(case["name"], verdict) for case, verdict in made[part:part + PART]]
    return expected
