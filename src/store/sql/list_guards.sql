-- SPDX-License-Identifier: Apache-2.0
-- Guards, newest first: those that are tripped, and those that let something through since.
-- $1 bool with those that are history, $2 int rows at most.
-- Result: columns of guards, numeric age in seconds since it tripped.
SELECT kind, name, reconcile.rfc3339(tripped_at) AS tripped_at, reason, count, share, action_limit,
	let_through, reconcile.rfc3339(released_at) AS released_at, released_by, release_reason,
	floor(extract(epoch FROM clock_timestamp() - tripped_at))::bigint AS age
FROM reconcile.guards
WHERE $1::boolean OR released_at IS NULL OR let_through < action_limit
ORDER BY guards.tripped_at DESC, kind, name
LIMIT $2::int
