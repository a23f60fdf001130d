-- SPDX-License-Identifier: Apache-2.0
-- A sign of life, counted. A database that counts fewer than the instance remembers was restored
-- or has lost commits: the rewind guard is tripped with the same statement, unless it is already.
-- An instance that had stopped or was stale begins anew.
-- $1 text instance_id, $2 text name, $3 text version, $4 text[] and $5 text[] operation types it
-- takes part in and the digests of their policies, $6 bigint beats of its last answered one (0:
-- none), $7 bigint microseconds after which a sign of life is stale.
-- Result: bigint beats, bool whether the rewind guard is tripped.
WITH clock AS MATERIALIZED (
	SELECT clock_timestamp() AS now,
		(SELECT coalesce(jsonb_object_agg(k.operation_type, k.digest), '{}')
		 FROM unnest($4::text[], $5::text[]) AS k (operation_type, digest)) AS types
), beaten AS (
	INSERT INTO reconcile.instances AS i (instance_id, name, version, started_at, heartbeat_at,
		beats, types)
	SELECT $1::text, $2::text, $3::text, now, now, 1, types FROM clock
	ON CONFLICT (instance_id) DO UPDATE SET name = EXCLUDED.name, version = EXCLUDED.version,
		started_at = CASE WHEN i.stopped_at IS NOT NULL
			OR i.heartbeat_at < EXCLUDED.heartbeat_at - $7::bigint * interval '1 microsecond'
			THEN EXCLUDED.started_at ELSE i.started_at END,
		heartbeat_at = EXCLUDED.heartbeat_at, beats = i.beats + 1, stopped_at = NULL,
		types = EXCLUDED.types
	RETURNING beats
), tripped AS (
	INSERT INTO reconcile.guards (kind, name, tripped_at, reason, count)
	SELECT 'rewind', 'database', clock.now, 'beats',
		least($6::bigint - beaten.beats + 1, 2147483647)::int
	FROM clock, beaten WHERE beaten.beats <= $6::bigint
	ON CONFLICT DO NOTHING
)
SELECT beats, beats <= $6::bigint OR EXISTS (
	SELECT FROM reconcile.guards WHERE kind = 'rewind' AND released_at IS NULL) AS rewound
FROM beaten
