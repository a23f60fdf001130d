-- SPDX-License-Identifier: Apache-2.0
-- Roles, schema, and the list of applied migrations. The roles belong to the whole cluster, so
-- another database may have made them already. Whoever runs this needs CREATEROLE and CREATE on
-- the database; it becomes a member of reconcile_owner, which owns everything made here. Schema
-- and schema_migrations may exist already: the migration runner makes them to look for its place.
-- Fingerprints and journal texts are UTF-8, so the database has to be.

DO $$
DECLARE
	name text;
BEGIN
	IF current_setting('server_encoding') <> 'UTF8' THEN
		RAISE EXCEPTION 'encoding of database "%" is %, not UTF8', current_database(),
			current_setting('server_encoding');
	END IF;
	FOREACH name IN ARRAY ARRAY['reconcile_owner', 'reconcile_app', 'reconcile_daemon',
				    'reconcile_operator', 'reconcile_auditor', 'reconcile_retention']
	LOOP
		CONTINUE WHEN EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name);
		BEGIN
			EXECUTE format('CREATE ROLE %I NOLOGIN', name);
		EXCEPTION WHEN duplicate_object OR unique_violation THEN
			NULL; -- a migration of another database was faster
		END;
	END LOOP;
	-- Since PostgreSQL 16 whoever makes a role may grant it, but not yet act as it.
	IF NOT pg_has_role(session_user, 'reconcile_owner', CASE WHEN
		current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END) THEN
		EXECUTE format('GRANT reconcile_owner TO %I', session_user);
	END IF;
END
$$;

CREATE SCHEMA IF NOT EXISTS reconcile;
ALTER SCHEMA reconcile OWNER TO reconcile_owner;

CREATE TABLE IF NOT EXISTS reconcile.schema_migrations (
	version int PRIMARY KEY,
	name text NOT NULL,
	sha256 text NOT NULL,
	applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
ALTER TABLE reconcile.schema_migrations OWNER TO reconcile_owner;

SET LOCAL ROLE reconcile_owner;

-- Nothing made later is executable by everybody, even where a migration forgets to say so.
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

REVOKE ALL ON SCHEMA reconcile FROM PUBLIC;
GRANT USAGE ON SCHEMA reconcile TO reconcile_app, reconcile_daemon, reconcile_operator,
	reconcile_auditor, reconcile_retention;

COMMENT ON SCHEMA reconcile IS 'operations with effects in other systems, and what is known of them';
COMMENT ON TABLE reconcile.schema_migrations IS 'migrations applied to this database';
COMMENT ON COLUMN reconcile.schema_migrations.version IS 'number at the head of the file name';
COMMENT ON COLUMN reconcile.schema_migrations.name IS 'rest of the file name, without .sql';
COMMENT ON COLUMN reconcile.schema_migrations.sha256 IS 'SHA-256 of the file, hexadecimal';
COMMENT ON COLUMN reconcile.schema_migrations.applied_at IS 'when its transaction ran';
