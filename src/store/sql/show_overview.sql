-- SPDX-License-Identifier: Apache-2.0
-- Open operations by type and status, with what the looks of the last day saw of the type.
-- Result: columns of the view overview; ages in seconds.
SELECT operation_type, target, mode, paused, policy, status, operations,
	reconcile.rfc3339(oldest_at) AS oldest_at,
	floor(extract(epoch FROM oldest_age))::bigint AS oldest_age,
	reconcile.rfc3339(next_due_at) AS next_due_at, due, past_deadline, looks_24h, verdicts_24h,
	inconclusive_24h, confirmed_24h, divergent_share_24h
FROM reconcile.overview
ORDER BY operation_type, status
