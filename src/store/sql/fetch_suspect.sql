-- SPDX-License-Identifier: Apache-2.0
-- At most one due operation under suspicion, the oldest of these types; none of a paused type. It
-- is all that the note of the instance names afterwards; see fetch_due.sql.
-- $1 text[] operation_type, $2 int[] number of our part of each type, $3 int[] of how many parts
-- (0: none at all), $4 text instance_id.
-- Result: the columns of due_row.h; one row with operation_id null when there is none.
WITH clock AS MATERIALIZED (
	SELECT clock_timestamp() AS now, set_config('synchronous_commit', 'off', true)
), types AS MATERIALIZED (
	SELECT k.* FROM unnest($1::text[], $2::int[], $3::int[]) AS k (operation_type, part, parts)
	WHERE k.parts > 0 AND k.operation_type NOT IN (
		SELECT operation_type FROM reconcile.operation_types WHERE paused)
), page AS MATERIALIZED (
	SELECT o.* FROM reconcile.operations o JOIN types t USING (operation_type)
	WHERE o.operation_type = ANY ($1::text[]) AND o.suspect > 0
		AND o.due_at <= (SELECT now FROM clock)
		AND (t.parts = 1 OR reconcile.in_part(o.operation_id, t.parts, t.part))
	ORDER BY o.due_at, o.operation_id
	LIMIT 1
), noted AS (
	UPDATE reconcile.instances SET in_flight = ARRAY(SELECT operation_id FROM page)
	WHERE instance_id = $4::text AND EXISTS (SELECT FROM page)
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
