/* SPDX-License-Identifier: Apache-2.0
 *
 * Fields are few, so one of them is always the nearest.
 */
#include "nearest.h"

#include <string.h>

#include "reconciled/base/edit_distance.h"
#include "reconciled/core/operation.h"

const char *
nearest_field(const char *name, size_t len)
{
	const char *best = operation_field_name(0);
	size_t least = EDIT_DISTANCE_BYTES_MAX;

	if (len > EDIT_DISTANCE_BYTES_MAX)
		len = EDIT_DISTANCE_BYTES_MAX;
	for (int i = 0; i < OP_FIELD_COUNT; i++) {
		const char *field = operation_field_name((enum operation_field)i);
		size_t edits = edit_distance(name, len, field, strlen(field));

		if (edits < least) {
			least = edits;
			best = field;
		}
	}
	return best;
}
