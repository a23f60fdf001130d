-- SPDX-License-Identifier: Apache-2.0
-- Open operations that are not asked again, because they were found correct while their type was
-- observed only, become due. At most 50,000 at once: repeat until none is left.
-- $1 text[] types that are enforced.
-- Result: bigint, how many.
WITH clock AS MATERIALIZED (
	SELECT clock_timestamp() AS now
), found AS MATERIALIZED (
	SELECT operation_id FROM reconcile.operations
	WHERE operation_type = ANY ($1::text[]) AND due_at IS NULL AND closed_at IS NULL
	ORDER BY operation_type, operation_id LIMIT 50000
), woken AS (
	UPDATE reconcile.operations AS o SET due_at = clock.now
	FROM found, clock
	WHERE o.operation_id = found.operation_id AND o.due_at IS NULL AND o.closed_at IS NULL
	RETURNING 1
)
SELECT count(*) FROM woken
