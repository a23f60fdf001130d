/* SPDX-License-Identifier: Apache-2.0
 *
 * A table on the screen: columns as wide as their contents, the widest ones cut until the rows fit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct screen;

struct table_column {
	const char *heading;
	bool right; /* numbers */
	bool keep;  /* cut after all others: what people copy */
};

#define TABLE_LEFT(text)                                                                           \
	{                                                                                          \
		.heading = (text)                                                                  \
	}
#define TABLE_KEEP(text)                                                                           \
	{                                                                                          \
		.heading = (text), .keep = true                                                    \
	}
#define TABLE_RIGHT(text)                                                                          \
	{                                                                                          \
		.heading = (text), .right = true                                                   \
	}

struct table;

/* columns must outlive the table. */
struct table *table_create(const struct table_column *columns, size_t columns_count);
void table_destroy(struct table *table); /* accepts NULL */

/* One cell after the other, row by row; copied; NULL is an empty cell. */
void table_add(struct table *table, const char *text);
void table_add_number(struct table *table, long long number);

size_t table_rows(const struct table *table);

/* Each line begins with indent spaces. */
void table_print(const struct table *table, const struct screen *screen, int indent);
