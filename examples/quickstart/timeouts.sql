-- SPDX-License-Identifier: Apache-2.0
-- The example to follow: three requests that timed out, for psql -A -t.
SELECT format('  %s  %-32s -> %s', operation_id,
	CASE WHEN class = 'correct' AND requeues > 0 THEN 'nothing was there, so sent again'
		WHEN class = 'correct' THEN 'version ' || version || ' is there'
		WHEN class = 'divergent' THEN 'another version is there'
		WHEN class = 'missing' THEN 'nothing is there' ELSE 'no verdict' END,
	concat_ws(', ', status, CASE status WHEN 'confirmed' THEN 'remote id ' || remote_id
		ELSE reason || ', recommended: ' || recommended_action END))
FROM reconcile.operations WHERE operation_id IN ('sync-042', 'sync-043', 'sync-044')
ORDER BY operation_id;
