# SPDX-License-Identifier: Apache-2.0
"""What must hold of status, journal, events and counts after anything that happened."""

# Each finds rows that must not be.
HOLES = {
    "one journal row for each revision": """
        SELECT o.operation_id FROM reconcile.operations o LEFT JOIN (
            SELECT operation_id, count(*) AS n, max(revision) AS last FROM reconcile.journal
            GROUP BY operation_id) j USING (operation_id)
        WHERE j.n IS DISTINCT FROM o.revision + 1 OR j.last <> o.revision""",
    "each row goes on where the one before ended, as the life cycle allows": """
        SELECT operation_id, revision FROM (
            SELECT *, lag(to_status) OVER (PARTITION BY operation_id ORDER BY revision) AS before
            FROM reconcile.journal) j
        WHERE revision > 0 AND (before IS DISTINCT FROM from_status
            OR NOT reconcile.lifecycle_ok(from_status, to_status))""",
    "the status is that of the last row": """
        SELECT o.operation_id FROM reconcile.operations o JOIN reconcile.journal j
        USING (operation_id, revision) WHERE j.to_status <> o.status""",
    "an event for a change that is announced, and for no other": """
        SELECT j.operation_id, j.revision FROM reconcile.journal j LEFT JOIN reconcile.outbox e
        ON e.aggregateid = j.operation_id AND e.revision = j.revision
        WHERE (e.id IS NOT NULL) <>
            (reconcile.event_type(j.from_status, j.to_status, j.event) IS NOT NULL)""",
    "an event only with its journal row": """
        SELECT e.aggregateid FROM reconcile.outbox e LEFT JOIN reconcile.journal j
        ON e.aggregateid = j.operation_id AND e.revision = j.revision WHERE j.event IS NULL""",
    "as many looks counted as tallied": """
        SELECT FROM (SELECT coalesce(sum(checks), 0) AS n FROM reconcile.operations) o,
        (SELECT coalesce(sum(n), 0) AS n FROM reconcile.tallies) t WHERE o.n <> t.n""",
}


def holes(db):
    """The names of what does not hold, each with rows that show it."""
    found = {what: db.execute(query).fetchmany(5) for what, query in HOLES.items()}
    return {what: rows for what, rows in found.items() if rows}
