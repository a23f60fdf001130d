/* SPDX-License-Identifier: Apache-2.0
 *
 * One row of the table at a time.
 */
#include "reconciled/base/edit_distance.h"

#include <assert.h>

static size_t
least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

size_t
edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t row[EDIT_DISTANCE_BYTES_MAX + 1];

	assert(a_len <= EDIT_DISTANCE_BYTES_MAX && b_len <= EDIT_DISTANCE_BYTES_MAX);
	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t above = row[j];

			row[j] =
				least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[b_len];
}
