-- SPDX-License-Identifier: Apache-2.0
-- The journal only grows. Beside the rights on the table, triggers refuse every change, to its
-- owner and to superusers too; only the role reconcile_retention deletes rows or blanks evidence.

SET LOCAL ROLE reconcile_owner;

-- Superusers are members of every role, so membership alone would let them through by accident.
CREATE FUNCTION reconcile.is_retention(role name) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = reconcile, pg_temp
RETURN role = 'reconcile_retention' OR EXISTS (
	SELECT FROM pg_catalog.pg_roles r
	WHERE r.rolname = role AND NOT r.rolsuper
	AND pg_catalog.pg_has_role(r.oid, 'reconcile_retention', 'MEMBER'));

CREATE FUNCTION reconcile.guard_journal() RETURNS trigger
LANGUAGE plpgsql
SET search_path = reconcile, pg_temp
AS $$
DECLARE
	blanked journal;
BEGIN
	IF TG_OP <> 'TRUNCATE' AND is_retention(current_user) THEN
		IF TG_OP = 'DELETE' THEN
			RETURN OLD;
		END IF;
		blanked := NEW;
		blanked.evidence := OLD.evidence;
		IF blanked IS NOT DISTINCT FROM OLD THEN
			RETURN NEW;
		END IF;
	END IF;
	RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
		MESSAGE = format('the journal is append-only: %s refused', TG_OP);
END
$$;

SET LOCAL citus.enable_unsafe_triggers = on;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON reconcile.journal
	FOR EACH ROW EXECUTE FUNCTION reconcile.guard_journal();
CREATE TRIGGER never_empty BEFORE TRUNCATE ON reconcile.journal
	FOR EACH STATEMENT EXECUTE FUNCTION reconcile.guard_journal();
