-- SPDX-License-Identifier: Apache-2.0
-- Leaves the operations of a type alone until somebody resumes it.
-- $1 text operation_type, $2 text reason.
-- Result: text operation_type, bool paused, text paused_at, text paused_by, text pause_reason: of
-- what holds now, also when it held before.
SELECT operation_type, paused, reconcile.rfc3339(paused_at) AS paused_at, paused_by, pause_reason
FROM reconcile.pause($1::text, $2::text)
