-- SPDX-License-Identifier: Apache-2.0
-- Who is alive and what is known of the types. First the living instances, then each type with the
-- living that judge by its policy of now, one row for each of them and one for a type without any.
-- $1 bigint microseconds after which a sign of life is stale.
-- Result: text operation_type (null: of a living instance), text digest, bool paused, bool guarded,
-- text instance_id (null: a type without members).
WITH clock AS MATERIALIZED (
	SELECT clock_timestamp() AS now
), live AS MATERIALIZED (
	SELECT i.instance_id, i.types FROM clock, reconcile.instances i
	WHERE i.stopped_at IS NULL
		AND i.heartbeat_at >= clock.now - $1::bigint * interval '1 microsecond'
)
SELECT NULL AS operation_type, '' AS digest, false AS paused, false AS guarded, live.instance_id
FROM live
UNION ALL
SELECT t.operation_type, t.policy, t.paused, EXISTS (SELECT FROM reconcile.guards g
		WHERE g.kind = 'type' AND g.name = t.operation_type AND g.released_at IS NULL),
	live.instance_id
FROM reconcile.operation_types t
LEFT JOIN live ON live.types ->> t.operation_type = t.policy
ORDER BY operation_type NULLS FIRST, instance_id
