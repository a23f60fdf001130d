-- SPDX-License-Identifier: Apache-2.0
-- The idempotency store: one record for each key that a client sent, so that a request that comes
-- again gets the answer of the first, and the work is done once.
--
--   (none)     → processing   reserve()                 the caller owns the key for the lease
--   processing → completed    complete()                its answer is kept and given to who asks again
--   processing → failed       fail()                    the same with a refusal
--   processing → processing   fail(retryable => true)   nobody owns it: the next reserve() does
--   processing → pending      uncertain(), or reserve() after the lease: nobody may try again
--   pending    → completed, failed   complete(), fail() of the owner, however late
--   processing, pending → completed, failed   reserve(), once the linked operation is final
--   processing → processing   reserve() after the lease, if the linked operation was never stored:
--                             the transaction that would have requested it was rolled back
--
-- Records are changed by comparing what was read, without a lock between two statements, so that
-- who waits for an answer never keeps it from being written.

SET LOCAL ROLE reconcile_owner;

ALTER TABLE reconcile.idempotency_records
	ADD COLUMN ttl interval NOT NULL DEFAULT '24:00:00';

COMMENT ON COLUMN reconcile.idempotency_records.ttl IS 'how long the answer is kept, from its settlement';

CREATE TYPE reconcile.reservation AS (
	outcome text,
	owner uuid,
	response_code int,
	response_body bytea,
	content_type text,
	resource_id text,
	operation_id text
);

-- A JSON Pointer (RFC 6901) as a path of jsonb.
CREATE FUNCTION reconcile.pointer_path(pointer text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	IF pointer IS NULL OR pointer !~ '^(/([^~/]|~[01])*)+$' OR octet_length(pointer) > 500 THEN
		PERFORM refuse('RC400', format('ignore: found %L, allowed: a JSON Pointer like /meta/sent_at'
			' of at most 500 bytes', left(pointer, 100)));
	END IF;
	RETURN ARRAY(SELECT replace(replace(k.part, '~1', '/'), '~0', '~')
		FROM unnest((string_to_array(pointer, '/'))[2:]) WITH ORDINALITY k (part, place)
		ORDER BY k.place);
END
$$;

-- As fingerprint(), of what is left without the ignored members.
CREATE FUNCTION reconcile.fingerprint_without(payload json, ignore text[]) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	kept jsonb;
	pointer text;
BEGIN
	IF cardinality(ignore) > 100 THEN
		PERFORM refuse('RC400', 'ignore: more than 100 pointers');
	ELSIF payload IS NULL OR coalesce(cardinality(ignore), 0) = 0 THEN
		RETURN fingerprint(payload);
	END IF;
	kept := exact_json(payload, 'payload');
	FOREACH pointer IN ARRAY ignore LOOP
		kept := CASE WHEN jsonb_typeof(kept) IN ('object', 'array')
			THEN kept #- pointer_path(pointer) ELSE kept END;
	END LOOP;
	RETURN sha256(convert_to(canonical(kept), 'UTF8'));
EXCEPTION WHEN statement_too_complex THEN
	PERFORM refuse('RC400', 'payload: nested too deep');
END
$$;

CREATE FUNCTION reconcile.check_key(scope text, operation text, key text) RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	IF scope IS NULL OR operation IS NULL OR key IS NULL THEN
		PERFORM refuse('RC400', 'scope, operation or key is null');
	ELSIF operation = '' OR key = '' THEN
		PERFORM refuse('RC400', 'operation or key is empty');
	END IF;
	PERFORM check_texts(ARRAY[scope, operation, key]);
END
$$;

CREATE FUNCTION reconcile.check_response(response_code int, response_body bytea, content_type text,
	resource_id text) RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	IF response_code NOT BETWEEN 100 AND 599 THEN
		PERFORM refuse('RC400', format('response_code: found %s, allowed: 100 to 599',
			response_code));
	ELSIF octet_length(response_body) > 8388608 THEN
		PERFORM refuse('RC400', 'response_body is longer than 8 MiB');
	END IF;
	PERFORM check_texts(ARRAY[content_type, resource_id]);
END
$$;

-- What the linked operation says: completed, failed, nothing yet (null), or that it was never stored
-- (none). What may still have a late effect is no failure yet.
CREATE FUNCTION reconcile.outcome_of(operation_id text, at timestamptz, OUT settled text,
	OUT resource_id text)
LANGUAGE plpgsql STABLE
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	o operations;
	t tombstones;
	watched interval;
BEGIN
	SELECT * INTO o FROM operations k WHERE k.operation_id = outcome_of.operation_id;
	IF FOUND THEN
		watched := elapsed(coalesce((type_of(o.operation_type)).watch, '0'));
		settled := CASE WHEN o.status = 'confirmed' THEN 'completed'
			WHEN o.status IN ('compensated', 'not_applicable') AND o.closed_at + watched <= at
			THEN 'failed' END;
		resource_id := o.remote_id;
		RETURN;
	END IF;
	SELECT * INTO t FROM tombstones k WHERE k.operation_id = outcome_of.operation_id;
	settled := CASE WHEN NOT FOUND THEN 'none' WHEN t.status = 'confirmed' THEN 'completed'
		ELSE 'failed' END;
	resource_id := t.remote_id;
END
$$;

-- The linked operation is asked about as soon as its last attempt is over.
CREATE FUNCTION reconcile.ask_about(operation_id text, at timestamptz) RETURNS void
LANGUAGE sql
SET search_path = reconcile, pg_temp
AS $$
	UPDATE operations k SET due_at = greatest(ask_about.at, k.attempt_until)
	WHERE k.operation_id = ask_about.operation_id AND k.closed_at IS NULL
		AND k.due_at > greatest(ask_about.at, k.attempt_until);
$$;

-- Writes r over the record that was read, if it is still that one.
CREATE FUNCTION reconcile.replace_record(r reconcile.idempotency_records,
	read_at timestamptz, at timestamptz) RETURNS boolean
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	UPDATE idempotency_records k SET status = r.status, owner = r.owner,
		lease_until = r.lease_until, operation_id = r.operation_id, ttl = r.ttl,
		response_code = r.response_code, response_body = r.response_body,
		content_type = r.content_type, resource_id = r.resource_id,
		external_reference = r.external_reference,
		expires_at = CASE WHEN r.status IN ('completed', 'failed') THEN at + elapsed(r.ttl) END,
		updated_at = greatest(at, k.updated_at + interval '1 microsecond')
	WHERE (k.scope, k.operation, k.key) = (r.scope, r.operation, r.key) AND k.updated_at = read_at;
	RETURN FOUND;
END
$$;

-- Inserts a new record; null when there is one, or when another caller's reservation was still not
-- committed after limit.
CREATE FUNCTION reconcile.new_record(r reconcile.idempotency_records, span interval)
RETURNS uuid
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	before CONSTANT text := current_setting('lock_timeout');
	owner uuid;
BEGIN
	PERFORM set_config('lock_timeout', (extract(epoch FROM span) * 1000)::int::text || 'ms', true);
	INSERT INTO idempotency_records AS k (scope, operation, key, fingerprint, operation_id,
		created_at, status, owner, lease_until, ttl, updated_at)
	VALUES (r.scope, r.operation, r.key, r.fingerprint, r.operation_id, r.created_at,
		'processing', r.owner, r.lease_until, r.ttl, r.created_at)
	ON CONFLICT ON CONSTRAINT idempotency_records_pkey DO NOTHING
	RETURNING k.owner INTO owner;
	PERFORM set_config('lock_timeout', before, true);
	RETURN owner;
EXCEPTION WHEN lock_not_available THEN -- which also takes back the setting
	RETURN NULL;
END
$$;

-- reserved: the caller does the work, with owner. replay: done, here is its answer. failed: refused,
-- likewise. in_progress: another caller is at it. uncertain: nobody knows, and nobody may try; the
-- operation is being asked about. conflict: the key came with another payload before.
CREATE FUNCTION reconcile.reserve(scope text, operation text, key text, payload json DEFAULT NULL,
	operation_id text DEFAULT NULL, lease interval DEFAULT '1 min', ttl interval DEFAULT '24 h',
	ignore text[] DEFAULT '{}', wait interval DEFAULT '0') RETURNS reconcile.reservation
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	span CONSTANT interval := check_lease(lease);
	until CONSTANT timestamptz := clock_timestamp() + elapsed(wait);
	print CONSTANT bytea := fingerprint_without(payload, ignore);
	wanted idempotency_records;
	r idempotency_records;
	read_at timestamptz;
	at timestamptz;
	settled text; -- what the linked operation says
	settled_id text;
BEGIN
	PERFORM check_key(scope, operation, key);
	PERFORM check_texts(ARRAY[operation_id]);
	IF wait IS NULL OR elapsed(wait) NOT BETWEEN '0' AND '00:00:05' THEN
		PERFORM refuse('RC400', 'wait is not between zero and five seconds');
	ELSIF ttl IS NULL OR elapsed(ttl) NOT BETWEEN '00:00:01' AND '87600:00:00' THEN
		PERFORM refuse('RC400', 'ttl is not between a second and ten years');
	ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
		PERFORM refuse('RC400', 'reserve() needs the isolation level read committed: another one'
			' does not see what other callers wrote meanwhile');
	END IF;
	wanted.scope := scope;
	wanted.operation := operation;
	wanted.key := key;
	wanted.fingerprint := print;
	wanted.operation_id := operation_id;
	wanted.ttl := elapsed(ttl);
	LOOP
		at := clock_timestamp();
		SELECT * INTO r FROM idempotency_records k
		WHERE k.scope = wanted.scope AND k.operation = wanted.operation AND k.key = wanted.key;
		IF NOT FOUND THEN
			wanted.owner := gen_random_uuid();
			wanted.created_at := at;
			wanted.lease_until := at + span;
			IF new_record(wanted, greatest(until - at, interval '1 s')) IS NOT NULL THEN
				RETURN ROW('reserved', wanted.owner, NULL, NULL, NULL, NULL, operation_id)::reservation;
			END IF;
			PERFORM FROM idempotency_records k
			WHERE k.scope = wanted.scope AND k.operation = wanted.operation AND k.key = wanted.key;
			IF NOT FOUND AND clock_timestamp() >= until THEN
				RETURN ROW('in_progress', NULL, NULL, NULL, NULL, NULL, NULL)::reservation;
			END IF;
			CONTINUE;
		END IF;
		read_at := r.updated_at;
		IF r.fingerprint IS DISTINCT FROM print THEN
			UPDATE idempotency_records k SET conflicts = k.conflicts + 1,
				last_conflict_at = at
			WHERE k.scope = wanted.scope AND k.operation = wanted.operation AND k.key = wanted.key;
			RETURN ROW('conflict', NULL, NULL, NULL, NULL, NULL, r.operation_id)::reservation;
		ELSIF r.status IN ('completed', 'failed') THEN
			RETURN ROW(CASE r.status WHEN 'completed' THEN 'replay' ELSE 'failed' END, NULL,
				r.response_code, r.response_body, r.content_type, r.resource_id,
				r.operation_id)::reservation;
		END IF;
		settled := NULL;
		IF r.operation_id IS NOT NULL THEN
			SELECT k.settled, k.resource_id INTO settled, settled_id
			FROM outcome_of(r.operation_id, at) k;
		END IF;
		IF settled IN ('completed', 'failed') THEN
			r.status := settled;
			r.resource_id := coalesce(r.resource_id, settled_id);
			PERFORM replace_record(r, read_at, at);
			CONTINUE;
		ELSIF r.status = 'pending' THEN
			RETURN ROW('uncertain', NULL, NULL, NULL, NULL, NULL, r.operation_id)::reservation;
		ELSIF r.owner IS NULL
		      OR r.lease_until <= at AND settled = 'none' THEN
			r.owner := gen_random_uuid();
			r.lease_until := at + span;
			r.operation_id := coalesce(operation_id, r.operation_id);
			r.ttl := wanted.ttl;
			IF replace_record(r, read_at, at) THEN
				RETURN ROW('reserved', r.owner, NULL, NULL, NULL, NULL, r.operation_id)::reservation;
			END IF;
			CONTINUE;
		ELSIF r.lease_until <= at THEN
			r.status := 'pending';
			IF replace_record(r, read_at, at) THEN
				PERFORM ask_about(r.operation_id, at);
			END IF;
			CONTINUE;
		END IF;
		IF at >= until THEN
			RETURN ROW('in_progress', NULL, NULL, NULL, NULL, NULL, r.operation_id)::reservation;
		END IF;
		PERFORM pg_sleep(least(0.05, extract(epoch FROM until - at))::double precision);
	END LOOP;
END
$$;

-- The record, locked, for who owns it: RC404 unknown, RC409 another owner.
CREATE FUNCTION reconcile.owned_record(scope text, operation text, key text, owner uuid)
RETURNS reconcile.idempotency_records
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	r idempotency_records;
BEGIN
	PERFORM check_key(scope, operation, key);
	SELECT * INTO r FROM idempotency_records k
	WHERE k.scope = owned_record.scope AND k.operation = owned_record.operation
		AND k.key = owned_record.key FOR UPDATE;
	IF NOT FOUND THEN
		PERFORM refuse('RC404', 'unknown idempotency key');
	ELSIF r.owner IS DISTINCT FROM owned_record.owner OR r.owner IS NULL THEN
		PERFORM refuse('RC409', 'the idempotency key belongs to another caller');
	END IF;
	RETURN r;
END
$$;

-- Writes the answer. The same once more changes nothing; an answer that only the operation gave is
-- completed by the owner's bytes; any other is RC409.
CREATE FUNCTION reconcile.settle_record(r reconcile.idempotency_records, status text,
	response_code int, response_body bytea, content_type text, resource_id text) RETURNS void
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	derived CONSTANT boolean := r.response_code IS NULL AND r.response_body IS NULL;
	read_at CONSTANT timestamptz := r.updated_at;
BEGIN
	PERFORM check_response(response_code, response_body, content_type, resource_id);
	IF r.status IN ('completed', 'failed') THEN
		IF r.status = status AND (r.response_code, r.response_body, r.content_type)
		   IS NOT DISTINCT FROM (response_code, response_body, content_type)
		   AND (resource_id IS NULL OR resource_id IS NOT DISTINCT FROM r.resource_id) THEN
			RETURN;
		ELSIF r.status <> status OR NOT derived THEN
			PERFORM refuse('RC409', format('the idempotency key is %s already', r.status));
		END IF;
	END IF;
	r.status := status;
	r.response_code := response_code;
	r.response_body := response_body;
	r.content_type := content_type;
	r.resource_id := coalesce(resource_id, r.resource_id);
	PERFORM replace_record(r, read_at, clock_timestamp());
END
$$;

CREATE FUNCTION reconcile.complete(scope text, operation text, key text, owner uuid,
	response_code int DEFAULT NULL, response_body bytea DEFAULT NULL,
	content_type text DEFAULT NULL, resource_id text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	PERFORM settle_record(owned_record(scope, operation, key, owner), 'completed', response_code,
		response_body, content_type, resource_id);
END
$$;

-- retryable: nothing happened. Refused where the linked operation may have been sent.
CREATE FUNCTION reconcile.fail(scope text, operation text, key text, owner uuid,
	response_code int DEFAULT NULL, response_body bytea DEFAULT NULL,
	content_type text DEFAULT NULL, retryable boolean DEFAULT false) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	r idempotency_records := owned_record(scope, operation, key, owner);
	read_at CONSTANT timestamptz := r.updated_at;
BEGIN
	IF NOT coalesce(retryable, false) THEN
		PERFORM settle_record(r, 'failed', response_code, response_body, content_type, NULL);
		RETURN;
	ELSIF r.status IN ('completed', 'failed') THEN
		PERFORM refuse('RC409', format('the idempotency key is %s already', r.status));
	ELSIF EXISTS (SELECT FROM operations k WHERE k.operation_id = r.operation_id
		AND k.first_sent_at IS NOT NULL AND k.status <> 'not_applicable') THEN
		PERFORM refuse('RC422', format('operation "%s" may have been sent: uncertain() says so,'
			' another try would send it once more', r.operation_id));
	END IF;
	r.status := 'processing';
	r.owner := NULL;
	r.lease_until := NULL;
	PERFORM replace_record(r, read_at, clock_timestamp());
END
$$;

-- The owner does not know what came of it. Nobody tries again; the operation is asked about.
CREATE FUNCTION reconcile.uncertain(scope text, operation text, key text, owner uuid,
	external_reference text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	r idempotency_records := owned_record(scope, operation, key, owner);
	read_at CONSTANT timestamptz := r.updated_at;
	at CONSTANT timestamptz := clock_timestamp();
BEGIN
	PERFORM check_texts(ARRAY[external_reference]);
	IF r.status IN ('completed', 'failed') THEN
		PERFORM refuse('RC409', format('the idempotency key is %s already', r.status));
	END IF;
	r.status := 'pending';
	r.external_reference := coalesce(uncertain.external_reference, r.external_reference);
	PERFORM replace_record(r, read_at, at);
	PERFORM ask_about(r.operation_id, at);
END
$$;

REVOKE ALL ON FUNCTION
	reconcile.pointer_path(text),
	reconcile.fingerprint_without(json, text[]),
	reconcile.check_key(text, text, text),
	reconcile.check_response(int, bytea, text, text),
	reconcile.outcome_of(text, timestamptz),
	reconcile.ask_about(text, timestamptz),
	reconcile.replace_record(reconcile.idempotency_records, timestamptz, timestamptz),
	reconcile.new_record(reconcile.idempotency_records, interval),
	reconcile.reserve(text, text, text, json, text, interval, interval, text[], interval),
	reconcile.owned_record(text, text, text, uuid),
	reconcile.settle_record(reconcile.idempotency_records, text, int, bytea, text, text),
	reconcile.complete(text, text, text, uuid, int, bytea, text, text),
	reconcile.fail(text, text, text, uuid, int, bytea, text, boolean),
	reconcile.uncertain(text, text, text, uuid, text)
	FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	reconcile.reserve(text, text, text, json, text, interval, interval, text[], interval),
	reconcile.complete(text, text, text, uuid, int, bytea, text, text),
	reconcile.fail(text, text, text, uuid, int, bytea, text, boolean),
	reconcile.uncertain(text, text, text, uuid, text)
	TO reconcile_app;

COMMENT ON FUNCTION reconcile.reserve IS 'the right to do the work of an idempotency key, or what became of it';
COMMENT ON FUNCTION reconcile.complete IS 'the work is done; keeps its answer for who asks again';
COMMENT ON FUNCTION reconcile.fail IS 'the work was refused, or (retryable) not begun';
COMMENT ON FUNCTION reconcile.uncertain IS 'the outcome of the work is not known; nobody tries again';
