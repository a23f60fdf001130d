-- SPDX-License-Identifier: Apache-2.0
-- The one way in which an operation changes: row, journal and outbox in one statement. Functions
-- for applications and people go through change(); the daemon records many rows in one statement
-- of its own and takes event_type() and event_payload() from here, so that what it writes
-- differs in the actor only.

SET LOCAL ROLE reconcile_owner;

-- Which changes of status are announced, at most one event each. An attempt that begins, ends or
-- is repeated by its own worker is known to that worker and nobody else waits for it.
CREATE FUNCTION reconcile.event_type(from_status text, to_status text, event text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
	WHEN from_status IS NULL THEN 'operation.requested'
	WHEN from_status = to_status THEN NULL
	WHEN to_status = 'confirmed' THEN 'operation.confirmed'
	WHEN to_status = 'manual_review' THEN 'operation.review'
	WHEN to_status = 'not_applicable' THEN 'operation.closed'
	WHEN to_status = 'compensating' THEN 'operation.compensating'
	WHEN to_status = 'compensated' THEN 'operation.compensated'
	WHEN to_status = 'retry_scheduled' AND event = 'requeued' THEN 'operation.requeued'
END;

CREATE FUNCTION reconcile.rfc3339(at timestamptz) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');

-- outbox.payload. Arguments are columns of the row after the change, so that a statement over many
-- rows can call it (the body is inlined). References and status only: no expected values, no
-- payload, no idempotency key.
CREATE FUNCTION reconcile.event_payload(operation_id text, operation_type text, scope text,
	entity_type text, entity_id text, entity_state text, version text, business_key text,
	remote_id text, correlation_id text, attempts int, from_status text, status text,
	class text, reason text, revision bigint, at timestamptz) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
RETURN jsonb_build_object(
	'operation_id', operation_id,
	'operation_type', operation_type,
	'scope', scope,
	'entity_type', entity_type,
	'entity_id', entity_id,
	'entity_state', entity_state,
	'version', version,
	'business_key', business_key,
	'remote_id', remote_id,
	'correlation_id', correlation_id,
	'attempts', attempts,
	'from_status', from_status,
	'status', status,
	'class', class,
	'reason', reason,
	'revision', revision,
	'at', reconcile.rfc3339(at));

CREATE FUNCTION reconcile.actor() RETURNS text
LANGUAGE sql STABLE
RETURN 'app:' || session_user;

-- What is known of a type, with the defaults of a policy while none is loaded.
CREATE FUNCTION reconcile.type_of(operation_type text) RETURNS reconcile.operation_types
LANGUAGE plpgsql STABLE
SET search_path = reconcile, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	t operation_types;
BEGIN
	SELECT * INTO t FROM operation_types k WHERE k.operation_type = type_of.operation_type;
	t.latency_window := elapsed(coalesce(t.latency_window, '5 min'));
	t.attempts_max := coalesce(t.attempts_max, 5);
	t.attempts_delay := elapsed(coalesce(t.attempts_delay, '1 min'));
	t.attempts_factor := coalesce(t.attempts_factor, 2);
	t.version_order := coalesce(t.version_order, 'integer');
	t.guard_window := elapsed(coalesce(t.guard_window, '10 min'));
	t.guard_max := coalesce(t.guard_max, 20);
	t.guard_share := coalesce(t.guard_share, 0.5);
	t.guard_sample := coalesce(t.guard_sample, 10);
	RETURN t;
END
$$;

-- The operation, locked. Read the clock after this, not before: it may have waited.
CREATE FUNCTION reconcile.locked(operation_id text) RETURNS reconcile.operations
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	o operations;
BEGIN
	IF locked.operation_id IS NULL THEN
		PERFORM refuse('RC400', 'operation_id is null');
	END IF;
	SELECT * INTO o FROM operations k WHERE k.operation_id = locked.operation_id FOR UPDATE;
	IF NOT FOUND THEN
		IF EXISTS (SELECT FROM tombstones k WHERE k.operation_id = locked.operation_id) THEN
			PERFORM refuse('RC410', format('operation "%s" was purged', locked.operation_id));
		END IF;
		PERFORM refuse('RC404', format('unknown operation "%s"', locked.operation_id));
	END IF;
	RETURN o;
END
$$;

-- A final status and what goes with it.
CREATE FUNCTION reconcile.closed(o reconcile.operations, status text, at timestamptz,
	closed_reason text) RETURNS reconcile.operations
LANGUAGE plpgsql IMMUTABLE
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	o.status := closed.status;
	o.closed_at := at;
	o.closed_reason := closed.closed_reason;
	o.attempt_until := NULL;
	o.next_attempt_at := NULL;
	o.due_at := NULL;
	o.recommended_action := NULL;
	o.snoozed_until := NULL;
	RETURN o;
END
$$;

-- Writes o, a locked row with what shall be different, over the revision it was read at. judged:
-- the journal row carries class and reason of o. Without an actor it is the application.
CREATE FUNCTION reconcile.change(o reconcile.operations, was text, event text, at timestamptz,
	evidence text DEFAULT NULL, action text DEFAULT NULL, judged boolean DEFAULT false,
	actor text DEFAULT NULL)
RETURNS reconcile.operations
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	r operations;
BEGIN
	WITH u AS (
		UPDATE operations k SET
			entity_state = o.entity_state, remote_id = o.remote_id,
			superseded_by = o.superseded_by, first_sent_at = o.first_sent_at,
			closed_reason = o.closed_reason, snoozed_until = o.snoozed_until,
			closed_at = o.closed_at, disputed = o.disputed, attempts = o.attempts,
			sent_at = o.sent_at,
			attempt_until = o.attempt_until, next_attempt_at = o.next_attempt_at,
			status = o.status, class = o.class, reason = o.reason, earning = o.earning,
			recommended_action = o.recommended_action, absent_since = o.absent_since,
			absences = o.absences, inconclusive = o.inconclusive, due_at = o.due_at,
			updated_at = change.at, revision = k.revision + 1
		WHERE k.operation_id = o.operation_id AND k.revision = o.revision
		RETURNING k.*
	), j AS (
		INSERT INTO journal (operation_id, revision, at, actor, event, from_status, to_status,
			class, reason, action, evidence, elapsed_ms)
		SELECT u.operation_id, u.revision, change.at, coalesce(change.actor, actor()),
			change.event, was, u.status,
			CASE WHEN judged THEN u.class END, CASE WHEN judged THEN u.reason END,
			change.action, change.evidence,
			CASE WHEN u.status = 'confirmed' AND was <> 'confirmed'
			THEN (extract(epoch FROM change.at - u.first_sent_at) * 1000)::bigint END
		FROM u
	), e AS (
		INSERT INTO outbox (aggregateid, revision, type, payload, deliver_to, created_at,
			next_attempt_at)
		SELECT u.operation_id, u.revision, event_type(was, u.status, change.event),
			event_payload(u.operation_id, u.operation_type, u.scope, u.entity_type,
				u.entity_id, u.entity_state, u.version, u.business_key, u.remote_id,
				u.correlation_id, u.attempts, was, u.status, u.class, u.reason,
				u.revision, change.at),
			t.deliver_to, change.at, CASE WHEN t.deliver_to IS NOT NULL THEN change.at END
		FROM u LEFT JOIN operation_types t USING (operation_type)
		WHERE event_type(was, u.status, change.event) IS NOT NULL
	)
	SELECT u.* INTO r FROM u;
	IF NOT FOUND THEN
		PERFORM refuse('RC409', format('operation "%s" is not at revision %s any more',
			o.operation_id, o.revision));
	END IF;
	RETURN r;
END
$$;
