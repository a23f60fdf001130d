/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers that the database gives. Their number is bounded here: types are those of the
 * configuration, and of the other label, which workers may fill, only so many values are told apart.
 */
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/xalloc.h"
#include "reconciled/store/measure.h"
#include "reconciled/web/metrics.h"
#include "series.h"

enum {
	VALUES_MAX = 20, /* of the other label, for one type */
	VALUE_BYTES_MAX = 64,
};
#define VALUE_OTHER "other"

static void
finish_gauge(struct gauge *gauge)
{
	free(gauge->type);
	free(gauge->value);
}

void
gauges_finish(struct metrics *metrics)
{
	for (size_t i = 0; i < metrics->gauges_count; i++)
		finish_gauge(&metrics->gauges[i]);
	free(metrics->gauges);
	metrics->gauges = NULL;
	metrics->gauges_count = 0;
}

void
gauges_drop(struct metrics *metrics)
{
	size_t kept = 0;

	for (size_t i = 0; i < metrics->gauges_count; i++) {
		struct gauge *gauge = &metrics->gauges[i];

		if (gauge->type == NULL || series_find(metrics, OF_TYPE, gauge->type) != NULL)
			metrics->gauges[kept++] = *gauge;
		else
			finish_gauge(gauge);
	}
	metrics->gauges_count = kept;
}

static int
compare_texts(const char *a, const char *b)
{
	return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static int
compare_groups(const struct gauge *a, const struct gauge *b)
{
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return compare_texts(a->type, b->type);
}

static int
compare_gauges(const void *a, const void *b)
{
	const struct gauge *left = a, *right = b;
	int order = compare_groups(left, right);

	return order != 0 ? order : compare_texts(left->value, right->value);
}

/* False: nothing that we tell. */
static bool
take(const struct metrics *metrics, const struct measured *from, struct gauge *ret_gauge)
{
	const struct family *family = family_of_database(from->name);
	const char *value = from->label_value;

	if (family == NULL || (family->label != NULL) != (value != NULL) ||
	    (family->of == OF_TYPE) != (from->type != NULL))
		return false;
	if (from->type != NULL && series_find(metrics, OF_TYPE, from->type) == NULL)
		return false;
	if (value != NULL && strlen(value) > VALUE_BYTES_MAX)
		value = VALUE_OTHER;
	*ret_gauge = (struct gauge){ .family = family,
				     .type = from->type ? xstrdup(from->type) : NULL,
				     .value = value ? xstrdup(value) : NULL,
				     .number = from->value,
				     .seen = from->value };
	return true;
}

/* Of one family and type, sorted by value: equal ones become one, those beyond the limit another. */
static size_t
merge_group(struct gauge *group, size_t count)
{
	struct gauge *into, *other = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && compare_texts(group[kept - 1].value, group[i].value) == 0)
			into = &group[kept - 1];
		else
			into = kept > VALUES_MAX ? other : NULL;
		if (into != NULL) {
			into->number += group[i].number;
			into->seen += group[i].seen;
			finish_gauge(&group[i]);
			continue;
		}
		group[kept++] = group[i];
		if (group[kept - 1].value != NULL &&
		    strcmp(group[kept - 1].value, VALUE_OTHER) == 0)
			other = &group[kept - 1];
		if (kept > VALUES_MAX && other == NULL) {
			other = &group[kept - 1];
			free(other->value);
			other->value = xstrdup(VALUE_OTHER);
		}
	}
	return kept;
}

static size_t
merge(struct gauge *gauges, size_t count)
{
	size_t kept = 0, group, merged;

	for (size_t i = 0; i < count; i += group) {
		group = 1;
		while (i + group < count && compare_groups(&gauges[i], &gauges[i + group]) == 0)
			group++;
		merged = merge_group(&gauges[i], group);
		memmove(&gauges[kept], &gauges[i], merged * sizeof(*gauges));
		kept += merged;
	}
	return kept;
}

/*
 * Counters are counted in rows that are deleted one day. What vanished with them was counted: the
 * number that we tell only grows.
 */
static void
go_on_counting(const struct metrics *before, struct gauge *gauge)
{
	const struct gauge *last;
	double more;

	if (before->gauges_count == 0 || strcmp(gauge->family->kind, "counter") != 0)
		return;
	last = bsearch(gauge, before->gauges, before->gauges_count, sizeof(*gauge), compare_gauges);
	if (last == NULL)
		return;
	more = gauge->seen > last->seen ? gauge->seen - last->seen : 0;
	gauge->number = last->number + more;
}

void
metrics_set_measured(struct metrics *metrics, const struct measured *values, size_t count)
{
	struct gauge *gauges = xcalloc(count + 1, sizeof(*gauges));
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		if (take(metrics, &values[i], &gauges[used]))
			used++;
	qsort(gauges, used, sizeof(*gauges), compare_gauges);
	used = merge(gauges, used);
	for (size_t i = 0; i < used; i++)
		go_on_counting(metrics, &gauges[i]);
	gauges_finish(metrics);
	metrics->gauges = gauges;
	metrics->gauges_count = used;
}
