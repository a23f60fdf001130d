/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects cells, measures them, prints.
 */
#include "table.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/strbuf.h"
#include "reconciled/base/xalloc.h"
#include "screen.h"
#include "text.h"

enum { GAP = 2, COLUMN_MIN = 6 };

struct table {
	const struct table_column *columns;
	size_t columns_count;
	char **cells; /* row after row */
	size_t count, size;
};

struct table *
table_create(const struct table_column *columns, size_t columns_count)
{
	struct table *table = xcalloc(1, sizeof(*table));

	assert(columns_count > 0);
	table->columns = columns;
	table->columns_count = columns_count;
	return table;
}

void
table_destroy(struct table *table)
{
	if (table == NULL)
		return;
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table);
}

void
table_add(struct table *table, const char *text)
{
	if (table->count == table->size) {
		table->size = table->size ? 2 * table->size : 64;
		table->cells = xrealloc(table->cells, table->size, sizeof(*table->cells));
	}
	table->cells[table->count++] = xstrdup(text ? text : "");
}

void
table_add_number(struct table *table, long long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", number);
	table_add(table, text);
}

size_t
table_rows(const struct table *table)
{
	return table->count / table->columns_count;
}

static void
measure(const struct table *table, bool ascii, int *widths)
{
	int width;

	for (size_t c = 0; c < table->columns_count; c++)
		widths[c] = text_width(table->columns[c].heading, ascii);
	for (size_t i = 0; i < table->count; i++) {
		width = text_width(table->cells[i], ascii);
		if (width > widths[i % table->columns_count])
			widths[i % table->columns_count] = width;
	}
}

/* Takes columns from the widest one until the row fits, or nothing can be taken any more. */
static void
shrink(int *widths, size_t count, int room)
{
	int total = GAP * ((int)count - 1);
	size_t widest;

	for (size_t c = 0; c < count; c++)
		total += widths[c];
	while (total > room) {
		widest = 0;
		for (size_t c = 1; c < count; c++)
			if (widths[c] > widths[widest])
				widest = c;
		if (widths[widest] <= COLUMN_MIN)
			return;
		widths[widest]--;
		total--;
	}
}

static void
print_row(const struct table *table, const struct screen *screen, const char *const *cells,
	  const int *widths, bool heading, int indent)
{
	struct strbuf line = { 0 };

	for (int i = 0; i < indent; i++)
		strbuf_putc(&line, ' ');
	for (size_t c = 0; c < table->columns_count; c++) {
		bool last = c + 1 == table->columns_count;
		int used = text_width(cells[c], screen->ascii);

		for (int i = table->columns[c].right ? used : widths[c]; i < widths[c]; i++)
			strbuf_putc(&line, ' ');
		screen_put(screen, &line, heading ? TONE_QUIET : screen_tone_of(cells[c]), cells[c], widths[c],
			   last ? 0 : table->columns[c].right ? 0 : widths[c]);
		if (!last)
			strbuf_puts(&line, "  ");
	}
	fprintf(screen->out, "%s\n", strbuf_text(&line));
	strbuf_finish(&line);
}

void
table_print(const struct table *table, const struct screen *screen, int indent)
{
	int *widths = xcalloc(table->columns_count, sizeof(*widths));
	const char **headings = xcalloc(table->columns_count, sizeof(*headings));

	measure(table, screen->ascii, widths);
	if (screen->width != TEXT_WIDTH_ANY)
		shrink(widths, table->columns_count, screen->width - indent);
	for (size_t c = 0; c < table->columns_count; c++)
		headings[c] = table->columns[c].heading;
	print_row(table, screen, headings, widths, true, indent);
	for (size_t r = 0; r < table_rows(table); r++)
		print_row(table, screen, (const char *const *)table->cells + r * table->columns_count, widths,
			  false, indent);
	free(headings);
	free(widths);
}
