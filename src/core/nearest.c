/* SPDX-License-Identifier: Apache-2.0
 *
 * Edit distance between a misspelt field and those that exist.
 */
#include "nearest.h"

#include <string.h>

#include "reconciled/core/operation.h"

enum { NAME_MAX_COMPARED = 40 };

static int
smallest(int a, int b, int c)
{
	int least = a < b ? a : b;

	return least < c ? least : c;
}

/* Levenshtein, one row at a time. */
static int
distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int row[NAME_MAX_COMPARED + 1];

	for (size_t j = 0; j <= b_len; j++)
		row[j] = (int)j;
	for (size_t i = 1; i <= a_len; i++) {
		int diagonal = row[0];

		row[0] = (int)i;
		for (size_t j = 1; j <= b_len; j++) {
			int above = row[j];

			row[j] = smallest(above + 1, row[j - 1] + 1,
					  diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[b_len];
}

const char *
nearest_field(const char *name, size_t len)
{
	const char *best = operation_field_name(0);
	int least = NAME_MAX_COMPARED;

	if (len > NAME_MAX_COMPARED)
		len = NAME_MAX_COMPARED;
	for (int i = 0; i < OP_FIELD_COUNT; i++) {
		const char *field = operation_field_name((enum operation_field)i);
		int n = distance(name, len, field, strlen(field));

		if (n < least) {
			least = n;
			best = field;
		}
	}
	return best;
}
