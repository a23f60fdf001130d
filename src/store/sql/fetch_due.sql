-- SPDX-License-Identifier: Apache-2.0
-- Due operations of one type, oldest first, after a place in that order; none of a paused type.
-- What is selected is noted in the row of the instance, with what it holds already, in the same
-- statement: whoever finds the instance dead knows what it was asking about. That commit need not
-- wait for the disk: with a lost note nothing is lost but a suspicion.
-- $1 text operation_type, $2 timestamptz due until (null: now), $3 timestamptz and $4 text place,
-- $5 int rows at most, $6 int and $7 int: of so many parts by hash the one with this number (from
-- 0; one part is everything), $8 bool without those under suspicion, $9 text instance_id whose note
-- it is (null: none), $10 text[] operation_id that it holds already.
-- Result: the columns of due_row.h; one row with operation_id null when nothing is due.
WITH clock AS MATERIALIZED (
	SELECT clock_timestamp() AS now,
		EXISTS (SELECT FROM reconcile.operation_types t
			WHERE t.operation_type = $1::text AND t.paused) AS paused,
		CASE WHEN $9::text IS NOT NULL THEN set_config('synchronous_commit', 'off', true) END
), page AS MATERIALIZED (
	SELECT * FROM reconcile.operations
	WHERE operation_type = $1::text
		AND due_at <= coalesce($2::timestamptz, (SELECT now FROM clock))
		AND (due_at, operation_id) > ($3::timestamptz, $4::text)
		AND NOT (SELECT paused FROM clock)
		AND ($6::int = 1 OR reconcile.in_part(operation_id, $6::int, $7::int))
		AND (NOT $8::bool OR suspect = 0)
	ORDER BY due_at, operation_id
	LIMIT $5::int
), noted AS (
	UPDATE reconcile.instances
	SET in_flight = $10::text[] || ARRAY(SELECT operation_id FROM page)
	WHERE instance_id = $9::text
)
SELECT clock.now, false AS paused, o.operation_id, o.operation_type, o.scope, o.entity_type,
	o.entity_id, o.entity_state, o.version, o.idempotency_key, o.business_key, o.remote_id,
	o.correlation_id, o.superseded_by, o.compensates, o.expected, o.status, o.revision,
	o.attempts, o.requeues, o.checks, o.created_at, o.first_sent_at, o.sent_at,
	o.attempt_until, o.due_at, o.earning, o.absences, o.absent_since, o.inconclusive,
	o.disputed, o.class, o.reason, o.recommended_action, o.evidence_digest, o.postponed,
	o.suspect, o.look_first, o.next_attempt_at, o.announced_at,
	coalesce(o.announcements, 0)
FROM clock LEFT JOIN page AS o ON true
ORDER BY o.due_at, o.operation_id
