/* SPDX-License-Identifier: Apache-2.0
 *
 * A handful of names from the command line: looked through one by one.
 */
#include "choice.h"

#include <string.h>

bool
choice_has(const char *const *types, size_t count, const char *operation_type)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(types[i], operation_type) == 0)
			return true;
	return count == 0;
}
