-- SPDX-License-Identifier: Apache-2.0
-- Who may do what. Applications read operations and content (the payload that a worker sends) and
-- change through functions; only the daemon writes tables, and it never deletes; only retention
-- deletes. People and auditors see neither payloads nor stored responses.

SET LOCAL ROLE reconcile_owner;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA reconcile FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA reconcile FROM PUBLIC;

GRANT SELECT ON reconcile.schema_migrations TO reconcile_app, reconcile_daemon,
	reconcile_operator, reconcile_auditor, reconcile_retention;

GRANT SELECT ON reconcile.operations, reconcile.content, reconcile.operation_types
	TO reconcile_app;
GRANT EXECUTE ON FUNCTION
	reconcile.request(text, text, text, text, text, text, text, text, text, json, json,
		timestamptz, boolean, text),
	reconcile.start(text, text, interval, bigint, text, text),
	reconcile.extend(text, int, interval),
	reconcile.claim(text[], text, interval, int),
	reconcile.sent(text, int, text, text),
	reconcile.confirm(text, text, text, json, int),
	reconcile.reject(text, int, text, text),
	reconcile.retry(text, int, text, boolean, interval),
	reconcile.receipt(text, text, text),
	reconcile.cancel(text, text),
	reconcile.set_entity_state(text, text, text, text)
	TO reconcile_app;

GRANT SELECT ON ALL TABLES IN SCHEMA reconcile TO reconcile_daemon, reconcile_retention;
GRANT INSERT ON reconcile.journal TO reconcile_daemon;
GRANT INSERT, UPDATE ON reconcile.operations, reconcile.content, reconcile.outbox,
	reconcile.tallies, reconcile.budgets, reconcile.instances, reconcile.operation_types,
	reconcile.policies, reconcile.guards, reconcile.idempotency_records,
	reconcile.entity_versions TO reconcile_daemon;

GRANT DELETE ON reconcile.operations, reconcile.content, reconcile.journal, reconcile.outbox,
	reconcile.idempotency_records, reconcile.tallies, reconcile.instances,
	reconcile.entity_versions TO reconcile_retention;
GRANT INSERT ON reconcile.tombstones TO reconcile_retention;
GRANT UPDATE (evidence) ON reconcile.journal TO reconcile_retention;
GRANT UPDATE (expected) ON reconcile.operations TO reconcile_retention;
GRANT UPDATE (payload, receipt, receipt_signature) ON reconcile.content TO reconcile_retention;

GRANT SELECT ON reconcile.operations, reconcile.journal, reconcile.outbox,
	reconcile.entity_versions, reconcile.tombstones, reconcile.operation_types,
	reconcile.policies, reconcile.instances, reconcile.guards, reconcile.budgets,
	reconcile.tallies, reconcile.open_types, reconcile.exceptions, reconcile.overview
	TO reconcile_operator, reconcile_auditor;
GRANT SELECT (operation_id, receipt_at) ON reconcile.content
	TO reconcile_operator, reconcile_auditor;
GRANT SELECT (scope, operation, key, fingerprint, operation_id, correlation_id, created_at, status,
	lease_until, response_code, content_type, resource_id, external_reference, conflicts,
	last_conflict_at, updated_at, expires_at) ON reconcile.idempotency_records
	TO reconcile_operator, reconcile_auditor;

-- Functions that statements, views and conditions of triggers call with the rights of their user.
GRANT EXECUTE ON FUNCTION
	reconcile.lifecycle_ok(text, text),
	reconcile.is_retention(name),
	reconcile.event_type(text, text, text),
	reconcile.event_payload(text, text, text, text, text, text, text, text, text, text, int, text,
		text, text, text, bigint, timestamptz),
	reconcile.rfc3339(timestamptz),
	reconcile.elapsed(interval),
	reconcile.age(timestamptz, timestamptz),
	reconcile.readable(text),
	reconcile.duplication_risk(text, timestamptz, timestamptz, interval, timestamptz)
	TO reconcile_app, reconcile_daemon, reconcile_operator, reconcile_auditor,
	reconcile_retention;
