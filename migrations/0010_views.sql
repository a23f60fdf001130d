-- SPDX-License-Identifier: Apache-2.0
-- What people look at. Views read open rows and small tables only, whatever the number of closed
-- operations, and change nothing.

SET LOCAL ROLE reconcile_owner;

-- One unreadable row must not take a whole view away.
CREATE FUNCTION reconcile.readable(evidence text) RETURNS json
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	PERFORM evidence::jsonb;
	RETURN evidence::json;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
	RETURN to_json(evidence);
END
$$;

-- Null where since is no moment: such a row must not take a whole view away either.
CREATE FUNCTION reconcile.age(at timestamptz, since timestamptz) RETURNS interval
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN isfinite(since) THEN at - since END;

-- What another send might do, for whoever thinks of one.
CREATE FUNCTION reconcile.duplication_risk(class text, first_sent_at timestamptz,
	attempt_until timestamptz, key_valid interval, at timestamptz) RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = reconcile, pg_temp
RETURN CASE
	WHEN first_sent_at IS NULL THEN 'none'
	WHEN attempt_until > at THEN 'high'
	WHEN class IN ('correct', 'divergent') THEN 'certain'
	WHEN class = 'missing' AND first_sent_at + reconcile.elapsed(key_valid) > at THEN 'low'
	WHEN class = 'missing' THEN 'medium'
	ELSE 'high'
END;

-- Types of open operations, by jumping from one to the next in the index.
CREATE VIEW reconcile.open_types AS
WITH RECURSIVE k (operation_type) AS (
	(SELECT operation_type FROM reconcile.operations WHERE due_at IS NOT NULL
	 ORDER BY operation_type LIMIT 1)
	UNION ALL
	SELECT (SELECT o.operation_type FROM reconcile.operations o
		WHERE o.due_at IS NOT NULL AND o.operation_type > k.operation_type
		ORDER BY o.operation_type LIMIT 1)
	FROM k WHERE k.operation_type IS NOT NULL
)
SELECT operation_type FROM k WHERE operation_type IS NOT NULL;

CREATE VIEW reconcile.exceptions AS
WITH clock (at) AS MATERIALIZED (SELECT clock_timestamp()),
cases (kind, operation_id, since) AS (
	SELECT 'review', o.operation_id, o.updated_at
	FROM reconcile.operations o WHERE o.status = 'manual_review'
	UNION ALL
	SELECT 'deadline', o.operation_id, o.deadline_at
	FROM reconcile.operations o, clock
	WHERE o.closed_at IS NULL AND o.deadline_at IS NOT NULL AND o.deadline_at < clock.at
		AND o.status <> 'manual_review'
	UNION ALL
	SELECT 'not_picked_up', o.operation_id, coalesce(o.next_attempt_at, o.created_at)
	FROM reconcile.operation_types t, reconcile.operations o, clock
	WHERE o.operation_type = t.operation_type
		AND o.status IN ('pending', 'retry_scheduled') AND o.superseded_by IS NULL
		AND NOT o.look_first
		AND coalesce(o.next_attempt_at, o.created_at)
			< clock.at - coalesce(t.pickup_window, t.latency_window)
		AND (o.deadline_at IS NULL OR o.deadline_at >= clock.at)
)
SELECT c.kind, o.operation_id, o.operation_type, o.scope, o.entity_type, o.entity_id,
	o.entity_state, o.version, t.target, o.status, o.class, o.reason, o.recommended_action,
	c.since, reconcile.age(clock.at, c.since) AS age, o.created_at, o.deadline_at, o.remote_id,
	(SELECT reconcile.readable(j.evidence) FROM reconcile.journal j
	 WHERE j.operation_id = o.operation_id AND j.evidence IS NOT NULL AND j.rule IS NOT NULL
	 ORDER BY j.revision DESC LIMIT 1) AS evidence,
	reconcile.duplication_risk(o.class, o.first_sent_at, o.attempt_until, t.key_valid,
		clock.at) AS duplication_risk,
	o.assignee, o.snoozed_until, o.revision, 1::bigint AS count
FROM cases c CROSS JOIN clock
JOIN reconcile.operations o ON o.operation_id = c.operation_id
LEFT JOIN reconcile.operation_types t ON t.operation_type = o.operation_type
UNION ALL
SELECT 'no_policy', NULL, k.operation_type, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
	'no_policy', NULL, d.since, reconcile.age(clock.at, d.since), NULL, NULL, NULL, NULL, NULL, NULL, NULL,
	NULL, d.count
FROM clock, reconcile.open_types k,
LATERAL (SELECT min(o.due_at), count(*) FROM reconcile.operations o
	WHERE o.operation_type = k.operation_type AND o.due_at IS NOT NULL) d (since, count)
WHERE NOT EXISTS (SELECT FROM reconcile.operation_types t WHERE t.operation_type = k.operation_type)
UNION ALL
SELECT 'target_away', NULL, a.operation_type, NULL, NULL, NULL, NULL, NULL, t.target, NULL, NULL,
	'no_verdicts', NULL, a.since, clock.at - a.since, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
	NULL, a.count
FROM clock,
LATERAL (SELECT n.operation_type, min(n.minute), sum(n.n)::bigint FROM reconcile.tallies n
	WHERE n.minute >= clock.at - interval '00:10:00'
	GROUP BY n.operation_type
	HAVING bool_and(n.class = 'inconclusive')) a (operation_type, since, count)
LEFT JOIN reconcile.operation_types t ON t.operation_type = a.operation_type
UNION ALL
SELECT 'guard', NULL, CASE g.kind WHEN 'type' THEN g.name END, NULL, NULL, NULL, NULL, NULL, NULL,
	NULL, NULL, g.reason, NULL, g.tripped_at, clock.at - g.tripped_at, NULL, NULL, NULL,
	json_build_object('kind', g.kind, 'name', g.name, 'count', g.count, 'share', g.share),
	NULL, NULL, NULL, NULL, coalesce(g.count, 1)
FROM clock, reconcile.guards g WHERE g.released_at IS NULL
UNION ALL
SELECT 'event_parked', e.aggregateid, e.payload ->> 'operation_type', e.payload ->> 'scope',
	e.payload ->> 'entity_type', e.payload ->> 'entity_id', e.payload ->> 'entity_state',
	e.payload ->> 'version', e.deliver_to, e.payload ->> 'status', e.payload ->> 'class',
	e.type, NULL, e.parked_at, clock.at - e.parked_at, e.created_at, NULL,
	e.payload ->> 'remote_id', json_build_object('id', e.id, 'attempts', e.attempts,
		'last_error', e.last_error), NULL, NULL, NULL, e.revision, 1
FROM clock, reconcile.outbox e
WHERE e.deliver_to IS NOT NULL AND e.delivered_at IS NULL AND e.parked_at IS NOT NULL;

-- Open operations by type and status; beside each, what the looks of the last day saw of the type.
CREATE VIEW reconcile.overview AS
WITH clock (at) AS MATERIALIZED (SELECT clock_timestamp()),
open AS (
	SELECT o.operation_type, o.status, count(*) AS operations, min(o.created_at) AS oldest_at,
		min(o.due_at) AS next_due_at, count(*) FILTER (WHERE o.due_at <= clock.at) AS due,
		count(*) FILTER (WHERE o.deadline_at < clock.at) AS past_deadline
	FROM reconcile.operations o, clock WHERE o.closed_at IS NULL
	GROUP BY o.operation_type, o.status
),
day AS (
	SELECT n.operation_type, sum(n.n)::bigint AS looks,
		(sum(n.n) FILTER (WHERE n.class NOT IN ('waiting', 'inconclusive')))::bigint AS verdicts,
		(sum(n.n) FILTER (WHERE n.class = 'divergent'))::bigint AS divergent,
		(sum(n.n) FILTER (WHERE n.class = 'inconclusive'))::bigint AS inconclusive,
		(sum(n.n) FILTER (WHERE n.action = 'confirm'))::bigint AS confirmed
	FROM reconcile.tallies n, clock WHERE n.minute >= clock.at - interval '24:00:00'
	GROUP BY n.operation_type
),
types AS (
	SELECT operation_type FROM reconcile.operation_types
	UNION SELECT operation_type FROM open
)
SELECT k.operation_type, t.target, t.mode, coalesce(t.paused, false) AS paused, t.policy,
	open.status, coalesce(open.operations, 0) AS operations, open.oldest_at,
	reconcile.age(clock.at, open.oldest_at) AS oldest_age, open.next_due_at, coalesce(open.due, 0) AS due,
	coalesce(open.past_deadline, 0) AS past_deadline,
	coalesce(day.looks, 0) AS looks_24h, coalesce(day.verdicts, 0) AS verdicts_24h,
	coalesce(day.inconclusive, 0) AS inconclusive_24h, coalesce(day.confirmed, 0) AS confirmed_24h,
	round(coalesce(day.divergent, 0) / nullif(day.verdicts, 0)::numeric, 4) AS divergent_share_24h
FROM clock CROSS JOIN types k
LEFT JOIN reconcile.operation_types t ON t.operation_type = k.operation_type
LEFT JOIN open ON open.operation_type = k.operation_type
LEFT JOIN day ON day.operation_type = k.operation_type;
