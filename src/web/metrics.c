/* SPDX-License-Identifier: Apache-2.0
 *
 * Counting. A row is found by name, a number in its row by its place: nothing is allocated, no
 * text is made.
 */
#include "reconciled/web/metrics.h"

#include <stdlib.h>

#include "reconciled/base/xalloc.h"
#include "series.h"

struct metrics *
metrics_create(void)
{
	struct metrics *metrics = xcalloc(1, sizeof(*metrics));

	metrics->series[OF_PROCESS] =
		(struct series_list){ .rows = xcalloc(1, sizeof(struct series)), .count = 1 };
	return metrics;
}

void
metrics_destroy(struct metrics *metrics)
{
	if (metrics == NULL)
		return;
	for (size_t i = 0; i < SERIES_KINDS; i++)
		series_finish(&metrics->series[i]);
	gauges_finish(metrics);
	free(metrics);
}

void
metrics_set_labels(struct metrics *metrics, const struct metrics_labels *labels)
{
	const struct series_names types = { labels->types, labels->targets_of_types,
					    labels->types_count };
	const struct series_names targets = { labels->targets, NULL, labels->targets_count };

	series_set_names(metrics, OF_TYPE, &types);
	series_set_names(metrics, OF_TARGET, &targets);
	gauges_drop(metrics);
}

static void
add(struct metrics *metrics, enum series_kind of, const char *name, size_t slot)
{
	struct series *row = series_find(metrics, of, name);

	if (row != NULL)
		row->numbers[slot]++;
}

static void
set(struct metrics *metrics, enum series_kind of, const char *name, size_t slot, uint64_t number)
{
	struct series *row = of == OF_PROCESS ? metrics->series[OF_PROCESS].rows
					      : series_find(metrics, of, name);

	if (row != NULL)
		row->numbers[slot] = number;
}

/* bounds in seconds, a bucket holds what is at most its bound. */
static void
observe(struct histogram *times, const double *bounds, int64_t elapsed_us)
{
	double seconds = (double)elapsed_us / 1e6;
	size_t at = 0;

	if (elapsed_us < 0)
		return;
	while (at < HISTOGRAM_BUCKETS && seconds > bounds[at])
		at++;
	times->buckets[at]++;
	times->sum_us += elapsed_us;
}

/* A word of a policy is one of many: all count as judged. */
static enum reason
reason_of(const char *word)
{
	enum reason reason;

	return word != NULL && reason_from_name(word, &reason) ? reason : REASON_JUDGED;
}

void
metrics_count_verdict(struct metrics *metrics, const char *type, enum verdict_class class)
{
	add(metrics, OF_TYPE, type, TYPE_VERDICTS + (size_t) class);
}

void
metrics_count_action(struct metrics *metrics, const char *type, enum action action)
{
	add(metrics, OF_TYPE, type, TYPE_ACTIONS + (size_t)action);
}

void
metrics_count_inconclusive(struct metrics *metrics, const char *type, const char *reason)
{
	add(metrics, OF_TYPE, type, TYPE_INCONCLUSIVE + (size_t)reason_of(reason));
}

void
metrics_count_stale(struct metrics *metrics, const char *type)
{
	add(metrics, OF_TYPE, type, TYPE_STALE);
}

void
metrics_count_held(struct metrics *metrics, const char *type)
{
	add(metrics, OF_TYPE, type, TYPE_HELD);
}

void
metrics_count_requeue(struct metrics *metrics, const char *type, const char *reason)
{
	add(metrics, OF_TYPE, type, TYPE_REQUEUES + (size_t)reason_of(reason));
}

void
metrics_count_probe(struct metrics *metrics, const char *target, enum reason cause,
		    int64_t elapsed_us)
{
	struct series *row = series_find(metrics, OF_TARGET, target);

	if (row == NULL)
		return;
	if (cause != REASON_COUNT)
		row->numbers[TARGET_FAILURES + (size_t)cause]++;
	observe(&row->times, family_probe_bounds, elapsed_us);
}

void
metrics_count_confirmation(struct metrics *metrics, const char *type, int64_t elapsed_us)
{
	struct series *row = series_find(metrics, OF_TYPE, type);

	if (row != NULL)
		observe(&row->times, family_confirmation_bounds, elapsed_us);
}

void
metrics_set_breaker(struct metrics *metrics, const char *target, int state)
{
	set(metrics, OF_TARGET, target, TARGET_BREAKER, (uint64_t)state);
}

void
metrics_set_control_lost(struct metrics *metrics, const char *target, bool lost)
{
	set(metrics, OF_TARGET, target, TARGET_CONTROL, lost);
}

void
metrics_set_last_pass(struct metrics *metrics, const char *type, int64_t at_us)
{
	set(metrics, OF_TYPE, type, TYPE_LAST_PASS, (uint64_t)at_us);
}

void
metrics_set_reload(struct metrics *metrics, bool success)
{
	set(metrics, OF_PROCESS, NULL, PROCESS_RELOAD, success);
}

void
metrics_set_instances(struct metrics *metrics, int live)
{
	set(metrics, OF_PROCESS, NULL, PROCESS_INSTANCES, (uint64_t)live);
}

void
metrics_set_isolated(struct metrics *metrics, bool isolated)
{
	set(metrics, OF_PROCESS, NULL, PROCESS_ISOLATED, isolated);
}

void
metrics_set_guard(struct metrics *metrics, const char *type, bool tripped)
{
	set(metrics, OF_TYPE, type, TYPE_GUARD, tripped);
}

void
metrics_set_paused(struct metrics *metrics, const char *type, bool paused)
{
	set(metrics, OF_TYPE, type, TYPE_PAUSED, paused);
}

void
metrics_set_rewind(struct metrics *metrics, bool tripped)
{
	set(metrics, OF_PROCESS, NULL, PROCESS_REWIND, tripped);
}

void
metrics_set_database(struct metrics *metrics, bool connected)
{
	set(metrics, OF_PROCESS, NULL, PROCESS_DATABASE, connected);
}
