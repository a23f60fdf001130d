-- SPDX-License-Identifier: Apache-2.0
-- The loaded policies, as far as statements need them, and their texts by digest. Rows of types that are not
-- loaded here stay as they are: another instance may have loaded them. Whether a type is paused is
-- a decision of people and not touched.
-- One array for each column: $1 text[] operation_type, $2 text[] target, $3 text[] digest,
-- $4 text[] text, $5 text[] mode, $6 text[] stakes, $7 int[] approvals; microseconds, null for
-- none: $8 bigint[] latency_window, $9 bigint[] deadline, $10 bigint[] pickup_window;
-- $11 int[] attempts_max, $12 bigint[] attempts_delay in microseconds, $13 text[] attempts_factor,
-- $14 int[] requeue_max, $15 bigint[] key_valid in microseconds, $16 text[] version_order,
-- $17 bigint[] guard_window in microseconds, $18 int[] guard_max, $19 int[] guard_share in percent,
-- $20 int[] guard_sample.
-- Result: none.
WITH loaded AS MATERIALIZED (
	SELECT l.*, clock_timestamp() AS now
	FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[],
		$8::bigint[], $9::bigint[], $10::bigint[], $11::int[], $12::bigint[], $13::text[],
		$14::int[], $15::bigint[], $16::text[], $17::bigint[], $18::int[], $19::int[],
		$20::int[])
	AS l (operation_type, target, digest, text, mode, stakes, approvals, latency_window,
		deadline, pickup_window, attempts_max, attempts_delay, attempts_factor, requeue_max,
		key_valid, version_order, guard_window, guard_max, guard_share, guard_sample)
), stored AS (
	INSERT INTO reconcile.policies (digest, operation_type, text, loaded_at)
	SELECT digest, operation_type, text, now FROM loaded ORDER BY digest
	ON CONFLICT (digest) DO NOTHING
)
INSERT INTO reconcile.operation_types (operation_type, target, policy, mode, stakes, approvals,
	latency_window, deadline, pickup_window, attempts_max, attempts_delay, attempts_factor,
	requeue_max, key_valid, version_order, guard_window, guard_max, guard_share, guard_sample,
	updated_at)
SELECT operation_type, target, digest, mode, stakes, approvals,
	latency_window * interval '1 microsecond', deadline * interval '1 microsecond',
	pickup_window * interval '1 microsecond', attempts_max,
	attempts_delay * interval '1 microsecond', attempts_factor::numeric, requeue_max,
	key_valid * interval '1 microsecond', version_order,
	guard_window * interval '1 microsecond', guard_max, guard_share / 100.0, guard_sample, now
FROM loaded ORDER BY operation_type
ON CONFLICT (operation_type) DO UPDATE SET target = EXCLUDED.target, policy = EXCLUDED.policy,
	mode = EXCLUDED.mode, stakes = EXCLUDED.stakes, approvals = EXCLUDED.approvals,
	latency_window = EXCLUDED.latency_window, deadline = EXCLUDED.deadline,
	pickup_window = EXCLUDED.pickup_window, attempts_max = EXCLUDED.attempts_max,
	attempts_delay = EXCLUDED.attempts_delay, attempts_factor = EXCLUDED.attempts_factor,
	requeue_max = EXCLUDED.requeue_max, key_valid = EXCLUDED.key_valid,
	version_order = EXCLUDED.version_order, guard_window = EXCLUDED.guard_window,
	guard_max = EXCLUDED.guard_max, guard_share = EXCLUDED.guard_share,
	guard_sample = EXCLUDED.guard_sample, updated_at = EXCLUDED.updated_at
