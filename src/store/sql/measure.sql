-- SPDX-License-Identifier: Apache-2.0
-- What the database knows for the metrics: one row for each number, zeros included, so that an
-- alarm finds every series. Reads open rows, what is due, and the small tables; open rows are read
-- once. Ages are seconds.
-- $1 text[] operation_type.
-- Result: text name of the family, text operation_type or null, text value of its other label or
-- null, double precision value.
WITH clock AS MATERIALIZED (
	SELECT clock_timestamp() AS now
), types AS MATERIALIZED (
	SELECT k.operation_type, coalesce(t.pickup_window, t.latency_window, '5 min') AS pickup
	FROM unnest($1::text[]) AS k (operation_type)
	LEFT JOIN reconcile.operation_types t ON t.operation_type = k.operation_type
), open AS MATERIALIZED (
	SELECT o.operation_type, o.status, count(*) AS operations, min(o.created_at) AS oldest_at,
		count(*) FILTER (WHERE o.deadline_at < clock.now) AS overdue,
		count(*) FILTER (WHERE o.status IN ('pending', 'retry_scheduled')
			AND o.superseded_by IS NULL AND NOT o.look_first
			AND coalesce(o.next_attempt_at, o.created_at) < clock.now - types.pickup)
			AS not_picked_up,
		sum(greatest(o.attempts - 1 - o.requeues, 0)) AS by_worker,
		sum(o.requeues) AS by_verdict
	FROM clock, types JOIN reconcile.operations o USING (operation_type)
	WHERE o.closed_at IS NULL AND o.operation_type = ANY ($1::text[])
	GROUP BY o.operation_type, o.status
), due AS MATERIALIZED (
	SELECT o.operation_type, min(o.due_at) AS oldest_at
	FROM clock, reconcile.operations o
	WHERE o.due_at <= clock.now AND o.operation_type = ANY ($1::text[])
	GROUP BY o.operation_type
), statuses AS MATERIALIZED (
	SELECT t.operation_type, s.status, coalesce(open.operations, 0) AS operations,
		coalesce(extract(epoch FROM clock.now - open.oldest_at), 0) AS age
	FROM clock, types t
	CROSS JOIN (VALUES ('pending'), ('processing'), ('awaiting_confirmation'),
		('retry_scheduled'), ('manual_review'), ('compensating')) AS s (status)
	LEFT JOIN open ON open.operation_type = t.operation_type AND open.status = s.status
), by_type AS MATERIALIZED (
	SELECT t.operation_type, coalesce(sum(open.overdue), 0) AS overdue,
		coalesce(sum(open.not_picked_up), 0) AS not_picked_up,
		coalesce(sum(open.by_worker), 0) AS by_worker,
		coalesce(sum(open.by_verdict), 0) AS by_verdict
	FROM types t LEFT JOIN open ON open.operation_type = t.operation_type
	GROUP BY t.operation_type
), undelivered AS MATERIALIZED (
	SELECT min(e.created_at) FILTER (WHERE e.parked_at IS NULL) AS oldest_at,
		count(*) FILTER (WHERE e.parked_at IS NOT NULL) AS parked
	FROM reconcile.outbox e WHERE e.deliver_to IS NOT NULL AND e.delivered_at IS NULL
), unsettled AS MATERIALIZED (
	SELECT count(*) AS records, min(k.created_at) AS oldest_at
	FROM reconcile.idempotency_records k
	WHERE k.status IN ('processing', 'pending') AND k.status = 'pending'
), gaps AS MATERIALIZED (
	SELECT low, lead(low, 1, U&'\+10FFFF' COLLATE "C") OVER (ORDER BY low) AS high
	FROM (SELECT '' COLLATE "C" AS low UNION SELECT unnest($1::text[])) AS known
)
SELECT 'reconciled_operations' AS name, operation_type, status AS label_value,
	operations::double precision AS value
FROM statuses
UNION ALL SELECT 'reconciled_oldest_open_age_seconds', operation_type, status, age FROM statuses
UNION ALL SELECT 'reconciled_oldest_due_age_seconds', t.operation_type, NULL,
	coalesce(extract(epoch FROM clock.now - due.oldest_at), 0)
FROM clock, types t LEFT JOIN due ON due.operation_type = t.operation_type
UNION ALL SELECT 'reconciled_overdue', operation_type, NULL, overdue FROM by_type
UNION ALL SELECT 'reconciled_not_picked_up', operation_type, NULL, not_picked_up FROM by_type
UNION ALL SELECT 'reconciled_worker_retries', operation_type, 'worker', by_worker FROM by_type
UNION ALL SELECT 'reconciled_worker_retries', operation_type, 'requeue', by_verdict FROM by_type
UNION ALL SELECT 'reconciled_outbox_oldest_age_seconds', NULL, NULL,
	coalesce(extract(epoch FROM clock.now - oldest_at), 0) FROM clock, undelivered
UNION ALL SELECT 'reconciled_outbox_parked', NULL, NULL, parked FROM undelivered
UNION ALL SELECT 'reconciled_idempotency_conflicts_total', NULL, NULL, coalesce(sum(conflicts), 0)
FROM reconcile.idempotency_records WHERE conflicts > 0
UNION ALL SELECT 'reconciled_idempotency_pending', NULL, NULL, records FROM unsettled
UNION ALL SELECT 'reconciled_idempotency_pending_oldest_seconds', NULL, NULL,
	coalesce(extract(epoch FROM clock.now - oldest_at), 0) FROM clock, unsettled
UNION ALL SELECT 'reconciled_operations_without_policy', NULL, NULL, (
	SELECT count(*) FROM gaps JOIN reconcile.operations o
		ON o.operation_type > gaps.low AND o.operation_type < gaps.high
	WHERE o.due_at <= clock.now) FROM clock
