-- SPDX-License-Identifier: Apache-2.0
-- Operations that wait for a worker and that nobody takes are announced again, by the daemon.

SET LOCAL ROLE reconcile_owner;

ALTER TABLE reconcile.operations
	ADD COLUMN announced_at timestamptz,
	ADD COLUMN announcements int CHECK (announcements > 0);

COMMENT ON COLUMN reconcile.operations.announced_at IS 'when it was last announced again because no worker had taken it';
COMMENT ON COLUMN reconcile.operations.announcements IS 'how often that was done, at most requeue.max times; null: never';

-- Which changes are announced, at most one event each. An attempt that begins, ends or is repeated
-- by its own worker is known to that worker and nobody else waits for it. What waits for a worker
-- may be announced again without a change of status.
CREATE OR REPLACE FUNCTION reconcile.event_type(from_status text, to_status text, event text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
	WHEN from_status IS NULL THEN 'operation.requested'
	WHEN from_status = to_status AND event = 'announced' THEN CASE to_status
		WHEN 'pending' THEN 'operation.requested'
		WHEN 'retry_scheduled' THEN 'operation.requeued' END
	WHEN from_status = to_status THEN NULL
	WHEN to_status = 'confirmed' THEN 'operation.confirmed'
	WHEN to_status = 'manual_review' THEN 'operation.review'
	WHEN to_status = 'not_applicable' THEN 'operation.closed'
	WHEN to_status = 'compensating' THEN 'operation.compensating'
	WHEN to_status = 'compensated' THEN 'operation.compensated'
	WHEN to_status = 'retry_scheduled' AND event = 'requeued' THEN 'operation.requeued'
END;
