/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of numbers, sorted by name: those of a type or target are found by binary search, and
 * go on when the next configuration has the name too.
 */
#include "series.h"

#include <stdlib.h>
#include <string.h>

#include "reconciled/base/xalloc.h"

void
series_finish(struct series_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->rows[i].name);
		free(list->rows[i].target);
	}
	free(list->rows);
	*list = (struct series_list){ 0 };
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct series *)a)->name, ((const struct series *)b)->name);
}

static int
name_of(const void *name, const void *row)
{
	return strcmp(name, ((const struct series *)row)->name);
}

struct series *
series_find(const struct metrics *metrics, enum series_kind of, const char *name)
{
	const struct series_list *list = &metrics->series[of];

	if (list->count == 0)
		return NULL;
	return bsearch(name, list->rows, list->count, sizeof(*list->rows), name_of);
}

void
series_set_names(struct metrics *metrics, enum series_kind of, const struct series_names *names)
{
	struct series_list list = { .rows = xcalloc(names->count + 1, sizeof(struct series)),
				    .count = names->count };
	const struct series *old;

	for (size_t i = 0; i < names->count; i++) {
		old = series_find(metrics, of, names->names[i]);
		if (old != NULL)
			list.rows[i] = *old;
		list.rows[i].name = xstrdup(names->names[i]);
		list.rows[i].target = names->targets ? xstrdup(names->targets[i]) : NULL;
	}
	qsort(list.rows, list.count, sizeof(*list.rows), by_name);
	series_finish(&metrics->series[of]);
	metrics->series[of] = list;
}
