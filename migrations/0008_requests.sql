-- SPDX-License-Identifier: Apache-2.0
-- What an application says about an operation as a whole: that it wants one, that it does not want
-- it any more, what became of the entity, and a receipt of the target.

SET LOCAL ROLE reconcile_owner;

-- RC400 if a text is longer than its column is meant for.
CREATE FUNCTION reconcile.check_texts(texts text[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	text text;
BEGIN
	FOREACH text IN ARRAY texts LOOP
		IF octet_length(text) > 500 THEN
			PERFORM refuse('RC400', 'an argument is longer than 500 bytes');
		END IF;
	END LOOP;
END
$$;

CREATE FUNCTION reconcile.check_request(operation_id text, operation_type text, scope text,
	others text[], expected json, payload json) RETURNS void
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	IF operation_id IS NULL OR operation_id !~ '^[!-~]{1,180}$' OR operation_id ~ '~c[0-9]+$' THEN
		PERFORM refuse('RC400', 'operation_id is not 1 to 180 printable ASCII characters'
			' without space, or it ends in ~c and digits');
	ELSIF operation_type IS NULL OR operation_type !~ '^[!-~]{1,100}$' THEN
		PERFORM refuse('RC400', 'operation_type is not 1 to 100 printable ASCII characters');
	ELSIF scope IS NULL OR expected IS NULL OR json_typeof(expected) <> 'object' THEN
		PERFORM refuse('RC400', CASE WHEN scope IS NULL THEN 'scope is null'
			ELSE 'expected is not an object' END);
	ELSIF octet_length(expected::text) > 262144 OR octet_length(payload::text) > 8388608 THEN
		PERFORM refuse('RC400', 'more than 256 KiB of expected or 8 MiB of payload');
	END IF;
	PERFORM check_texts(others || scope);
END
$$;

-- What a repeated request finds: the same one, or a conflict.
CREATE FUNCTION reconcile.existing(wanted reconcile.operations) RETURNS reconcile.operations
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	o operations;
BEGIN
	SELECT * INTO o FROM operations k WHERE k.operation_id = wanted.operation_id;
	IF NOT FOUND THEN
		RETURN NULL;
	ELSIF (o.operation_type, o.scope) <> (wanted.operation_type, wanted.scope)
	   OR o.fingerprint IS DISTINCT FROM wanted.fingerprint THEN
		PERFORM refuse('RC409', format('operation "%s" exists with another %s', o.operation_id,
			CASE WHEN o.operation_type <> wanted.operation_type THEN 'type'
			WHEN o.scope <> wanted.scope THEN 'scope' ELSE 'payload' END));
	END IF;
	RETURN o;
END
$$;

-- The operation that holds the highest version of the entity, when that is not wanted itself.
-- Notes wanted as the highest otherwise. The lock keeps two requests of one entity apart.
CREATE FUNCTION reconcile.successor_of(wanted reconcile.operations) RETURNS text
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	known entity_versions;
	compared int;
BEGIN
	PERFORM pg_advisory_xact_lock(hashtextextended(jsonb_build_array(wanted.operation_type,
		wanted.scope, wanted.entity_type, wanted.entity_id)::text, 20241));
	SELECT * INTO known FROM entity_versions k
	WHERE k.operation_type = wanted.operation_type AND k.scope = wanted.scope
		AND k.entity_type = coalesce(wanted.entity_type, '') AND k.entity_id = wanted.entity_id;
	compared := version_compare(known.version, wanted.version,
		(type_of(wanted.operation_type)).version_order);
	IF compared > 0 THEN
		RETURN known.operation_id;
	ELSIF known IS NULL OR compared < 0 THEN
		INSERT INTO entity_versions AS k VALUES (wanted.operation_type, wanted.scope,
			coalesce(wanted.entity_type, ''), wanted.entity_id, wanted.version,
			wanted.operation_id)
		ON CONFLICT (operation_type, scope, entity_type, entity_id) DO UPDATE
		SET version = EXCLUDED.version, operation_id = EXCLUDED.operation_id;
	END IF;
	RETURN NULL;
END
$$;

-- Marks open operations of the same entity with a lower version. They keep their status: what
-- was sent may still land, and what was not sent cannot be started any more.
CREATE FUNCTION reconcile.supersede_by(newest reconcile.operations) RETURNS void
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	version_order CONSTANT text := (type_of(newest.operation_type)).version_order;
	id text;
	o operations;
BEGIN
	FOR id IN SELECT k.operation_id FROM operations k
		WHERE k.entity_id = newest.entity_id AND k.closed_at IS NULL
			AND k.entity_type IS NOT DISTINCT FROM newest.entity_type
			AND k.operation_type = newest.operation_type AND k.scope = newest.scope
			AND k.superseded_by IS NULL
			AND version_compare(k.version, newest.version, version_order) < 0
		ORDER BY k.operation_id
	LOOP
		o := locked(id);
		CONTINUE WHEN o.closed_at IS NOT NULL OR o.superseded_by IS NOT NULL;
		o.superseded_by := newest.operation_id;
		PERFORM change(o, o.status, 'superseded', clock_timestamp(),
			compact(json_build_object('superseded_by', newest.operation_id,
				'version', newest.version)));
	END LOOP;
END
$$;

-- Row, content, journal and event of a new operation; null if another transaction was faster.
CREATE FUNCTION reconcile.insert_operation(o reconcile.operations, payload json, evidence text)
RETURNS reconcile.operations
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	r operations;
BEGIN
	WITH i AS (
		INSERT INTO operations SELECT o.* ON CONFLICT (operation_id) DO NOTHING RETURNING *
	), c AS (
		INSERT INTO content (operation_id, payload)
		SELECT i.operation_id, insert_operation.payload FROM i
		WHERE insert_operation.payload IS NOT NULL
	), j AS (
		INSERT INTO journal (operation_id, revision, at, actor, event, to_status, evidence)
		SELECT i.operation_id, i.revision, i.created_at, actor(), 'requested', i.status,
			insert_operation.evidence
		FROM i
	), e AS (
		INSERT INTO outbox (aggregateid, revision, type, payload, deliver_to, created_at,
			next_attempt_at)
		SELECT i.operation_id, i.revision, event_type(NULL, i.status, 'requested'),
			event_payload(i.operation_id, i.operation_type, i.scope, i.entity_type,
				i.entity_id, i.entity_state, i.version, i.business_key, i.remote_id,
				i.correlation_id, i.attempts, NULL, i.status, i.class, i.reason,
				i.revision, i.created_at),
			t.deliver_to, i.created_at,
			CASE WHEN t.deliver_to IS NOT NULL THEN i.created_at END
		FROM i LEFT JOIN operation_types t USING (operation_type)
	)
	SELECT i.* INTO r FROM i;
	RETURN CASE WHEN FOUND THEN r END;
END
$$;

-- The columns that a new operation begins with.
CREATE FUNCTION reconcile.begun(o reconcile.operations, t reconcile.operation_types,
	deadline timestamptz, already_sent boolean, at timestamptz) RETURNS reconcile.operations
LANGUAGE plpgsql STABLE
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	o.created_at := at;
	o.updated_at := at;
	o.deadline_at := coalesce(deadline, at + elapsed(t.deadline));
	o.due_at := at + t.latency_window;
	o.entity_state := 'active';
	o.status := 'pending';
	o.attempts := 0;
	IF already_sent THEN
		o.status := 'awaiting_confirmation';
		o.attempts := 1;
		o.first_sent_at := at;
		o.sent_at := at;
	END IF;
	o.disputed := false;
	o.look_first := false;
	o.requeues := 0;
	o.suspect := 0;
	o.postponed := 0;
	o.absences := 0;
	o.inconclusive := 0;
	o.checks := 0;
	o.revision := 0;
	RETURN o;
END
$$;

-- Idempotent: the same id, type, scope and payload give the row that is there, anything else is
-- RC409. Belongs into the transaction that makes the effect necessary.
CREATE FUNCTION reconcile.request(operation_type text, operation_id text, scope text DEFAULT '',
	entity_type text DEFAULT NULL, entity_id text DEFAULT NULL, version text DEFAULT NULL,
	idempotency_key text DEFAULT NULL, business_key text DEFAULT NULL,
	correlation_id text DEFAULT NULL, expected json DEFAULT '{}', payload json DEFAULT NULL,
	deadline timestamptz DEFAULT NULL, already_sent boolean DEFAULT false,
	traceparent text DEFAULT NULL)
RETURNS reconcile.operations
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	t operation_types := type_of(operation_type);
	o operations;
	r operations;
BEGIN
	PERFORM check_request(operation_id, operation_type, scope, ARRAY[entity_type, entity_id,
		version, idempotency_key, business_key, correlation_id, traceparent], expected, payload);
	IF NOT isfinite(deadline) THEN
		PERFORM refuse('RC400', 'deadline is no moment');
	END IF;
	o.operation_id := operation_id;
	o.operation_type := operation_type;
	o.scope := scope;
	o.entity_type := entity_type;
	o.entity_id := entity_id;
	o.version := version;
	o.fingerprint := fingerprint(payload);
	o.idempotency_key := idempotency_key;
	o.business_key := business_key;
	o.correlation_id := correlation_id;
	o.expected := exact_json(expected, 'expected');
	IF EXISTS (SELECT FROM tombstones k WHERE k.operation_id = o.operation_id) THEN
		PERFORM refuse('RC410', format('operation "%s" was purged', operation_id));
	END IF;
	r := existing(o);
	IF r.operation_id IS NOT NULL THEN
		RETURN r;
	END IF;
	IF version IS NOT NULL AND entity_id IS NOT NULL THEN
		o.superseded_by := successor_of(o);
	END IF;
	o := begun(o, t, deadline, coalesce(already_sent, false), clock_timestamp());
	r := insert_operation(o, payload, compact(json_build_object('traceparent', traceparent,
		'superseded_by', o.superseded_by,
		'already_sent', nullif(coalesce(already_sent, false), false))));
	IF r.operation_id IS NULL THEN
		r := existing(o);
		IF r.operation_id IS NULL THEN
			PERFORM refuse('40001', format('operation "%s" was requested meanwhile', operation_id));
		END IF;
		RETURN r;
	END IF;
	IF version IS NOT NULL AND entity_id IS NOT NULL AND o.superseded_by IS NULL THEN
		PERFORM supersede_by(r);
	END IF;
	RETURN r;
END
$$;

-- Before any send the operation is closed; after one only the target knows, so it is asked.
CREATE FUNCTION reconcile.cancel(operation_id text, reason text DEFAULT NULL)
RETURNS reconcile.operations
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	o operations := locked(operation_id);
	was CONSTANT text := o.status;
	at CONSTANT timestamptz := clock_timestamp();
	evidence CONSTANT text := compact(json_build_object('reason', left(reason, 2000)));
BEGIN
	IF o.closed_at IS NOT NULL THEN
		PERFORM refuse('RC422', format('operation "%s" is %s already', operation_id, was));
	END IF;
	IF o.entity_state = 'cancelled' AND o.first_sent_at IS NOT NULL THEN
		UPDATE operations k SET due_at = at WHERE k.operation_id = o.operation_id
		RETURNING * INTO o;
		PERFORM pg_notify('reconciled', o.operation_type);
		RETURN o;
	END IF;
	o.entity_state := 'cancelled';
	IF o.first_sent_at IS NOT NULL THEN
		o.due_at := at;
		PERFORM pg_notify('reconciled', o.operation_type);
		RETURN change(o, was, 'cancelled', at, evidence);
	END IF;
	o := closed(o, 'not_applicable', at, concat_ws(': ', 'cancelled', left(reason, 500)));
	o.class := 'not_applicable';
	o.reason := 'cancelled';
	RETURN change(o, was, 'cancelled', at, evidence, 'close', true);
END
$$;

-- All open operations of the entity, which are asked again at once; the number that changed.
CREATE FUNCTION reconcile.set_entity_state(entity_type text, entity_id text, state text,
	scope text DEFAULT '') RETURNS int
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	id text;
	o operations;
	before text;
	at timestamptz;
	changed int := 0;
BEGIN
	IF entity_id IS NULL OR scope IS NULL OR state IS NULL OR state !~ '^[!-~]{1,64}$' THEN
		PERFORM refuse('RC400', 'entity_id or scope is null, or state is not a word');
	END IF;
	FOR id IN SELECT k.operation_id FROM operations k
		WHERE k.entity_id = set_entity_state.entity_id AND k.closed_at IS NULL
			AND k.entity_type IS NOT DISTINCT FROM set_entity_state.entity_type
			AND k.scope = set_entity_state.scope AND k.entity_state <> state
		ORDER BY k.operation_id
	LOOP
		o := locked(id);
		CONTINUE WHEN o.closed_at IS NOT NULL OR o.entity_state = state;
		at := clock_timestamp();
		before := o.entity_state;
		o.entity_state := state;
		o.due_at := least(o.due_at, at);
		PERFORM change(o, o.status, 'entity_state', at, compact(json_build_object(
			'entity_state', json_build_object('from', before, 'to', state))));
		changed := changed + 1;
	END LOOP;
	RETURN changed;
END
$$;

-- Evidence that the target handed out itself. The journal holds its digest, the text stays in
-- content. A confirmed operation is not asked again for it.
CREATE FUNCTION reconcile.receipt(operation_id text, receipt text DEFAULT NULL,
	signature text DEFAULT NULL) RETURNS reconcile.operations
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	o operations := locked(operation_id);
	at CONSTANT timestamptz := clock_timestamp();
BEGIN
	IF receipt IS NULL OR octet_length(receipt) > 1048576
	   OR octet_length(signature) > 65536 THEN
		PERFORM refuse('RC400', 'receipt is null or longer than 1 MiB,'
			' or signature is longer than 64 KiB');
	END IF;
	INSERT INTO content AS k (operation_id, receipt, receipt_signature, receipt_at)
	VALUES (operation_id, receipt, signature, at)
	ON CONFLICT ON CONSTRAINT content_pkey DO UPDATE SET receipt = EXCLUDED.receipt,
		receipt_signature = EXCLUDED.receipt_signature, receipt_at = EXCLUDED.receipt_at;
	IF o.status <> 'confirmed' THEN
		o.due_at := at;
	END IF;
	RETURN change(o, o.status, 'receipt', at, compact(json_build_object('receipt',
		json_build_object('bytes', octet_length(receipt),
			'sha256', encode(sha256(convert_to(receipt, 'UTF8')), 'hex')))));
END
$$;
