-- SPDX-License-Identifier: Apache-2.0
-- The instance ends in order, with nothing in flight.
-- $1 text instance_id.
-- Result: none.
WITH clock AS MATERIALIZED (
	SELECT clock_timestamp() AS now
)
UPDATE reconcile.instances SET stopped_at = clock.now, in_flight = '{}'
FROM clock WHERE instance_id = $1::text
