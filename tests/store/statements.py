# SPDX-License-Identifier: Apache-2.0
"""The daemon's own statements, called with psycopg: what the program sends, without the program."""

import pathlib
import re

SQL = pathlib.Path(__file__).resolve().parents[2] / "src" / "store" / "sql"

LOOK = """operation_id revision checks changed from_status to_status class reason recommended_action
    closed_reason remote_id earning absences absent_since inconclusive disputed due_in event action
    rule evidence evidence_digest policy journal_class journal_reason event_type tally_class
    tally_action due_was operation_type guarded not_after requeue next_attempt_in
    postponed announces""".split()

OUTCOMES = {1: "done", 2: "held", 3: "late"}


def statement(name):
    """Its text with named placeholders p1, p2, …"""
    return re.sub(r"\$(\d+)", r"%(p\1)s", (SQL / f"{name}.sql").read_text().replace("%", "%%"))


def run(connection, name, *arguments):
    return connection.execute(statement(name),
                              {f"p{place}": value for place, value in enumerate(arguments, 1)})


def record(connection, looks, instance="i1"):
    """One batch; for each look its outcome and the revision, a stale one is ("stale", None)."""
    looks = [{"checks": 0, "absences": 0, "inconclusive": 0, "disputed": False, "guarded": False,
              "requeue": False, "postponed": 0, "announces": False, **look} for look in looks]
    rows = run(connection, "record", "reconciled:one", instance,
               *([look.get(name) for look in looks] for name in LOOK)).fetchall()
    told = {row["place"]: (OUTCOMES[row["outcome"]], row["revision"]) for row in rows}
    assert len(told) == len(rows)
    return [told.get(place, ("stale", None)) for place in range(1, len(looks) + 1)]
