-- SPDX-License-Identifier: Apache-2.0
-- Releases the tripped guard of a type, or that against a database that went back in time.
-- $1 text kind, $2 text name, $3 int actions that may go through, $4 text reason.
-- Result: columns of guards.
SELECT kind, name, reconcile.rfc3339(tripped_at) AS tripped_at, reason, count, share, action_limit,
	let_through, reconcile.rfc3339(released_at) AS released_at, released_by, release_reason
FROM reconcile.release_guard($1::text, $2::text, $3::int, $4::text)
