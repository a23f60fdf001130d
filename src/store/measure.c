/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers for the metrics, decoded.
 */
#include <stdlib.h>

#include "db_send.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/store/measure.h"

extern const struct sql_statement sql_measure;

enum measure_column { MEASURE_NAME, MEASURE_TYPE, MEASURE_LABEL, MEASURE_VALUE };

struct measuring {
	store_measured_fn *done;
	void *owner;
};

/* NULL for null. */
static const char *
text(const PGresult *result, int row, enum measure_column column)
{
	return PQgetisnull(result, row, column) ? NULL : PQgetvalue(result, row, column);
}

static void
on_measured(void *context, PGresult *got, const struct err *err)
{
	CLEANUP(pgresult_clear_at) PGresult *result = got;
	const struct measuring *measuring = context;
	size_t count = result ? (size_t)PQntuples(result) : 0;
	struct measured *values = xcalloc(count + 1, sizeof(*values));

	for (size_t i = 0; i < count; i++)
		values[i] = (struct measured){
			.name = text(result, (int)i, MEASURE_NAME),
			.type = text(result, (int)i, MEASURE_TYPE),
			.label_value = text(result, (int)i, MEASURE_LABEL),
			.value = strtod(text(result, (int)i, MEASURE_VALUE), NULL),
		};
	measuring->done(measuring->owner, values, count, err);
	free(values);
}

void
store_measure(struct db *db, const char *const *types, size_t types_count, store_measured_fn *done,
	      void *owner)
{
	struct measuring *measuring = xcalloc(1, sizeof(*measuring));
	struct params params = { 0 };

	*measuring = (struct measuring){ done, owner };
	params_texts(&params, types, types_count);
	db_send(db,
		&(struct db_query){ .statement = &sql_measure, .params = &params, .text = true },
		on_measured, measuring);
}
