-- SPDX-License-Identifier: Apache-2.0
-- Where the latency window of a type is another one than before (five minutes while nothing was
-- known of the type), moves the due times that were computed from the old one and at which nobody
-- has looked yet. At most 1,000 at once: repeat
-- until none is left. A locked row is waited for half a second. Goes before publish_policies,
-- which forgets the old window.
-- $1 text[] operation_type, $2 bigint[] latency_window in microseconds.
-- Result: bigint, how many.
WITH settings AS MATERIALIZED (
	SELECT set_config('lock_timeout', '500ms', true) AS lock_timeout
), changed AS MATERIALIZED (
	SELECT operation_type, before, after
	FROM (SELECT l.operation_type, coalesce(t.latency_window, interval '5 min') AS before,
			l.latency_window * interval '1 microsecond' AS after
		FROM settings, unnest($1::text[], $2::bigint[]) AS l (operation_type, latency_window)
		LEFT JOIN reconcile.operation_types t USING (operation_type)) w
	WHERE before <> after
), found AS MATERIALIZED (
	SELECT o.operation_id, o.due_at AS before, o.due_at - c.before + c.after AS after
	FROM changed c JOIN reconcile.operations o USING (operation_type)
	WHERE o.due_at IS NOT NULL AND o.closed_at IS NULL AND o.checks = 0
		AND o.due_at - c.before IN (o.created_at, o.sent_at, o.attempt_until, o.next_attempt_at)
	LIMIT 1000
), moved AS (
	UPDATE reconcile.operations AS o SET due_at = found.after
	FROM found
	WHERE o.operation_id = found.operation_id AND o.due_at = found.before
	RETURNING 1
)
SELECT count(*) FROM moved
