-- SPDX-License-Identifier: Apache-2.0
-- Pure functions on values: canonical JSON and its fingerprint, text that can be stored, order of
-- versions, and elapsed time.

SET LOCAL ROLE reconcile_owner;

CREATE FUNCTION reconcile.refuse(code text, message text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
	RAISE EXCEPTION USING ERRCODE = code, MESSAGE = message;
END
$$;

-- Days are 24 hours whatever the time zone of the session does meanwhile.
CREATE FUNCTION reconcile.elapsed(span interval) RETURNS interval
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN make_interval(secs => extract(epoch FROM span)::double precision);

-- JSON as jsonb, or RC400 where that would lose or refuse something: a NUL, a lone surrogate,
-- a repeated member, an exponent beyond 1000. Members and exponents are looked for in what is
-- left when all strings are taken out.
CREATE FUNCTION reconcile.exact_json(value json, name text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	strings CONSTANT text := '"(?:[^"\\]|\\.)*"';
	bare CONSTANT text := regexp_replace(value::text, strings, '', 'g');
	exact jsonb;
	bare_exact text;
BEGIN
	IF value::text = '{}' THEN
		RETURN '{}';
	END IF;
	IF bare ~ '[eE][+-]?0*(?:[0-9]{5}|[2-9][0-9]{3}|1(?:[1-9][0-9]{2}|0[1-9][0-9]|00[1-9]))' THEN
		PERFORM refuse('RC400', format('%s: exponent beyond 1000', name));
	END IF;
	BEGIN
		exact := value::jsonb;
	EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
		PERFORM refuse('RC400', format('%s: %s', name, SQLERRM));
	END;
	bare_exact := regexp_replace(exact::text, strings, '', 'g');
	IF length(bare) - length(replace(bare, ':', ''))
	   <> length(bare_exact) - length(replace(bare_exact, ':', '')) THEN
		PERFORM refuse('RC400', format('%s: repeated member', name));
	END IF;
	RETURN exact;
END
$$;

-- One spelling for each value, the same in every release: members sorted by bytes, nothing between
-- tokens, numbers without exponent and without zeros at their end, the shortest escapes.
CREATE FUNCTION reconcile.canonical(value jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	RETURN CASE jsonb_typeof(value)
	WHEN 'object' THEN (
		SELECT '{' || coalesce(string_agg(to_json(m.key)::text || ':' || CASE
				WHEN jsonb_typeof(m.value) IN ('object', 'array', 'number')
				THEN canonical(m.value) ELSE m.value::text END,
				',' ORDER BY m.key COLLATE "C"), '') || '}'
		FROM jsonb_each(value) m)
	WHEN 'array' THEN (
		SELECT '[' || coalesce(string_agg(canonical(e.value), ',' ORDER BY e.place), '') || ']'
		FROM jsonb_array_elements(value) WITH ORDINALITY e (value, place))
	WHEN 'number' THEN trim_scale(value::numeric)::text
	ELSE value::text
	END;
END
$$;

CREATE FUNCTION reconcile.fingerprint(payload json) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	RETURN sha256(convert_to(canonical(exact_json(payload, 'payload')), 'UTF8'));
EXCEPTION WHEN statement_too_complex THEN
	PERFORM refuse('RC400', 'payload: nested too deep');
END
$$;

-- Text for journal.evidence, without null members; nothing at all is null.
CREATE FUNCTION reconcile.compact(evidence json) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN nullif(json_strip_nulls(evidence)::text, '{}');

-- Evidence of a worker, so that every reader can cast it to jsonb: what jsonb refuses is kept
-- inside a string, what is too long as its digest. Never fails.
CREATE FUNCTION reconcile.storable(evidence json) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	raw text := evidence::text;
BEGIN
	IF octet_length(raw) > 65536 THEN
		RETURN compact(json_build_object('not_storable', 'too_large', 'bytes', octet_length(raw),
			'sha256', encode(sha256(convert_to(raw, 'UTF8')), 'hex')));
	END IF;
	PERFORM exact_json(evidence, 'evidence');
	RETURN CASE json_typeof(evidence) WHEN 'object' THEN btrim(raw, E' \t\r\n')
		ELSE '{"given":' || raw || '}' END;
EXCEPTION WHEN SQLSTATE 'RC400' THEN
	RETURN compact(json_build_object('not_storable', 'not_exact', 'text', raw));
END
$$;

-- -1, 0, 1, or null where the two have no order.
CREATE FUNCTION reconcile.version_compare(a text, b text, version_order text) RETURNS int
LANGUAGE plpgsql STABLE STRICT
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	shape CONSTANT text := CASE version_order
		WHEN 'integer' THEN '^[+-]?[0-9]{1,255}$'
		WHEN 'dotted' THEN '^[0-9]{1,100}([.][0-9]{1,100}){0,20}$'
		WHEN 'time' THEN '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(Z|[+-][0-9]{2}:?[0-9]{2})$'
		END;
	parts_a numeric[];
	parts_b numeric[];
BEGIN
	IF shape IS NULL OR a !~ shape OR b !~ shape THEN
		RETURN CASE WHEN a = b THEN 0 END;
	ELSIF version_order = 'integer' THEN
		RETURN sign(a::numeric - b::numeric);
	ELSIF version_order = 'time' THEN
		RETURN sign(extract(epoch FROM a::timestamptz) - extract(epoch FROM b::timestamptz));
	END IF;
	parts_a := string_to_array(a, '.')::numeric[];
	parts_b := string_to_array(b, '.')::numeric[];
	FOR i IN 1 .. greatest(cardinality(parts_a), cardinality(parts_b)) LOOP
		IF coalesce(parts_a[i], 0) <> coalesce(parts_b[i], 0) THEN
			RETURN sign(coalesce(parts_a[i], 0) - coalesce(parts_b[i], 0));
		END IF;
	END LOOP;
	RETURN 0;
EXCEPTION WHEN data_exception THEN
	RETURN NULL;
END
$$;
