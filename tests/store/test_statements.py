# SPDX-License-Identifier: Apache-2.0
"""Every statement of the program is accepted by the schema, with the rights of who runs it."""

import pathlib
import re

import pytest

FILES = sorted((pathlib.Path(__file__).resolve().parents[2] / "src" / "store" / "sql")
               .glob("*.sql"))
UNPLANNED = {"begin", "commit", "listen"}  # not statements that a plan is made for
MIGRATION = {"insert_migration"}
WATCHED = ("show_", "list_")  # what people look at with reconcilectl
ORDERS = {"pause", "resume", "release_guard"}  # what only operators may say


def explain(connection, path):
    """Checks the rights on every table and runs nothing."""
    text = path.read_text()
    connection.execute(f"PREPARE statement AS {text}")
    count = max([0, *map(int, re.findall(r"\$(\d+)", text))])
    arguments = f"({', '.join(['NULL'] * count)})" if count else ""
    connection.execute(f"EXPLAIN EXECUTE statement{arguments}")


@pytest.mark.parametrize("path", [path for path in FILES if path.stem not in UNPLANNED],
                         ids=lambda path: path.stem)
def test_prepares_and_may_run(connect, cluster, database, path):
    if path.stem in MIGRATION:
        with cluster.connect(database, "migrator") as connection:
            explain(connection, path)
        return
    explain(connect("operator" if path.stem in ORDERS else "daemon"), path)


@pytest.mark.parametrize("role", ["operator", "auditor"])
@pytest.mark.parametrize("path", [path for path in FILES if path.stem.startswith(WATCHED)],
                         ids=lambda path: path.stem)
def test_people_may_look(connect, path, role):
    explain(connect(role), path)


def test_there_are_statements():
    assert len(FILES) > len(UNPLANNED) + len(MIGRATION)
