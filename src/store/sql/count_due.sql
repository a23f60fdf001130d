-- SPDX-License-Identifier: Apache-2.0
-- How many operations of these types are due, counted up to a limit; paused types aside.
-- $1 text[] operation_type, $2 bigint limit.
-- Result: bigint.
WITH clock AS MATERIALIZED (
	SELECT clock_timestamp() AS now
), types AS MATERIALIZED (
	SELECT array_agg(operation_type) AS list FROM unnest($1::text[]) AS operation_type
	WHERE operation_type NOT IN (SELECT operation_type FROM reconcile.operation_types WHERE paused)
)
SELECT count(*) FROM (
	SELECT FROM reconcile.operations
	WHERE operation_type = ANY ((SELECT list FROM types)::text[])
		AND due_at <= (SELECT now FROM clock)
	LIMIT $2::bigint
) AS due
