-- SPDX-License-Identifier: Apache-2.0
-- Takes what one dead instance had in flight, see bury() in migrations/0014_instances.sql. A
-- locked operation is waited for half a second.
-- $1 text actor, $2 text our instance_id, $3 bool our own row from before instead of others, $4
-- bigint microseconds after which a sign of life is stale.
-- Result: int operations that are still due, -1 when nobody is dead.
WITH settings AS MATERIALIZED (
	SELECT set_config('lock_timeout', '500ms', true) AS lock_timeout
)
SELECT coalesce(reconcile.bury($1::text, $2::text, $3::bool,
	$4::bigint * interval '1 microsecond'), -1) AS count
FROM settings
