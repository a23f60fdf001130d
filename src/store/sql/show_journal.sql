-- SPDX-License-Identifier: Apache-2.0
-- The history of one operation, oldest first.
-- $1 text operation_id.
-- Result: columns of journal.
SELECT operation_id, revision, reconcile.rfc3339(at) AS at, actor, event, from_status, to_status,
	class, reason, action, rule, reconcile.readable(evidence) AS evidence, policy, elapsed_ms
FROM reconcile.journal
WHERE operation_id = $1::text
ORDER BY revision
