-- SPDX-License-Identifier: Apache-2.0
-- Closed operations that pass the filters; asked for by a final status.
-- $1 text operation_type, $2 text status, $3 text class, $4 text reason, $5 text entity_id,
-- $6 text scope, $7 bigint older than microseconds, $8 text after operation_id (null: any),
-- $9 int rows at most.
-- Result: columns of operations, in order of their ids.
WITH clock AS MATERIALIZED (
	SELECT clock_timestamp() AS now
)
SELECT o.operation_id, o.operation_type, o.scope, o.entity_type, o.entity_id, o.entity_state,
	o.version, o.business_key, o.remote_id, o.correlation_id, o.status, o.class, o.reason,
	o.recommended_action, o.attempts, o.requeues, o.checks, o.absences, o.inconclusive,
	o.disputed, o.assignee, o.superseded_by, o.compensates, o.closed_reason,
	reconcile.rfc3339(o.created_at) AS created_at,
	reconcile.rfc3339(o.first_sent_at) AS first_sent_at,
	reconcile.rfc3339(o.sent_at) AS sent_at, reconcile.rfc3339(o.due_at) AS due_at,
	reconcile.rfc3339(o.deadline_at) AS deadline_at,
	reconcile.rfc3339(o.closed_at) AS closed_at,
	reconcile.rfc3339(o.updated_at) AS updated_at, o.revision
FROM (
	SELECT * FROM reconcile.operations
	WHERE closed_at IS NOT NULL
		AND ($1::text IS NULL OR operation_type = $1)
		AND ($2::text IS NULL OR status = $2)
		AND ($3::text IS NULL OR class = $3)
		AND ($4::text IS NULL OR reason = $4)
		AND ($5::text IS NULL OR entity_id = $5)
		AND ($6::text IS NULL OR scope = $6)
		AND ($7::bigint IS NULL OR created_at < (SELECT now FROM clock)
			- $7 * interval '1 microsecond')
		AND ($8::text IS NULL OR operation_id > $8)
	ORDER BY operation_id
	LIMIT $9::int
) AS o
ORDER BY o.operation_id
