# SPDX-License-Identifier: Apache-2.0
"""Every statement of the program is accepted by the schema, with the rights of who runs it."""

import pathlib
import re

import pytest

FILES = sorted((pathlib.Path(__file__).resolve().parents[2] / "src" / "store" / "sql")
               .glob("*.sql"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_prepares_and_may_run(connect, path):
    """EXPLAIN checks the rights on every table and runs nothing."""
    text = path.read_text()
    daemon = connect("daemon")
    daemon.execute(f"PREPARE statement AS {text}")
    count = max([0, *map(int, re.findall(r"\$(\d+)", text))])
    arguments = f"({', '.join(['NULL'] * count)})" if count else ""
    daemon.execute(f"EXPLAIN EXECUTE statement{arguments}")


def test_there_are_statements():
    assert FILES
