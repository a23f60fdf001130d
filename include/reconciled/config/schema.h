/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON Schemas of the files that are loaded, for editors. Made from the tables that decode them, so
 * that every file that loads is valid; what only the loader can see (that names exist, that keys do
 * not contradict each other) is not in them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/base/attributes.h"

/* "config", "target", "policy", "test"; NULL behind the last one. */
const char *schema_name(size_t i);

/* The schema of that name as a text (draft 7, indented, ends with a line end); NULL: there is none.
 * The caller frees it. */
char *schema_text(const char *name) MUST_CHECK;
