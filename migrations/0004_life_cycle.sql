-- SPDX-License-Identifier: Apache-2.0
-- Which status may follow which. Who may cause a change is checked by the functions; this stands
-- behind them and behind the daemon, and refuses every other pair with RC422.

SET LOCAL ROLE reconcile_owner;

-- No SET clause and a parsed body, so that it is inlined into the condition of the trigger.
CREATE FUNCTION reconcile.lifecycle_ok(old_status text, new_status text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN old_status = new_status OR CASE old_status
	WHEN 'pending' THEN new_status IN
		('processing', 'confirmed', 'manual_review', 'not_applicable')
	WHEN 'processing' THEN new_status IN
		('awaiting_confirmation', 'retry_scheduled', 'confirmed', 'manual_review',
		 'compensating', 'not_applicable')
	WHEN 'awaiting_confirmation' THEN new_status IN
		('retry_scheduled', 'confirmed', 'manual_review', 'compensating', 'not_applicable')
	WHEN 'retry_scheduled' THEN new_status IN
		('processing', 'confirmed', 'manual_review', 'compensating', 'not_applicable')
	WHEN 'manual_review' THEN new_status IN
		('awaiting_confirmation', 'retry_scheduled', 'confirmed', 'compensating',
		 'not_applicable')
	WHEN 'compensating' THEN new_status IN
		('compensated', 'manual_review', 'not_applicable')
	WHEN 'confirmed' THEN new_status IN ('manual_review', 'awaiting_confirmation')
	WHEN 'compensated' THEN new_status IN ('manual_review', 'awaiting_confirmation')
	WHEN 'not_applicable' THEN new_status IN ('manual_review', 'awaiting_confirmation')
	ELSE false
END;

CREATE FUNCTION reconcile.refuse_status() RETURNS trigger
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
BEGIN
	IF TG_OP = 'INSERT' THEN
		RAISE EXCEPTION USING ERRCODE = 'RC422', MESSAGE = format(
			'operation "%s" cannot begin as %s', NEW.operation_id, NEW.status);
	END IF;
	RAISE EXCEPTION USING ERRCODE = 'RC422', MESSAGE = format(
		'operation "%s" cannot change from %s to %s',
		NEW.operation_id, OLD.status, NEW.status);
END
$$;

-- Citus allows triggers on distributed tables only with this; elsewhere it means nothing.
SET LOCAL citus.enable_unsafe_triggers = on;

CREATE TRIGGER life_cycle AFTER UPDATE OF status ON reconcile.operations
	FOR EACH ROW WHEN (NOT reconcile.lifecycle_ok(OLD.status, NEW.status))
	EXECUTE FUNCTION reconcile.refuse_status();

CREATE TRIGGER life_begin AFTER INSERT ON reconcile.operations
	FOR EACH ROW WHEN (NOT (NEW.status = 'pending'
		OR NEW.status = 'awaiting_confirmation' AND NEW.sent_at IS NOT NULL))
	EXECUTE FUNCTION reconcile.refuse_status();
