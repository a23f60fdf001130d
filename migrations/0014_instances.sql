-- SPDX-License-Identifier: Apache-2.0
-- How instances share the operations, and what becomes of those that one was asking about when it
-- died.

SET LOCAL ROLE reconcile_owner;

-- Whether the operation belongs to this one of so many parts, numbered from 0. Not written as an
-- equation, which the planner takes for so rare that it would rather sort everything that is due.
CREATE FUNCTION reconcile.in_part(operation_id text, parts int, part int) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN NOT ((hashtextextended(operation_id, 0) & 2147483647) % parts - part)::int::boolean;

-- An operation that died with its instance alone, three times after once in company, is not asked
-- any more: perhaps it is what kills. Only a person goes on with it.
CREATE FUNCTION reconcile.review_suspect(operation_id text, instance_id text, actor text,
	at timestamptz) RETURNS void
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	o operations;
	was text;
BEGIN
	SELECT * INTO o FROM operations k
	WHERE k.operation_id = review_suspect.operation_id AND k.suspect >= 4 AND k.due_at IS NOT NULL
	FOR UPDATE;
	IF NOT FOUND THEN
		RETURN;
	END IF;
	was := o.status;
	o.status := 'manual_review';
	o.class := NULL;
	o.reason := 'suspect';
	o.recommended_action := NULL;
	o.disputed := true;
	o.due_at := NULL;
	o.closed_at := NULL;
	o.closed_reason := NULL;
	PERFORM change(o, was, 'review', at, compact(json_build_object('reason', o.reason,
		'suspect', o.suspect, 'instance', instance_id)), 'review', true, actor);
END
$$;

-- Takes the list of one dead instance: stale and not stopped, or at_start our own from before.
-- Those of the list that are still due were not recorded since; they are asked again after a
-- while, alone. Null: nobody is dead.
CREATE FUNCTION reconcile.bury(actor text, instance_id text, at_start boolean, fresh interval)
RETURNS int
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	dead instances;
	at CONSTANT timestamptz := clock_timestamp();
	alone boolean;
	pushed int;
BEGIN
	SELECT * INTO dead FROM instances k
	WHERE CASE WHEN at_start THEN k.instance_id = bury.instance_id
			AND (k.stopped_at IS NULL OR k.in_flight <> '{}')
		ELSE k.instance_id <> bury.instance_id
			AND k.stopped_at IS NULL AND k.heartbeat_at < at - fresh END
	ORDER BY k.instance_id LIMIT 1 FOR UPDATE SKIP LOCKED;
	IF NOT FOUND THEN
		RETURN NULL;
	END IF;
	UPDATE instances k SET stopped_at = at, in_flight = '{}'
	WHERE k.instance_id = dead.instance_id;
	alone := cardinality(dead.in_flight) = 1;
	UPDATE operations k SET
		due_at = at + interval '30 s'
			+ interval '10 s' * ((hashtextextended(k.operation_id, 1) & 1023) / 1024.0),
		suspect = CASE WHEN alone THEN k.suspect + 1 ELSE greatest(k.suspect, 1) END
	WHERE k.operation_id = ANY (dead.in_flight) AND k.due_at <= at;
	GET DIAGNOSTICS pushed = ROW_COUNT;
	IF alone THEN
		PERFORM review_suspect(dead.in_flight[1], dead.instance_id, actor, at);
	END IF;
	RETURN pushed;
END
$$;

GRANT EXECUTE ON FUNCTION
	reconcile.in_part(text, int, int),
	reconcile.bury(text, text, boolean, interval)
	TO reconcile_daemon;

COMMENT ON FUNCTION reconcile.in_part IS 'whether an operation belongs to one of so many equal parts';
COMMENT ON FUNCTION reconcile.bury IS 'pushes back what a dead instance had in flight; one instance a call, null when there is none';
