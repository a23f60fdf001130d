-- SPDX-License-Identifier: Apache-2.0
-- One operation with all its columns, its target, and what sending it again might do.
-- $1 text operation_id.
-- Result: columns of operations, target, duplication_risk; no row: unknown.
SELECT o.operation_id, o.operation_type, o.scope, o.entity_type, o.entity_id, o.entity_state,
	o.version, o.idempotency_key, o.business_key, o.remote_id, o.correlation_id, o.status,
	o.class, o.reason, o.recommended_action, o.attempts, o.requeues, o.checks, o.absences, o.inconclusive,
	o.disputed, o.suspect, o.earning, o.assignee, o.superseded_by, o.compensates, o.closed_reason,
	reconcile.rfc3339(o.created_at) AS created_at,
	reconcile.rfc3339(o.first_sent_at) AS first_sent_at,
	reconcile.rfc3339(o.sent_at) AS sent_at,
	reconcile.rfc3339(o.attempt_until) AS attempt_until,
	reconcile.rfc3339(o.next_attempt_at) AS next_attempt_at,
	reconcile.rfc3339(o.absent_since) AS absent_since,
	reconcile.rfc3339(o.snoozed_until) AS snoozed_until,
	reconcile.rfc3339(o.due_at) AS due_at,
	reconcile.rfc3339(o.deadline_at) AS deadline_at,
	reconcile.rfc3339(o.closed_at) AS closed_at,
	reconcile.rfc3339(o.updated_at) AS updated_at, o.revision, o.expected,
	encode(o.fingerprint, 'hex') AS fingerprint,
	encode(o.evidence_digest, 'hex') AS evidence_digest, t.target,
	reconcile.duplication_risk(o.class, o.first_sent_at, o.attempt_until, t.key_valid,
		clock_timestamp()) AS duplication_risk
FROM reconcile.operations o LEFT JOIN reconcile.operation_types t USING (operation_type)
WHERE o.operation_id = $1::text
