/* SPDX-License-Identifier: Apache-2.0
 *
 * The value that a placeholder stands for, before it is encoded or checked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/core/template.h"

/* False when the field is missing, empty or no scalar, and for what joins a batch. The text may hold NUL bytes. */
bool template_part_value(const struct scene *scene, const struct template_part *part,
			 const char **ret_text, size_t *ret_len);

/* What passes as a reference where a policy gives no pattern, and every value of a second read. */
bool reference_is_default(const char *text);
