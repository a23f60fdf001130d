-- SPDX-License-Identifier: Apache-2.0
-- How many operations are due whose type is not among the given ones. Looks into the gaps between
-- the known types only, so that it costs what it finds.
-- $1 text[] operation_type.
-- Result: bigint.
WITH clock AS MATERIALIZED (
	SELECT clock_timestamp() AS now
), gaps AS MATERIALIZED (
	SELECT low, lead(low, 1, U&'\+10FFFF' COLLATE "C") OVER (ORDER BY low) AS high
	FROM (SELECT '' COLLATE "C" AS low UNION SELECT unnest($1::text[])) AS known
)
SELECT count(*)
FROM clock, gaps JOIN reconcile.operations o
	ON o.operation_type > gaps.low AND o.operation_type < gaps.high
WHERE o.due_at <= clock.now
