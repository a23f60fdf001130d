-- SPDX-License-Identifier: Apache-2.0
-- What needs a person and passes the filters; first what concerns no single operation, which is on
-- the first page only.
-- $1 text operation_type, $2 text status, $3 text class, $4 text reason, $5 text entity_id,
-- $6 text scope, $7 bigint older than microseconds, $8 text after operation_id (null: any),
-- $9 int rows at most.
-- Result: columns of the view exceptions; age in seconds.
SELECT kind, operation_id, operation_type, scope, entity_type, entity_id, entity_state, version,
	target, status, class, reason, recommended_action, reconcile.rfc3339(since) AS since,
	floor(extract(epoch FROM age))::bigint AS age, reconcile.rfc3339(created_at) AS created_at,
	reconcile.rfc3339(deadline_at) AS deadline_at, remote_id, evidence, duplication_risk,
	assignee, reconcile.rfc3339(snoozed_until) AS snoozed_until, revision, count
FROM reconcile.exceptions AS e
WHERE ($1::text IS NULL OR e.operation_type = $1)
	AND ($2::text IS NULL OR e.status = $2)
	AND ($3::text IS NULL OR e.class = $3)
	AND ($4::text IS NULL OR e.reason = $4)
	AND ($5::text IS NULL OR e.entity_id = $5)
	AND ($6::text IS NULL OR e.scope = $6)
	AND ($7::bigint IS NULL OR e.age > $7 * interval '1 microsecond')
	AND ($8::text IS NULL OR e.operation_id > $8)
ORDER BY e.operation_id COLLATE "C" NULLS FIRST, e.kind, e.operation_type
LIMIT $9::int
