-- SPDX-License-Identifier: Apache-2.0
-- These operations, due or not, in order of their ids; an unknown one has no row.
-- $1 text[] operation_id.
-- Result: the columns of due_row.h; one row with operation_id null when none is known.
WITH clock AS MATERIALIZED (
	SELECT clock_timestamp() AS now
), paused AS MATERIALIZED (
	SELECT operation_type FROM reconcile.operation_types WHERE paused
)
SELECT clock.now, o.operation_type IN (SELECT operation_type FROM paused) AS paused,
	o.operation_id, o.operation_type, o.scope, o.entity_type,
	o.entity_id, o.entity_state, o.version, o.idempotency_key, o.business_key, o.remote_id,
	o.correlation_id, o.superseded_by, o.compensates, o.expected, o.status, o.revision,
	o.attempts, o.requeues, o.checks, o.created_at, o.first_sent_at, o.sent_at,
	o.attempt_until, o.due_at, o.earning, o.absences, o.absent_since, o.inconclusive,
	o.disputed, o.class, o.reason, o.recommended_action, o.evidence_digest, o.postponed,
	o.suspect, o.look_first, o.next_attempt_at, o.announced_at,
	coalesce(o.announcements, 0)
FROM clock LEFT JOIN (
	SELECT * FROM reconcile.operations WHERE operation_id = ANY ($1::text[])
) AS o ON true
ORDER BY o.operation_id
