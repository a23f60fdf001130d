/* SPDX-License-Identifier: Apache-2.0
 *
 * A statement of sql/NAME.sql as it is embedded at build: sql_NAME. Whoever sends one declares it.
 */
#pragma once

#include <stddef.h>

struct sql_statement {
	const char *name, *text;
};

extern const struct sql_statement *const sql_statements[];
extern const size_t sql_statements_count;
