-- SPDX-License-Identifier: Apache-2.0
-- The guards that keep a mistake from becoming many: how many automatic actions the daemon may
-- carry out, and what people say about it. Every action but a confirmation draws on the budget of
-- its type, in the statement that records it; the locked row of the budget makes instances draw
-- one after the other.

SET LOCAL ROLE reconcile_owner;

CREATE FUNCTION reconcile.trip_guard(kind text, name text, reason text, count int, share numeric)
RETURNS void
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	INSERT INTO guards AS k (kind, name, tripped_at, reason, count, share)
	VALUES (trip_guard.kind, trip_guard.name, clock_timestamp(), trip_guard.reason,
		trip_guard.count, trip_guard.share)
	ON CONFLICT DO NOTHING;
END
$$;

-- Verdicts that the guard counts, of all instances: those of the last window or the last fifty,
-- whichever reaches further back, in whole minutes. Fifty rows with a verdict hold fifty verdicts.
CREATE FUNCTION reconcile.recent_verdicts(operation_type text, span interval, at timestamptz,
	OUT verdicts bigint, OUT bad bigint)
LANGUAGE sql STABLE
SET search_path = reconcile, pg_temp
BEGIN ATOMIC
	WITH newest AS (
		SELECT k.minute, k.counted FROM reconcile.tallies k
		WHERE k.operation_type = recent_verdicts.operation_type AND k.counted > 0
		ORDER BY k.minute DESC LIMIT 50
	), reached AS (
		SELECT minute, sum(counted) OVER (ORDER BY minute DESC) AS verdicts FROM newest
	), since AS (
		SELECT least(date_trunc('minute', recent_verdicts.at - recent_verdicts.span),
			coalesce(max(minute) FILTER (WHERE verdicts >= 50), min(minute))) AS minute
		FROM reached
	)
	SELECT coalesce(sum(k.counted), 0)::bigint,
		coalesce(sum(k.counted) FILTER (WHERE k.class IN ('missing', 'divergent')), 0)::bigint
	FROM reconcile.tallies k
	WHERE k.operation_type = recent_verdicts.operation_type
		AND k.minute >= (SELECT minute FROM since);
END;

-- What a person let through when the guard was released last, as far as it is not used up.
CREATE FUNCTION reconcile.draw_on_release(operation_type text, wanted int) RETURNS int
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	g guards;
	granted int;
BEGIN
	SELECT * INTO g FROM guards k WHERE k.kind = 'type' AND k.name = draw_on_release.operation_type
	ORDER BY k.tripped_at DESC LIMIT 1;
	IF NOT FOUND OR g.let_through >= g.action_limit THEN
		RETURN 0;
	END IF;
	granted := least(wanted, g.action_limit - g.let_through);
	UPDATE guards k SET let_through = k.let_through + granted
	WHERE k.kind = g.kind AND k.name = g.name AND k.tripped_at = g.tripped_at;
	RETURN granted;
END
$$;

-- Takes wanted actions of the running window and tells how many it holds. With the last one of a
-- window nothing trips, with the first one too many the guard does.
CREATE FUNCTION reconcile.draw_on_budget(b reconcile.budgets, t reconcile.operation_types,
	wanted int, at timestamptz) RETURNS int
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	granted int;
BEGIN
	IF b.window_started_at + t.guard_window <= at THEN
		b.window_started_at := at;
		b.used := 0;
	END IF;
	granted := least(wanted, greatest(t.guard_max - b.used, 0));
	UPDATE budgets k SET window_started_at = b.window_started_at, used = b.used + granted
	WHERE k.operation_type = b.operation_type;
	IF granted < wanted THEN
		PERFORM trip_guard('type', b.operation_type, 'max', b.used + wanted, NULL);
	END IF;
	RETURN granted;
END
$$;

-- The budget of the type, locked until the end of the transaction.
CREATE FUNCTION reconcile.locked_budget(operation_type text) RETURNS reconcile.budgets
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	b budgets;
BEGIN
	SELECT * INTO b FROM budgets k WHERE k.operation_type = locked_budget.operation_type FOR UPDATE;
	IF NOT FOUND THEN
		INSERT INTO budgets AS k (operation_type) VALUES (locked_budget.operation_type)
		ON CONFLICT DO NOTHING;
		SELECT * INTO b FROM budgets k WHERE k.operation_type = locked_budget.operation_type
		FOR UPDATE;
	END IF;
	RETURN b;
END
$$;

-- How many of the wanted actions may be carried out. verdicts, bad: those of the batch that is
-- about to be recorded, and the missing and divergent ones among them. What is not granted has
-- tripped the guard, or found it tripped.
CREATE FUNCTION reconcile.draw(operation_type text, wanted int, verdicts int, bad int) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	b CONSTANT budgets := locked_budget(operation_type);
	at CONSTANT timestamptz := clock_timestamp();
	t CONSTANT operation_types := type_of(operation_type);
	granted int;
	recent record;
BEGIN
	IF EXISTS (SELECT FROM guards k WHERE k.released_at IS NULL
		   AND (k.kind = 'rewind' OR k.kind = 'type' AND k.name = draw.operation_type)) THEN
		RETURN 0;
	END IF;
	granted := draw_on_release(draw.operation_type, wanted);
	IF granted = wanted THEN
		RETURN granted;
	END IF;
	SELECT r.verdicts + draw.verdicts AS verdicts, r.bad + draw.bad AS bad INTO recent
	FROM recent_verdicts(draw.operation_type, t.guard_window, at) r;
	IF recent.verdicts >= t.guard_sample AND recent.bad > recent.verdicts * t.guard_share THEN
		PERFORM trip_guard('type', draw.operation_type, 'share', recent.verdicts::int,
			round(recent.bad / recent.verdicts::numeric, 4));
		RETURN granted;
	END IF;
	RETURN granted + draw_on_budget(b, t, wanted - granted, at);
END
$$;

CREATE FUNCTION reconcile.person() RETURNS text
LANGUAGE sql STABLE
RETURN 'operator:' || session_user;

CREATE FUNCTION reconcile.check_reason(reason text) RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	IF reason IS NULL OR reason !~ '\S' OR octet_length(reason) > 2000 THEN
		PERFORM refuse('RC400', 'reason is missing or longer than 2000 bytes');
	END IF;
END
$$;

-- Pauses or resumes; what is so already stays as it is, with who did it first.
CREATE FUNCTION reconcile.set_paused(operation_type text, paused boolean, reason text)
RETURNS reconcile.operation_types
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	t operation_types;
BEGIN
	PERFORM check_reason(reason);
	UPDATE operation_types k SET paused = set_paused.paused, paused_at = clock_timestamp(),
		paused_by = person(), pause_reason = set_paused.reason
	WHERE k.operation_type = set_paused.operation_type AND k.paused <> set_paused.paused;
	SELECT * INTO t FROM operation_types k WHERE k.operation_type = set_paused.operation_type;
	IF NOT FOUND THEN
		PERFORM refuse('RC404', format('unknown operation type "%s"', operation_type));
	END IF;
	RETURN t;
END
$$;

-- Operations of the type are left alone from the next statement on, also those being asked about.
CREATE FUNCTION reconcile.pause(operation_type text, reason text DEFAULT NULL)
RETURNS reconcile.operation_types
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	RETURN set_paused(operation_type, true, reason);
END
$$;

CREATE FUNCTION reconcile.resume(operation_type text, reason text DEFAULT NULL)
RETURNS reconcile.operation_types
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	t CONSTANT operation_types := set_paused(operation_type, false, reason);
BEGIN
	PERFORM pg_notify('reconciled', t.operation_type);
	RETURN t;
END
$$;

-- action_limit actions are carried out before the limits of the policy hold again; null is none.
-- After the rewind guard everything that a worker could take is looked at first: it may have been
-- sent in the history that is lost.
CREATE FUNCTION reconcile.release_guard(kind text, name text, action_limit int DEFAULT NULL,
	reason text DEFAULT NULL) RETURNS reconcile.guards
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	at CONSTANT timestamptz := clock_timestamp();
	g guards;
BEGIN
	PERFORM check_reason(reason);
	IF action_limit < 0 THEN
		PERFORM refuse('RC400', 'action_limit is negative');
	END IF;
	UPDATE guards k SET released_at = at, released_by = person(),
		release_reason = release_guard.reason,
		action_limit = coalesce(release_guard.action_limit, 0)
	WHERE k.kind = release_guard.kind AND k.name = release_guard.name AND k.released_at IS NULL
	RETURNING * INTO g;
	IF g.kind IS NULL THEN
		PERFORM refuse('RC404', format('no guard %s "%s" is tripped', kind, name));
	END IF;
	IF g.kind = 'rewind' THEN
		UPDATE operations k SET look_first = true, due_at = at
		WHERE k.status IN ('pending', 'retry_scheduled') AND k.closed_at IS NULL;
	END IF;
	PERFORM pg_notify('reconciled', CASE g.kind WHEN 'type' THEN g.name ELSE '' END);
	RETURN g;
END
$$;

GRANT EXECUTE ON FUNCTION reconcile.draw(text, int, int, int) TO reconcile_daemon;
GRANT EXECUTE ON FUNCTION
	reconcile.pause(text, text),
	reconcile.resume(text, text),
	reconcile.release_guard(text, text, int, text)
	TO reconcile_operator;

COMMENT ON FUNCTION reconcile.draw IS 'how many of the wanted automatic actions of a type its guard lets through';
COMMENT ON FUNCTION reconcile.pause IS 'leaves the operations of a type alone until resume';
COMMENT ON FUNCTION reconcile.resume IS 'goes on with a paused type at once';
COMMENT ON FUNCTION reconcile.release_guard IS 'lets action_limit actions through, then the limits hold again; kind is type or rewind, name the type or "database"';
