/* SPDX-License-Identifier: Apache-2.0
 *
 * YAML → whom a target must be, and who we are to it.
 */
#pragma once

#include "field.h"
#include "reconciled/config/target.h"

extern const struct table tls_table; /* into a struct target */

/* Certificate and key belong together. */
void tls_check(struct loading *loading, const struct node *root);
