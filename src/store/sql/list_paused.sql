-- SPDX-License-Identifier: Apache-2.0
-- Types that somebody paused.
-- Result: text operation_type, text paused_at, text paused_by, text pause_reason, bigint age in
-- seconds since then.
SELECT operation_type, reconcile.rfc3339(paused_at) AS paused_at, paused_by, pause_reason,
	floor(extract(epoch FROM clock_timestamp() - paused_at))::bigint AS age
FROM reconcile.operation_types
WHERE paused
ORDER BY operation_type
