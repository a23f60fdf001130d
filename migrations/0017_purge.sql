-- SPDX-License-Identifier: Apache-2.0
-- Records of idempotency keys whose answers have been kept long enough.

SET LOCAL ROLE reconcile_owner;

-- One batch, those that expired first; how many went. Never a record whose outcome is not known,
-- however old: its key would run the work again.
CREATE FUNCTION reconcile.purge(max int DEFAULT 1000) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	at CONSTANT timestamptz := clock_timestamp();
	gone int;
BEGIN
	IF max IS NULL OR max NOT BETWEEN 1 AND 10000 THEN
		PERFORM refuse('RC400', 'max is not between 1 and 10000');
	END IF;
	WITH old AS MATERIALIZED (
		SELECT k.scope, k.operation, k.key FROM idempotency_records k
		WHERE k.status IN ('completed', 'failed') AND k.expires_at <= at
		ORDER BY k.expires_at LIMIT purge.max
	)
	DELETE FROM idempotency_records k USING old
	WHERE k.scope = old.scope AND k.operation = old.operation AND k.key = old.key
		AND k.status IN ('completed', 'failed') AND k.expires_at <= at;
	GET DIAGNOSTICS gone = ROW_COUNT;
	RETURN gone;
END
$$;

REVOKE ALL ON FUNCTION reconcile.purge(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION reconcile.purge(int) TO reconcile_app, reconcile_retention;

COMMENT ON FUNCTION reconcile.purge IS 'deletes a batch of idempotency records whose ttl is over; settled ones only';
