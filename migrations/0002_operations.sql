-- SPDX-License-Identifier: Apache-2.0
-- The operations and what is stored beside each of them. In operations the columns that never
-- change stand first and those that every look rewrites last, because the log of an update holds
-- only the bytes between the first and the last difference. No foreign keys: rows of one
-- operation are written together and deleted together.

SET LOCAL ROLE reconcile_owner;

CREATE TABLE reconcile.operations (
	operation_id text COLLATE "C" PRIMARY KEY,
	operation_type text COLLATE "C" NOT NULL,
	scope text COLLATE "C" NOT NULL DEFAULT '',
	entity_type text COLLATE "C",
	entity_id text COLLATE "C",
	version text,
	fingerprint bytea,
	idempotency_key text,
	business_key text,
	correlation_id text,
	expected jsonb NOT NULL DEFAULT '{}',
	compensates text COLLATE "C",
	created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	deadline_at timestamptz,
	entity_state text NOT NULL DEFAULT 'active',
	remote_id text,
	superseded_by text COLLATE "C",
	first_sent_at timestamptz,
	assignee text,
	closed_reason text,
	snoozed_until timestamptz,
	closed_at timestamptz,
	disputed boolean NOT NULL DEFAULT false,
	look_first boolean NOT NULL DEFAULT false,
	attempts int NOT NULL DEFAULT 0,
	requeues int NOT NULL DEFAULT 0,
	suspect int NOT NULL DEFAULT 0,
	postponed int NOT NULL DEFAULT 0,
	sent_at timestamptz,
	attempt_until timestamptz,
	next_attempt_at timestamptz,
	status text NOT NULL DEFAULT 'pending',
	class text,
	reason text,
	earning text,
	evidence_digest bytea,
	recommended_action text,
	absent_since timestamptz,
	absences int NOT NULL DEFAULT 0,
	inconclusive int NOT NULL DEFAULT 0,
	checks int NOT NULL DEFAULT 0,
	due_at timestamptz,
	updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	revision bigint NOT NULL DEFAULT 0,
	CONSTRAINT operations_id_length CHECK (octet_length(operation_id) BETWEEN 1 AND 205),
	CONSTRAINT operations_closed CHECK ((closed_at IS NOT NULL)
		= (status IN ('confirmed', 'compensated', 'not_applicable'))),
	CONSTRAINT operations_class CHECK (class IN
		('missing', 'correct', 'divergent', 'ambiguous', 'not_applicable'))
) WITH (
	fillfactor = 80,
	-- Absolute, so that dead entries at the head of the due index stay few in a large table too.
	autovacuum_vacuum_scale_factor = 0,
	autovacuum_vacuum_threshold = 20000,
	autovacuum_analyze_scale_factor = 0,
	autovacuum_analyze_threshold = 50000,
	autovacuum_vacuum_cost_limit = 2000
);

-- What is due, oldest first, type by type. All others cover open rows only, so
-- that a row which is closed leaves them and enters none.
CREATE INDEX operations_due ON reconcile.operations (operation_type, due_at, operation_id)
	WHERE due_at IS NOT NULL;
-- In flight when an instance died: asked alone.
CREATE INDEX operations_suspect ON reconcile.operations (operation_type, due_at, operation_id)
	WHERE suspect > 0 AND due_at IS NOT NULL;
CREATE INDEX operations_open ON reconcile.operations (entity_id, entity_type, scope)
	WHERE closed_at IS NULL;
CREATE INDEX operations_claimable ON reconcile.operations
	(operation_type, coalesce(next_attempt_at, created_at), operation_id)
	WHERE status IN ('pending', 'retry_scheduled') AND superseded_by IS NULL AND NOT look_first;
CREATE INDEX operations_review ON reconcile.operations (operation_type, operation_id)
	WHERE status = 'manual_review';
-- Found correct while their type is observed only: not asked again until it is enforced.
CREATE INDEX operations_resting ON reconcile.operations (operation_type, operation_id)
	WHERE due_at IS NULL AND closed_at IS NULL;
CREATE INDEX operations_deadline ON reconcile.operations (deadline_at)
	WHERE closed_at IS NULL AND deadline_at IS NOT NULL;

CREATE TABLE reconcile.content (
	operation_id text COLLATE "C" PRIMARY KEY,
	payload json,
	receipt text,
	receipt_signature text,
	receipt_at timestamptz
);

CREATE TABLE reconcile.journal (
	operation_id text COLLATE "C" NOT NULL,
	revision bigint NOT NULL,
	at timestamptz NOT NULL DEFAULT clock_timestamp(),
	actor text NOT NULL,
	event text NOT NULL,
	from_status text,
	to_status text NOT NULL,
	class text,
	reason text,
	action text,
	rule text,
	evidence text,
	policy text,
	elapsed_ms bigint,
	PRIMARY KEY (operation_id, revision)
) WITH (
	autovacuum_vacuum_insert_scale_factor = 0,
	autovacuum_vacuum_insert_threshold = 500000
);
CREATE INDEX journal_at ON reconcile.journal USING brin (at) WITH (autosummarize = on);

CREATE TABLE reconcile.outbox (
	aggregateid text COLLATE "C" NOT NULL,
	revision bigint NOT NULL,
	id uuid NOT NULL DEFAULT gen_random_uuid(),
	aggregatetype text NOT NULL DEFAULT 'operation',
	type text NOT NULL,
	payload jsonb NOT NULL,
	deliver_to text,
	created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	attempts int NOT NULL DEFAULT 0,
	next_attempt_at timestamptz,
	delivered_at timestamptz,
	parked_at timestamptz,
	last_error text,
	PRIMARY KEY (aggregateid, revision)
) WITH (
	autovacuum_vacuum_scale_factor = 0,
	autovacuum_vacuum_threshold = 20000
);
CREATE INDEX outbox_undelivered ON reconcile.outbox (next_attempt_at, aggregateid, revision)
	WHERE deliver_to IS NOT NULL AND delivered_at IS NULL;
CREATE INDEX outbox_created_at ON reconcile.outbox USING brin (created_at)
	WITH (autosummarize = on);

-- The highest version ever requested of an entity: a late request of an older one is found
-- superseded without an index over closed operations, and also after they were purged.
CREATE TABLE reconcile.entity_versions (
	operation_type text COLLATE "C" NOT NULL,
	scope text COLLATE "C" NOT NULL,
	entity_type text COLLATE "C" NOT NULL,
	entity_id text COLLATE "C" NOT NULL,
	version text NOT NULL,
	operation_id text COLLATE "C" NOT NULL,
	PRIMARY KEY (operation_type, scope, entity_type, entity_id)
) WITH (fillfactor = 80);

CREATE TABLE reconcile.tombstones (
	operation_id text COLLATE "C" PRIMARY KEY,
	fingerprint bytea,
	status text NOT NULL,
	remote_id text,
	closed_at timestamptz
);
