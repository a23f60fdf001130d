-- SPDX-License-Identifier: Apache-2.0
-- Settles the records of the idempotency store whose operations are final: confirmed ones are
-- completed, others failed, unless they are still watched for a late effect. Whoever reserves such
-- a key sees the same without this; it only keeps the unsettled ones few. A locked row is waited for
-- half a second.
-- $1 text[] operation_id.
-- Result: none.
WITH settings AS MATERIALIZED (
	SELECT set_config('lock_timeout', '500ms', true) AS lock_timeout, clock_timestamp() AS now
), ended AS MATERIALIZED (
	SELECT o.operation_id, o.remote_id, s.now,
		CASE o.status WHEN 'confirmed' THEN 'completed' ELSE 'failed' END AS status
	FROM settings s CROSS JOIN reconcile.operations o
	LEFT JOIN reconcile.operation_types t USING (operation_type)
	WHERE o.operation_id = ANY ($1::text[]) AND (o.status = 'confirmed'
		OR o.status IN ('compensated', 'not_applicable')
			AND o.closed_at + coalesce(t.watch, interval '0') <= s.now)
), found AS MATERIALIZED (
	SELECT k.scope, k.operation, k.key, k.updated_at, e.status, e.remote_id,
		greatest(e.now, k.updated_at + interval '1 microsecond') AS now, e.now + k.ttl AS expires_at
	FROM ended e JOIN reconcile.idempotency_records k USING (operation_id)
	WHERE k.operation_id = ANY ($1::text[]) AND k.status IN ('processing', 'pending')
)
UPDATE reconcile.idempotency_records AS k SET status = found.status,
	resource_id = coalesce(k.resource_id, found.remote_id), expires_at = found.expires_at,
	updated_at = found.now
FROM found
WHERE k.scope = found.scope AND k.operation = found.operation AND k.key = found.key
	AND k.updated_at = found.updated_at
