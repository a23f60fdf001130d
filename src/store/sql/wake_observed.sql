-- SPDX-License-Identifier: Apache-2.0
-- Open operations that are not asked again, because they were found correct while their type was
-- observed only, become due; what killed an instance again and again stays with people. At most 1,000 at once: repeat until none is left. A locked
-- row is waited for half a second.
-- $1 text[] types that are enforced.
-- Result: bigint, how many.
WITH clock AS MATERIALIZED (
	SELECT clock_timestamp() AS now, set_config('lock_timeout', '500ms', true) AS lock_timeout
), found AS MATERIALIZED (
	SELECT o.operation_id, clock.now FROM clock, reconcile.operations o
	WHERE operation_type = ANY ($1::text[]) AND due_at IS NULL AND closed_at IS NULL
		AND suspect = 0
	ORDER BY operation_type, operation_id LIMIT 1000
), woken AS (
	UPDATE reconcile.operations AS o SET due_at = found.now
	FROM found
	WHERE o.operation_id = found.operation_id AND o.due_at IS NULL AND o.closed_at IS NULL
	RETURNING 1
)
SELECT count(*) FROM woken
