-- SPDX-License-Identifier: Apache-2.0
-- Tables that do not belong to one operation: what SQL must know of the policies, the
-- instances, the guards and their counts, and the records of the idempotency store.

SET LOCAL ROLE reconcile_owner;

CREATE TABLE reconcile.operation_types (
	operation_type text COLLATE "C" PRIMARY KEY,
	target text NOT NULL,
	policy text NOT NULL,
	mode text NOT NULL DEFAULT 'observe' CHECK (mode IN ('observe', 'enforce')),
	stakes text NOT NULL DEFAULT 'normal' CHECK (stakes IN ('normal', 'money', 'irreversible')),
	approvals int NOT NULL DEFAULT 1 CHECK (approvals >= 1),
	latency_window interval NOT NULL DEFAULT '5 min',
	deadline interval,
	pickup_window interval,
	attempts_max int NOT NULL DEFAULT 5 CHECK (attempts_max >= 1),
	attempts_delay interval NOT NULL DEFAULT '1 min',
	attempts_factor numeric NOT NULL DEFAULT 2 CHECK (attempts_factor >= 1),
	requeue_max int NOT NULL DEFAULT 3 CHECK (requeue_max >= 0),
	key_valid interval,
	deliver_to text,
	version_order text NOT NULL DEFAULT 'integer'
		CHECK (version_order IN ('integer', 'time', 'dotted', 'opaque')),
	verify_after interval,
	verify_share numeric NOT NULL DEFAULT 1 CHECK (verify_share BETWEEN 0 AND 1),
	watch interval,
	guard_window interval NOT NULL DEFAULT '10 min',
	guard_max int NOT NULL DEFAULT 20 CHECK (guard_max >= 0),
	guard_share numeric NOT NULL DEFAULT 0.5 CHECK (guard_share BETWEEN 0 AND 1),
	guard_sample int NOT NULL DEFAULT 10 CHECK (guard_sample >= 1),
	paused boolean NOT NULL DEFAULT false,
	paused_at timestamptz,
	paused_by text,
	pause_reason text,
	updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE reconcile.policies (
	digest text COLLATE "C" PRIMARY KEY,
	operation_type text COLLATE "C" NOT NULL,
	text text NOT NULL,
	loaded_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE reconcile.instances (
	instance_id text COLLATE "C" PRIMARY KEY,
	name text NOT NULL,
	version text NOT NULL,
	started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	heartbeat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	beats bigint NOT NULL DEFAULT 0,
	stopped_at timestamptz,
	types jsonb NOT NULL DEFAULT '{}',
	in_flight text[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);

CREATE TABLE reconcile.guards (
	kind text NOT NULL CHECK (kind IN ('type', 'rewind')),
	name text COLLATE "C" NOT NULL,
	tripped_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	reason text NOT NULL,
	count int,
	share numeric,
	action_limit int,
	let_through int NOT NULL DEFAULT 0,
	released_at timestamptz,
	released_by text,
	release_reason text,
	PRIMARY KEY (kind, name, tripped_at)
);
-- Whoever trips it second finds it tripped.
CREATE UNIQUE INDEX guards_tripped ON reconcile.guards (kind, name) WHERE released_at IS NULL;

CREATE TABLE reconcile.budgets (
	operation_type text COLLATE "C" PRIMARY KEY,
	window_started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	used int NOT NULL DEFAULT 0 CHECK (used >= 0)
) WITH (fillfactor = 50);

CREATE TABLE reconcile.tallies (
	instance_id text COLLATE "C" NOT NULL,
	minute timestamptz NOT NULL,
	operation_type text COLLATE "C" NOT NULL,
	class text COLLATE "C" NOT NULL,
	action text COLLATE "C" NOT NULL,
	n bigint NOT NULL,
	counted bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (instance_id, minute, operation_type, class, action)
) WITH (
	fillfactor = 70,
	autovacuum_vacuum_scale_factor = 0,
	autovacuum_vacuum_threshold = 5000
);
-- Not partial on what is counted: rows are counted up in place, and the index must not care.
CREATE INDEX tallies_type ON reconcile.tallies (operation_type, minute);
CREATE INDEX tallies_minute ON reconcile.tallies USING brin (minute)
	WITH (pages_per_range = 8, autosummarize = on);

CREATE TABLE reconcile.idempotency_records (
	scope text COLLATE "C" NOT NULL,
	operation text COLLATE "C" NOT NULL,
	key text COLLATE "C" NOT NULL,
	fingerprint bytea,
	operation_id text COLLATE "C",
	correlation_id text,
	created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	status text NOT NULL DEFAULT 'processing'
		CHECK (status IN ('processing', 'pending', 'completed', 'failed')),
	owner uuid,
	lease_until timestamptz,
	response_code int,
	response_body bytea,
	content_type text,
	resource_id text,
	external_reference text,
	conflicts int NOT NULL DEFAULT 0,
	last_conflict_at timestamptz,
	updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	expires_at timestamptz,
	PRIMARY KEY (scope, operation, key)
) WITH (fillfactor = 80);
CREATE INDEX idempotency_records_unsettled ON reconcile.idempotency_records (operation_id)
	WHERE status IN ('processing', 'pending');
CREATE INDEX idempotency_records_conflicts ON reconcile.idempotency_records (conflicts)
	WHERE conflicts > 0;
CREATE INDEX idempotency_records_expiry ON reconcile.idempotency_records (expires_at)
	WHERE status IN ('completed', 'failed');
