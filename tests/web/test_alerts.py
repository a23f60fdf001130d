# SPDX-License-Identifier: Apache-2.0
"""The alert rules: what they fire on, and that they speak of metrics that there are."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "etc/alerts.yaml"
TESTS = ROOT / "tests/web/alerts.yaml"


def promtool(*arguments):
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_rules_load():
    promtool("check", "rules", str(RULES))


def test_rules_fire_when_they_should():
    promtool("test", "rules", str(TESTS))


def test_every_rule_is_tested():
    alerts = set(re.findall(r"alert: (\w+)", RULES.read_text()))
    assert alerts == set(re.findall(r"\b(Reconciled\w+)", TESTS.read_text()))


def test_rules_and_manual_speak_of_metrics_that_there_are(server):
    text = server.get("/metrics").body
    known = set(re.findall(r"^# TYPE (\w+)", text, re.M))
    assert known == set(re.findall(r"^# HELP (\w+)", text, re.M))
    used = set(re.findall(r"(?<![\w:])reconciled_[a-z_]+", RULES.read_text()))
    assert used <= known
    manual = (ROOT / "man/reconciled.8").read_text()
    assert set(re.findall(r"\breconciled_[a-z_]+", manual)) == known


def test_every_alarm_is_in_the_manual():
    manual = (ROOT / "man/reconciled.8").read_text()
    assert set(re.findall(r"alert: (\w+)", RULES.read_text())) == \
        set(re.findall(r"\b(Reconciled[A-Z]\w+)", manual))
