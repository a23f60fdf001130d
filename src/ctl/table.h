/* SPDX-License-Identifier: Apache-2.0
 *
 * A table on the screen: columns as wide as their contents. Where a row does not fit, columns without
 * anything in them are left out, then texts are broken into lines, then the widest ones are cut.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct screen;

enum table_yield {
	TABLE_IS_CUT,	   /* with the others, the widest first */
	TABLE_IS_CUT_LAST, /* what people copy */
	TABLE_IS_BROKEN,   /* into several lines, before anything is cut: texts of words */
};

struct table_column {
	const char *heading;
	bool right; /* numbers */
	enum table_yield yield;
};

#define TABLE_LEFT(text)                                                                           \
	{                                                                                          \
		.heading = (text)                                                                  \
	}
#define TABLE_KEEP(text)                                                                           \
	{                                                                                          \
		.heading = (text), .yield = TABLE_IS_CUT_LAST                                      \
	}
#define TABLE_WORDS(text)                                                                          \
	{                                                                                          \
		.heading = (text), .yield = TABLE_IS_BROKEN                                        \
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
