/* SPDX-License-Identifier: Apache-2.0
 *
 * A policy and a target as the judgement sees them: immutable data, built by the loader in the
 * arena of one configuration. Keys of the language that are not evaluated yet do not load.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <regex.h>

#include "reconciled/base/hash.h"
#include "reconciled/core/compare.h"
#include "reconciled/core/probe.h"
#include "reconciled/core/verdict.h"

enum judge_class {
	JUDGE_WAITING,
	JUDGE_COMPARE,
	JUDGE_DIVERGENT,
	JUDGE_AMBIGUOUS,
	JUDGE_NOT_APPLICABLE
};

struct judge_row {
	struct condition when;
	enum judge_class class;
	const char *why; /* or NULL */
};

struct judge_rows {
	const struct judge_row *rows;
	size_t count;
};

/* {when, do}: the first row whose condition holds; without rows the action itself. */
struct action_row {
	struct condition when;
	enum action action;
};

struct action_rule {
	const struct action_row *rows; /* ends in a row without condition */
	size_t count;
};

enum outcome { OUTCOME_DIVERGENT, OUTCOME_MISSING, OUTCOME_NOT_APPLICABLE };
enum proves { PROVES_MISSING, PROVES_NOTHING };
enum idempotence { IDEMPOTENT_NO, IDEMPOTENT_KEY, IDEMPOTENT_NATURAL, IDEMPOTENT_CONDITIONAL };
enum stakes { STAKES_NORMAL, STAKES_MONEY, STAKES_IRREVERSIBLE };

struct backoff {
	int64_t first_us, max_us;
	const char *factor; /* exact decimal as written, 1 … 100 */
	int factor_milli;   /* the same in thousandths */
	int jitter_percent;
};

/* Automatic actions other than confirm: when there are too many of them. */
struct guard_rule {
	int64_t window_us;
	int max;	   /* actions in a window */
	int share_percent; /* of missing and divergent among the verdicts; above it none */
	int sample;	   /* verdicts from which the share counts */
};

struct describe {
	const char *effect, *truth, *proof, *owner, *runbook;
};

struct policy {
	const char *operation_type, *target;
	const char *file;	      /* where it was loaded from, for messages */
	const char *text;	      /* the whole file */
	char digest[HASH_SHA256_HEX]; /* hex SHA-256 of it */
	bool enforce;
	struct describe describe;
	enum stakes stakes;
	int64_t latency_window_us, deadline_us, pickup_window_us; /* deadline 0: none */
	/*
	 * What our own references look like; NULL: like the others, see probe_applies. Compiled
	 * without REG_NOSUB: a match must span the whole text.
	 */
	const regex_t *reference;
	enum idempotence idempotent;
	int64_t key_valid_us; /* resend.key_valid, 0: none */
	const struct probe *probes;
	size_t probes_count;
	int64_t absence_after_us, absence_over_us, absence_horizon_us; /* horizon 0: none */
	int absence_confirm;
	enum proves absence_proves;
	bool several_divergent;
	struct judge_rows judge, on_absent, on_gone;
	const struct comparison *compare;
	size_t compare_count;
	bool existence_only;
	enum outcome older, newer;
	int64_t waiting_until_us;
	struct backoff recheck;
	int give_up;
	const struct locator *keep, *hash;
	size_t keep_count, hash_count;
	struct action_rule actions[CLASS_COUNT]; /* the five classes */
	int attempts_max, requeue_max;
	struct backoff attempts, requeue;
	struct guard_rule guard;
	int64_t review_recheck_us;
	bool review_auto_confirm;
	int approvals;
	bool version_order_known; /* a compared version with an order: supersession by version makes
				     sense */
	enum version_order version_order;
};

/* The part of a target that judges answers. Address, credentials and limits are config's. */
struct target_rules {
	const char *target;
	struct conditions throttled, broken;
	const struct probe *control; /* NULL: none */
};
