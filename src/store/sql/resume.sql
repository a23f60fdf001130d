-- SPDX-License-Identifier: Apache-2.0
-- Goes on with a type that was paused.
-- $1 text operation_type, $2 text reason.
-- Result: text operation_type, bool paused, text paused_at, text paused_by, text pause_reason: of
-- what holds now, also when it held before.
SELECT operation_type, paused, reconcile.rfc3339(paused_at) AS paused_at, paused_by, pause_reason
FROM reconcile.resume($1::text, $2::text)
