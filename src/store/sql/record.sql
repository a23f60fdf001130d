-- SPDX-License-Identifier: Apache-2.0
-- Writes the verdicts of one batch: operations, journal, outbox and tallies, all or none. A row
-- is written only if its operation is still at the revision that was selected, and, where only
-- counters change, at the same number of checks. Everything that depends on the clock is computed
-- before the update, which so has immutable expressions only; the lock timeout is set before the
-- first row is locked, because nothing is read from looks before settings is.
-- Of a type that is paused or judged by another policy now, only confirmations are written. An
-- action that draws on the guard of its type is held when draw() does not grant it; draw() runs for
-- those types in order of their names and before any operation is locked, and without such a row
-- not at all.
-- $1 text actor, $2 text instance_id; then one array for each column of looks:
-- $3 text[] operation_id, $4 bigint[] revision, $5 int[] checks, $6 bool[] changed,
-- $7 text[] from_status, $8 text[] to_status, $9 text[] class, $10 text[] reason,
-- $11 text[] recommended_action, $12 text[] closed_reason, $13 text[] remote_id (null: keep),
-- $14 text[] earning, $15 int[] absences, $16 timestamptz[] absent_since, $17 int[] inconclusive,
-- $18 bool[] disputed, $19 bigint[] microseconds until due (null: never), $20 text[] event,
-- $21 text[] action, $22 text[] rule, $23 text[] evidence, $24 bytea[] evidence_digest,
-- $25 text[] policy, $26 text[] class and $27 text[] reason of the journal row,
-- $28 text[] type of event (null: none), $29 text[] class and $30 text[] action to be tallied,
-- $31 timestamptz[] due_at that was selected: who made it due again since then is not overruled,
-- $32 text[] operation_type, $33 bool[] draws on the guard, $34 timestamptz[] not written later
-- than this (null: no limit), $35 bool[] requeue, $36 bigint[] microseconds until the next attempt
-- of a requeue, $37 int[] postponed, $38 bool[] announces.
-- Result: bigint place in the arrays, int outcome (1 written, 2 held by a guard, 3 too late),
-- bigint revision; no row for what is stale.
WITH settings AS MATERIALIZED (
	SELECT set_config('lock_timeout', '500ms', true) AS lock_timeout, clock_timestamp() AS now
), looks AS MATERIALIZED (
	SELECT l.*, s.now, s.now + l.due_in * interval '1 microsecond' AS due_at,
		CASE WHEN l.requeue THEN s.now + l.next_attempt_in * interval '1 microsecond' END
			AS next_attempt_at,
		l.to_status IN ('confirmed', 'compensated', 'not_applicable') AS final,
		l.tally_class IN ('missing', 'correct', 'divergent', 'ambiguous', 'not_applicable')
			OR l.tally_class = 'waiting' AND l.journal_reason = 'never_sent' AS looked,
		l.tally_class IN ('missing', 'correct', 'divergent', 'ambiguous', 'not_applicable')
			AND l.from_status IN ('pending', 'processing', 'awaiting_confirmation',
				'retry_scheduled') AS counted,
		l.changed AND l.to_status = 'confirmed' AS confirms,
		coalesce(t.policy = l.policy AND NOT t.paused, true) AS in_force,
		coalesce(l.not_after < s.now, false) AS late,
		t.deliver_to
	FROM settings s CROSS JOIN unnest($3::text[], $4::bigint[], $5::int[], $6::bool[], $7::text[],
		$8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[],
		$14::text[], $15::int[], $16::timestamptz[], $17::int[], $18::bool[],
		$19::bigint[], $20::text[], $21::text[], $22::text[], $23::text[], $24::bytea[],
		$25::text[], $26::text[], $27::text[], $28::text[], $29::text[], $30::text[],
		$31::timestamptz[], $32::text[], $33::bool[], $34::timestamptz[], $35::bool[],
		$36::bigint[], $37::int[], $38::bool[])
	WITH ORDINALITY AS l (operation_id, revision, checks, changed, from_status, to_status,
		class, reason, recommended_action, closed_reason, remote_id, earning, absences,
		absent_since, inconclusive, disputed, due_in, event, action, rule, evidence,
		evidence_digest, policy, journal_class, journal_reason, event_type, tally_class,
		tally_action, due_was, operation_type, guarded, not_after, requeue, next_attempt_in,
		postponed, announces, place)
	LEFT JOIN reconcile.operation_types t ON t.operation_type = l.operation_type
), actions AS MATERIALIZED (
	SELECT place, operation_id, operation_type, revision FROM looks
	WHERE guarded AND in_force AND NOT late
), unchanged AS MATERIALIZED (
	SELECT operation_id, revision FROM reconcile.operations
	WHERE operation_id = ANY (ARRAY(SELECT operation_id FROM actions))
), wanted AS MATERIALIZED (
	SELECT a.place, a.operation_type,
		row_number() OVER (PARTITION BY a.operation_type ORDER BY a.place) AS turn
	FROM actions a JOIN unchanged USING (operation_id, revision)
), granted AS MATERIALIZED (
	SELECT w.operation_type, reconcile.draw(w.operation_type, w.wanted::int,
		(SELECT count(*) FROM looks l
		 WHERE l.operation_type = w.operation_type AND l.counted)::int,
		(SELECT count(*) FROM looks l WHERE l.operation_type = w.operation_type AND l.counted
		 AND l.tally_class IN ('missing', 'divergent'))::int) AS count
	FROM (SELECT operation_type, count(*) AS wanted FROM wanted
		GROUP BY operation_type ORDER BY operation_type) w
), held AS MATERIALIZED (
	SELECT w.place FROM wanted w JOIN granted g USING (operation_type) WHERE w.turn > g.count
), recorded AS (
	UPDATE reconcile.operations AS o SET
		status = l.to_status,
		class = CASE WHEN l.changed THEN l.class ELSE o.class END,
		reason = CASE WHEN l.changed THEN l.reason ELSE o.reason END,
		recommended_action = CASE WHEN l.changed THEN l.recommended_action
			ELSE o.recommended_action END,
		closed_reason = coalesce(l.closed_reason,
			CASE WHEN l.to_status = o.status THEN o.closed_reason END),
		closed_at = CASE WHEN l.final THEN coalesce(o.closed_at, l.now) END,
		remote_id = coalesce(l.remote_id, o.remote_id),
		attempt_until = CASE WHEN NOT l.final AND NOT l.requeue THEN o.attempt_until END,
		next_attempt_at = CASE WHEN l.requeue THEN l.next_attempt_at
			WHEN NOT l.final THEN o.next_attempt_at END,
		snoozed_until = CASE WHEN NOT l.final THEN o.snoozed_until END,
		earning = l.earning,
		absences = l.absences,
		absent_since = l.absent_since,
		inconclusive = l.inconclusive,
		disputed = l.disputed,
		look_first = o.look_first AND NOT l.looked,
		requeues = CASE WHEN l.requeue THEN o.requeues + 1 ELSE o.requeues END,
		suspect = 0,
		postponed = l.postponed,
		announced_at = CASE WHEN l.announces THEN l.now ELSE o.announced_at END,
		announcements = CASE WHEN l.announces THEN coalesce(o.announcements, 0) + 1
			ELSE o.announcements END,
		checks = o.checks + 1,
		due_at = CASE WHEN o.due_at IS NOT DISTINCT FROM l.due_was THEN l.due_at
			ELSE least(o.due_at, l.due_at) END,
		evidence_digest = CASE WHEN l.changed THEN l.evidence_digest
			ELSE o.evidence_digest END,
		updated_at = CASE WHEN l.changed THEN l.now ELSE o.updated_at END,
		revision = CASE WHEN l.changed THEN o.revision + 1 ELSE o.revision END
	FROM looks AS l
	WHERE o.operation_id = l.operation_id AND o.operation_id = ANY ($3::text[])
		AND o.revision = l.revision AND (l.changed OR o.checks = l.checks)
		AND (l.confirms OR l.in_force AND NOT l.late) AND l.place <> ALL (ARRAY(SELECT place FROM held))
	RETURNING l.place, l.changed, l.event_type, l.from_status, l.now, l.journal_class,
		l.journal_reason, l.event, l.action, l.rule, l.evidence, l.policy, l.tally_class,
		l.tally_action, l.counted, l.deliver_to, o.operation_id, o.operation_type, o.scope, o.entity_type,
		o.entity_id, o.entity_state, o.version, o.business_key, o.remote_id,
		o.correlation_id, o.attempts, o.status, o.class, o.reason, o.revision,
		o.first_sent_at
), journaled AS (
	INSERT INTO reconcile.journal (operation_id, revision, at, actor, event, from_status,
		to_status, class, reason, action, rule, evidence, policy, elapsed_ms)
	SELECT operation_id, revision, now, $1::text, event, from_status, status, journal_class,
		journal_reason, action, rule, evidence, policy,
		CASE WHEN status = 'confirmed' AND from_status <> 'confirmed'
		THEN (extract(epoch FROM now - first_sent_at) * 1000)::bigint END
	FROM recorded WHERE changed
), announced AS (
	INSERT INTO reconcile.outbox (aggregateid, revision, type, payload, deliver_to, created_at,
		next_attempt_at)
	SELECT r.operation_id, r.revision, r.event_type,
		reconcile.event_payload(r.operation_id, r.operation_type, r.scope, r.entity_type,
			r.entity_id, r.entity_state, r.version, r.business_key, r.remote_id,
			r.correlation_id, r.attempts, r.from_status, r.status, r.class, r.reason,
			r.revision, r.now),
		r.deliver_to, r.now, CASE WHEN r.deliver_to IS NOT NULL THEN r.now END
	FROM recorded r WHERE r.changed AND r.event_type IS NOT NULL
), tallied AS (
	INSERT INTO reconcile.tallies AS t (instance_id, minute, operation_type, class, action, n,
		counted)
	SELECT $2::text, date_trunc('minute', now), operation_type, tally_class, tally_action,
		count(*), count(*) FILTER (WHERE counted)
	FROM recorded GROUP BY 2, 3, 4, 5 ORDER BY 3, 4, 5
	ON CONFLICT (instance_id, minute, operation_type, class, action)
	DO UPDATE SET n = t.n + EXCLUDED.n, counted = t.counted + EXCLUDED.counted
)
SELECT place, 1 AS outcome, revision FROM recorded
UNION ALL SELECT place, 2, NULL FROM held
UNION ALL SELECT place, 3, NULL FROM looks
	WHERE late AND in_force AND NOT confirms
