/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers of this process in the text format of Prometheus. Families are known from the start,
 * label values come from the configuration: their number is bounded, and what is not among them is
 * not counted. Knows names and numbers, no operations.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/core/verdict.h"

struct strbuf;
struct measured;

struct metrics;

struct metrics_labels {
	const char *const *types;
	const char *const *targets_of_types; /* as many; NULL: not told */
	size_t types_count;
	const char *const *targets;
	size_t targets_count;
};

/* Every family, without labels yet. */
struct metrics *metrics_create(void);
void metrics_destroy(struct metrics *metrics); /* accepts NULL */
/* At start and after a reload: new ones begin at zero, what remains goes on, the others vanish.
 * Copied; in any order. */
void metrics_set_labels(struct metrics *metrics, const struct metrics_labels *labels);

/* Counters. reason: a word of enum reason, or one of a policy, which counts as "judged". */
void metrics_count_verdict(struct metrics *metrics, const char *type, enum verdict_class class);
void metrics_count_action(struct metrics *metrics, const char *type, enum action action);
void metrics_count_inconclusive(struct metrics *metrics, const char *type, const char *reason);
void metrics_count_stale(struct metrics *metrics, const char *type);
void metrics_count_held(struct metrics *metrics, const char *type); /* not recorded: a guard */
void metrics_count_requeue(struct metrics *metrics, const char *type, const char *reason);
void metrics_count_probe(struct metrics *metrics, const char *target, enum reason cause,
			 int64_t elapsed_us); /* REASON_COUNT: usable */
void metrics_count_confirmation(struct metrics *metrics, const char *type, int64_t elapsed_us);

/* Gauges of this process. */
void metrics_set_breaker(struct metrics *metrics, const char *target, int state);
void metrics_set_control_lost(struct metrics *metrics, const char *target, bool lost);
/* The end of a pass, also of one that found nothing or left the type alone because it is paused. */
void metrics_set_last_pass(struct metrics *metrics, const char *type, int64_t at_us);
void metrics_set_reload(struct metrics *metrics, bool success);
void metrics_set_instances(struct metrics *metrics, int live);
void metrics_set_isolated(struct metrics *metrics, bool isolated);
void metrics_set_guard(struct metrics *metrics, const char *type, bool tripped);
void metrics_set_paused(struct metrics *metrics, const char *type, bool paused);
void metrics_set_rewind(struct metrics *metrics, bool tripped);
void metrics_set_database(struct metrics *metrics, bool connected);

/* What the database said last; replaces all gauges that come from it. Copied. */
void metrics_set_measured(struct metrics *metrics, const struct measured *values, size_t count);

/* Appends every family. */
void metrics_print(const struct metrics *metrics, struct strbuf *out);
