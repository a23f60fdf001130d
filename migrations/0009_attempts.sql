-- SPDX-License-Identifier: Apache-2.0
-- What a worker says about its attempts. Each is a short transaction; none is open while the
-- worker talks to the target. Attempt null means the newest.

SET LOCAL ROLE reconcile_owner;

CREATE FUNCTION reconcile.check_lease(lease interval) RETURNS interval
LANGUAGE plpgsql IMMUTABLE
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	IF lease IS NULL OR elapsed(lease) NOT BETWEEN '0' AND '24:00:00' THEN
		PERFORM refuse('RC400', 'lease is not between zero and a day');
	END IF;
	RETURN elapsed(lease);
END
$$;

-- After a restored backup everything may look missing: nothing starts until a person has looked.
CREATE FUNCTION reconcile.check_rewind() RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	IF EXISTS (SELECT FROM guards k WHERE k.kind = 'rewind' AND k.released_at IS NULL) THEN
		PERFORM refuse('RC422', 'the rewind guard is tripped: nothing starts until it is released');
	END IF;
END
$$;

-- RC422 unless the operation is in one of the states and, unless late is allowed, the attempt is
-- the newest. An attempt that never began is refused always.
CREATE FUNCTION reconcile.check_attempt(o reconcile.operations, states text[], attempt int,
	late boolean) RETURNS void
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	IF NOT o.status = ANY (states) THEN
		PERFORM refuse('RC422', format('operation "%s" is %s', o.operation_id, o.status));
	ELSIF attempt IS NOT NULL AND attempt <> o.attempts
	      AND NOT (late AND attempt BETWEEN 1 AND o.attempts) THEN
		PERFORM refuse('RC422', format('attempt %s of operation "%s" is not the newest, %s',
			attempt, o.operation_id, o.attempts));
	END IF;
END
$$;

-- What an attempt of an outdated version may have written over is looked at: the operation that
-- replaced it and the one with the highest version, final or not.
CREATE FUNCTION reconcile.wake_successors(o reconcile.operations, at timestamptz) RETURNS void
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	IF o.superseded_by IS NULL THEN
		RETURN;
	END IF;
	UPDATE operations k SET due_at = wake_successors.at
	WHERE (k.due_at IS NULL OR k.due_at > wake_successors.at)
		AND k.operation_id IN (o.superseded_by, (
			SELECT v.operation_id FROM entity_versions v
			WHERE v.operation_type = o.operation_type AND v.scope = o.scope
			AND v.entity_type = coalesce(o.entity_type, '') AND v.entity_id = o.entity_id));
END
$$;

-- Begins the next attempt of a locked operation, or, when the target would forget the key before
-- the lease ends, hands it to a person: the row that comes back is then in manual_review.
CREATE FUNCTION reconcile.begin_attempt(o reconcile.operations, lease interval, at timestamptz,
	worker text, request_ref text, traceparent text) RETURNS reconcile.operations
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	t operation_types := type_of(o.operation_type);
	was CONSTANT text := o.status;
BEGIN
	IF o.first_sent_at + elapsed(t.key_valid) <= at + lease THEN
		o.status := 'manual_review';
		o.reason := 'key_expired';
		o.due_at := coalesce(o.due_at, at);
		RETURN change(o, was, 'review', at, compact(json_build_object('reason', o.reason)),
			'review');
	END IF;
	o.status := 'processing';
	o.attempts := o.attempts + 1;
	o.first_sent_at := coalesce(o.first_sent_at, at);
	o.sent_at := at;
	o.attempt_until := at + lease;
	o.next_attempt_at := NULL;
	o.due_at := o.attempt_until + t.latency_window;
	o := unearned(o);
	RETURN change(o, was, 'started', at, compact(json_build_object('attempt', o.attempts,
		'lease_until', rfc3339(o.attempt_until), 'worker', left(worker, 500),
		'request_ref', left(request_ref, 500), 'traceparent', left(traceparent, 500))));
END
$$;

-- A send after a look makes what was earned before it worthless.
CREATE FUNCTION reconcile.unearned(o reconcile.operations) RETURNS reconcile.operations
LANGUAGE plpgsql IMMUTABLE
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	o.absences := 0;
	o.absent_since := NULL;
	o.earning := NULL;
	o.inconclusive := 0;
	RETURN o;
END
$$;

CREATE FUNCTION reconcile.start(operation_id text, worker text DEFAULT NULL,
	lease interval DEFAULT '5 min', revision bigint DEFAULT NULL,
	request_ref text DEFAULT NULL, traceparent text DEFAULT NULL)
RETURNS reconcile.operations
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	span CONSTANT interval := check_lease(lease);
	o operations := locked(operation_id);
	at CONSTANT timestamptz := clock_timestamp();
BEGIN
	PERFORM check_rewind();
	IF revision <> o.revision THEN
		PERFORM refuse('RC409', format('operation "%s" is at revision %s', operation_id, o.revision));
	END IF;
	PERFORM check_attempt(o, '{pending,retry_scheduled}', NULL, false);
	IF o.superseded_by IS NOT NULL THEN
		PERFORM refuse('RC422', format('operation "%s" is superseded by "%s"', operation_id,
			o.superseded_by));
	ELSIF o.next_attempt_at > at THEN
		PERFORM refuse('RC422', format('operation "%s" waits until %s', operation_id,
			rfc3339(o.next_attempt_at)));
	ELSIF o.look_first THEN
		PERFORM refuse('RC422', format('operation "%s" may have been sent before the database'
			' was restored: it waits for a look at the target', operation_id));
	END IF;
	RETURN begin_attempt(o, span, at, worker, request_ref, traceparent);
END
$$;

-- The query behind claim(): what waits since $1 at the latest, after ($2, $3), oldest first, $4
-- rows. One ordered index scan for each type, so that it reads what it gives, not all that waits.
CREATE FUNCTION reconcile.waiting_query(operation_types text[]) RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = reconcile, pg_temp
RETURN (SELECT 'SELECT ready_at, operation_id FROM (' || string_agg(format(
		'(SELECT operation_id, coalesce(next_attempt_at, created_at) AS ready_at'
		' FROM operations WHERE operation_type = %L AND superseded_by IS NULL AND NOT look_first'
		' AND status IN (''pending'', ''retry_scheduled'')'
		' AND coalesce(next_attempt_at, created_at) <= $1'
		' AND (coalesce(next_attempt_at, created_at), operation_id) > ($2, $3)'
		' ORDER BY coalesce(next_attempt_at, created_at), operation_id LIMIT $4)', k.type),
		' UNION ALL ') || ') w ORDER BY ready_at, operation_id LIMIT $4'
	FROM (SELECT DISTINCT unnest(operation_types)) k (type) WHERE k.type IS NOT NULL);

-- Up to max operations whose time has come, oldest first over all types. Each is locked on its
-- own, and what another worker is just taking is passed over. Without types: those of all policies.
CREATE FUNCTION reconcile.claim(operation_types text[] DEFAULT NULL, worker text DEFAULT NULL,
	lease interval DEFAULT '5 min', max int DEFAULT 1) RETURNS SETOF reconcile.operations
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	span CONSTANT interval := check_lease(lease);
	query CONSTANT text := waiting_query(coalesce(operation_types,
		ARRAY(SELECT k.operation_type FROM operation_types k)));
	batch CONSTANT int := 2 * max + 20;
	called_at CONSTANT timestamptz := clock_timestamp();
	at timestamptz;
	waiting record;
	after_at timestamptz := timestamptz '-infinity';
	after_id text := '';
	o operations;
	seen int;
	taken int := 0;
	passed_over int := 0; -- into review, because their keys expired
BEGIN
	IF max IS NULL OR max NOT BETWEEN 1 AND 1000 THEN
		PERFORM refuse('RC400', 'max is not between 1 and 1000');
	END IF;
	PERFORM check_rewind();
	WHILE query IS NOT NULL LOOP
		seen := 0;
		FOR waiting IN EXECUTE query USING called_at, after_at, after_id, batch LOOP
			seen := seen + 1;
			after_at := waiting.ready_at;
			after_id := waiting.operation_id;
			SELECT * INTO o FROM operations k
			WHERE k.operation_id = after_id AND k.status IN ('pending', 'retry_scheduled')
				AND k.superseded_by IS NULL AND NOT k.look_first
			FOR UPDATE SKIP LOCKED;
			CONTINUE WHEN NOT FOUND;
			at := clock_timestamp();
			CONTINUE WHEN o.next_attempt_at > at;
			o := begin_attempt(o, span, at, worker, NULL, NULL);
			IF o.status = 'processing' THEN
				RETURN NEXT o;
				taken := taken + 1;
			ELSE
				passed_over := passed_over + 1;
			END IF;
			EXIT WHEN taken = max OR passed_over = 100;
		END LOOP;
		EXIT WHEN taken = max OR passed_over = 100 OR seen < batch;
	END LOOP;
END
$$;

-- Only while the lease still runs: who overslept it must not send.
CREATE FUNCTION reconcile.extend(operation_id text, attempt int DEFAULT NULL,
	lease interval DEFAULT '5 min') RETURNS reconcile.operations
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	span CONSTANT interval := check_lease(lease);
	o operations := locked(operation_id);
	at CONSTANT timestamptz := clock_timestamp();
	t operation_types := type_of(o.operation_type);
BEGIN
	PERFORM check_attempt(o, '{processing}', attempt, false);
	IF o.attempt_until IS NULL OR o.attempt_until < at THEN
		PERFORM refuse('RC422', format('attempt %s of operation "%s" is over', o.attempts,
			operation_id));
	ELSIF o.attempts > 1 AND o.first_sent_at + elapsed(t.key_valid) <= at + span THEN
		PERFORM refuse('RC422', format('the key of operation "%s" would not outlive the lease',
			operation_id));
	END IF;
	o.attempt_until := at + span;
	o.due_at := o.attempt_until + t.latency_window;
	RETURN change(o, o.status, 'extended', at, compact(json_build_object('attempt', o.attempts,
		'lease_until', rfc3339(o.attempt_until))));
END
$$;

-- The request left, its outcome is not known. Refused in the transaction of its start: then
-- nothing stood in the database while the request was under way.
CREATE FUNCTION reconcile.sent(operation_id text, attempt int DEFAULT NULL,
	request_ref text DEFAULT NULL, remote_id text DEFAULT NULL)
RETURNS reconcile.operations
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	o operations := locked(operation_id);
	at CONSTANT timestamptz := clock_timestamp();
BEGIN
	PERFORM check_texts(ARRAY[remote_id]);
	PERFORM check_attempt(o, '{processing}', attempt, false);
	IF o.attempt_until IS NULL THEN
		PERFORM refuse('RC422', format('attempt %s of operation "%s" is over', o.attempts,
			operation_id));
	ELSIF o.sent_at >= transaction_timestamp() THEN
		PERFORM refuse('RC422', format('operation "%s": commit start before the call to the'
			' target, sent comes in a transaction after it', operation_id));
	END IF;
	o.status := 'awaiting_confirmation';
	o.sent_at := at;
	o.attempt_until := NULL;
	o.remote_id := coalesce(remote_id, o.remote_id);
	o.due_at := at + (type_of(o.operation_type)).latency_window;
	o := change(unearned(o), 'processing', 'sent', at, compact(json_build_object(
		'attempt', o.attempts, 'request_ref', left(request_ref, 500))));
	PERFORM wake_successors(o, at);
	RETURN o;
END
$$;

-- When the daemon asks once more about what a worker confirmed: verify_after later, for a share
-- of the operations that is the same however often it is computed.
CREATE FUNCTION reconcile.verify_at(o reconcile.operations, at timestamptz) RETURNS timestamptz
LANGUAGE plpgsql STABLE
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	t operation_types := type_of(o.operation_type);
BEGIN
	IF (hashtextextended(o.operation_id, 0) & 2147483647) % 10000 < t.verify_share * 10000 THEN
		RETURN at + elapsed(t.verify_after);
	END IF;
	RETURN NULL;
END
$$;

-- evidence of the worker with the number of its attempt, as the members of one object.
CREATE FUNCTION reconcile.attempt_evidence(attempt int, evidence json) RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	members text := substr(storable(evidence), 2);
BEGIN
	IF members IS NULL OR members ~ '^\s*\}$' THEN
		RETURN compact(json_build_object('attempt', attempt));
	ELSIF evidence::jsonb ? 'attempt' THEN
		RETURN '{' || members;
	END IF;
	RETURN '{"attempt":' || attempt || ',' || members;
EXCEPTION WHEN data_exception THEN
	RETURN '{"attempt":' || attempt || ',' || members;
END
$$;

-- The target's answer was validated. Counts late as well, except where two effects or another
-- one were once seen, and where the operation was closed as never having had an effect: there a
-- person has to look. A repeated confirmation changes nothing.
CREATE FUNCTION reconcile.confirm(operation_id text, remote_id text DEFAULT NULL,
	version text DEFAULT NULL, evidence json DEFAULT NULL, attempt int DEFAULT NULL)
RETURNS reconcile.operations
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	o operations := locked(operation_id);
	was CONSTANT text := o.status;
	at CONSTANT timestamptz := clock_timestamp();
	known CONSTANT text := o.remote_id;
	t operation_types := type_of(o.operation_type);
	given CONSTANT text := attempt_evidence(coalesce(attempt, o.attempts), evidence);
BEGIN
	PERFORM check_texts(ARRAY[remote_id]);
	PERFORM check_attempt(o, '{processing,awaiting_confirmation,retry_scheduled,manual_review,'
		'compensating,confirmed,compensated,not_applicable}', attempt, true);
	IF version <> o.version AND version_compare(version, o.version, t.version_order)
	   IS DISTINCT FROM 0 THEN
		PERFORM refuse('RC409', format('operation "%s" expects another version', operation_id));
	ELSIF was = 'confirmed' AND remote_id <> known THEN
		PERFORM refuse('RC409', format('operation "%s" is confirmed with another remote_id',
			operation_id));
	ELSIF was = 'confirmed' AND (remote_id IS NULL OR remote_id = known) THEN
		RETURN o;
	END IF;
	o.remote_id := coalesce(remote_id, known);
	IF was IN ('confirmed', 'compensating') THEN
		o := change(o, was, 'remote_id', at, given);
	ELSIF was IN ('compensated', 'not_applicable') THEN
		o.status := 'manual_review';
		o.class := NULL;
		o.reason := 'late_effect';
		o.closed_at := NULL;
		o.closed_reason := NULL;
		o.due_at := at;
		o := change(o, was, 'review', at, given, 'review', true);
	ELSIF o.disputed AND (was = 'manual_review' OR t.mode IS DISTINCT FROM 'observe') THEN
		o.status := 'manual_review';
		o.attempt_until := NULL;
		o.next_attempt_at := NULL;
		o.due_at := coalesce(o.due_at, at);
		o := change(o, was, 'review', at, given, 'review', true);
	ELSE
		o := closed(o, 'confirmed', at, 'validated_answer');
		o.class := 'correct';
		o.reason := 'validated_answer';
		o.due_at := verify_at(o, at);
		o := change(o, was, 'confirmed', at, given, 'confirm', true);
	END IF;
	PERFORM wake_successors(o, at);
	RETURN o;
END
$$;

-- Whether an attempt before the newest may still have an effect: each one did not end in retry().
CREATE FUNCTION reconcile.earlier_open(o reconcile.operations) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = reconcile, pg_temp
RETURN o.attempts - 1 > (SELECT count(*) FROM reconcile.journal k
	WHERE k.operation_id = o.operation_id AND k.event = 'retried');

-- The newest attempt ended without effect, but an earlier one may have had it: ask.
CREATE FUNCTION reconcile.ask_about_earlier(o reconcile.operations, event text, at timestamptz,
	evidence text) RETURNS reconcile.operations
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	o.attempt_until := NULL;
	o.due_at := at;
	RETURN change(o, o.status, event, at, evidence);
END
$$;

-- A final refusal by the target: there is no effect and will be none.
CREATE FUNCTION reconcile.reject(operation_id text, attempt int DEFAULT NULL,
	code text DEFAULT NULL, reason text DEFAULT NULL) RETURNS reconcile.operations
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	o operations := locked(operation_id);
	was CONSTANT text := o.status;
	at CONSTANT timestamptz := clock_timestamp();
	evidence CONSTANT text := compact(json_build_object('attempt', o.attempts,
		'code', left(code, 500), 'reason', left(reason, 2000)));
BEGIN
	PERFORM check_attempt(o, '{processing,awaiting_confirmation}', attempt, false);
	IF earlier_open(o) THEN
		o := ask_about_earlier(o, 'rejected', at, evidence);
	ELSE
		o := closed(o, 'not_applicable', at,
			concat_ws(': ', 'rejected', left(code, 500), left(reason, 500)));
		o.class := 'not_applicable';
		o.reason := 'rejected';
		o := change(o, was, 'rejected', at, evidence, 'close', true);
	END IF;
	PERFORM wake_successors(o, at);
	RETURN o;
END
$$;

-- How long to wait after so many attempts, at most a day unless the policy begins above it.
CREATE FUNCTION reconcile.attempt_delay(t reconcile.operation_types, attempts int) RETURNS interval
LANGUAGE sql IMMUTABLE
SET search_path = reconcile, pg_temp
RETURN greatest(t.attempts_delay, least(interval '24:00:00', make_interval(secs => least(86400,
	extract(epoch FROM t.attempts_delay) * power(t.attempts_factor, least(attempts - 1, 60)))
	::double precision)));

-- The attempt is known not to have had an effect. Another one follows after the delay; after the
-- last one, or when the cause will not go away, a person decides.
CREATE FUNCTION reconcile.retry(operation_id text, attempt int DEFAULT NULL,
	cause text DEFAULT NULL, permanent boolean DEFAULT false, delay interval DEFAULT NULL)
RETURNS reconcile.operations
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	o operations := locked(operation_id);
	at CONSTANT timestamptz := clock_timestamp();
	t operation_types := type_of(o.operation_type);
	evidence CONSTANT text := compact(json_build_object('attempt', o.attempts,
		'cause', left(cause, 500), 'permanent', nullif(coalesce(permanent, false), false)));
BEGIN
	IF elapsed(delay) NOT BETWEEN '0' AND interval '8760:00:00' THEN
		PERFORM refuse('RC400', 'delay is not between zero and a year');
	END IF;
	PERFORM check_attempt(o, '{processing}', attempt, false);
	IF o.attempt_until IS NULL THEN
		PERFORM refuse('RC422', format('attempt %s of operation "%s" is over', o.attempts,
			operation_id));
	ELSIF earlier_open(o) THEN
		o := ask_about_earlier(o, 'retried', at, evidence);
		PERFORM wake_successors(o, at);
		RETURN o;
	END IF;
	o.attempt_until := NULL;
	IF permanent OR o.attempts >= t.attempts_max THEN
		o.status := 'manual_review';
		o.class := NULL;
		o.reason := CASE WHEN permanent THEN 'permanent_failure' ELSE 'attempts_exhausted' END;
		o.due_at := at + t.latency_window;
		o := change(o, 'processing', 'retried', at, evidence, 'review', true);
	ELSE
		o.status := 'retry_scheduled';
		o.next_attempt_at := at + coalesce(elapsed(delay), attempt_delay(t, o.attempts));
		o.due_at := o.next_attempt_at + t.latency_window;
		o := change(o, 'processing', 'retried', at, evidence);
	END IF;
	PERFORM wake_successors(o, at);
	RETURN o;
END
$$;
