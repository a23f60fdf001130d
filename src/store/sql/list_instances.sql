-- SPDX-License-Identifier: Apache-2.0
-- Instances that are alive.
-- $1 bigint microseconds after which a sign of life is stale.
-- Result: text instance_id, text name, text version, text started_at, text heartbeat_at, bigint age
-- in seconds since the start, int types it takes part in, int operations in flight.
SELECT instance_id, name, version, reconcile.rfc3339(started_at) AS started_at,
	reconcile.rfc3339(heartbeat_at) AS heartbeat_at,
	floor(extract(epoch FROM clock_timestamp() - started_at))::bigint AS age,
	(SELECT count(*)::int FROM jsonb_object_keys(types)) AS types,
	cardinality(in_flight) AS in_flight
FROM reconcile.instances
WHERE stopped_at IS NULL
	AND instances.heartbeat_at >= clock_timestamp() - $1::bigint * interval '1 microsecond'
ORDER BY name, instance_id
