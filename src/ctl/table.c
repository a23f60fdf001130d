/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects cells, measures them, prints.
 */
#include "table.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/attributes.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/xalloc.h"
#include "screen.h"
#include "text.h"

enum { GAP = 2, WORDS_MIN = 12, COLUMN_MIN = 6, COLUMN_LEAST = 2, LINES_MAX = 8, HIDDEN = -1 };

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
	assert(table->columns_count > 0);
	return table->count / table->columns_count;
}

static void
measure(const struct table *table, bool ascii, int *widths)
{
	int width;

	assert(table->columns_count > 0);
	for (size_t c = 0; c < table->columns_count; c++)
		widths[c] = text_width(table->columns[c].heading, ascii);
	for (size_t i = 0; i < table->count; i++) {
		width = text_width(table->cells[i], ascii);
		if (width > widths[i % table->columns_count])
			widths[i % table->columns_count] = width;
	}
}

/* What a row takes of the screen. */
static int
total_width(const struct table *table, const int *widths)
{
	int total = -GAP;

	for (size_t c = 0; c < table->columns_count; c++)
		total += widths[c] == HIDDEN ? 0 : widths[c] + GAP;
	return total;
}

static bool
is_empty(const struct table *table, size_t column)
{
	for (size_t i = column; i < table->count; i += table->columns_count)
		if (table->cells[i][0] != '\0')
			return false;
	return true;
}

/* The first column says what a row is about. */
static void
hide_empty(const struct table *table, int *widths)
{
	for (size_t c = 1; c < table->columns_count; c++)
		if (is_empty(table, c))
			widths[c] = HIDDEN;
}

/* The widest column above min of those that yield so; or -1. */
static int
widest(const struct table *table, const int *widths, enum table_yield yield, int min)
{
	int found = -1;

	for (size_t c = 0; c < table->columns_count; c++)
		if (table->columns[c].yield == yield && widths[c] > min &&
		    (found < 0 || widths[c] > widths[found]))
			found = (int)c;
	return found;
}

/* Takes from the widest column until the row fits, or nothing can be taken any more. */
static void
shrink(const struct table *table, int *widths, int room)
{
	static const struct {
		enum table_yield yield;
		int min;
	} rounds[] = { { TABLE_IS_BROKEN, WORDS_MIN },	  { TABLE_IS_CUT, COLUMN_MIN },
		       { TABLE_IS_CUT_LAST, COLUMN_MIN }, { TABLE_IS_BROKEN, COLUMN_MIN },
		       { TABLE_IS_CUT, COLUMN_LEAST },	  { TABLE_IS_CUT_LAST, COLUMN_LEAST },
		       { TABLE_IS_BROKEN, COLUMN_LEAST } };
	int total = total_width(table, widths), column;

	for (size_t r = 0; r < ARRAY_LEN(rounds) && total > room; r++) {
		while (total > room &&
		       (column = widest(table, widths, rounds[r].yield, rounds[r].min)) >= 0) {
			widths[column]--;
			total--;
		}
	}
}

/* How the rows of one table are printed. */
struct layout {
	const struct screen *screen;
	int *widths;
	int indent;
};

static void
put_spaces(struct strbuf *line, int count)
{
	for (; count > 0; count--)
		strbuf_putc(line, ' ');
}

static void
put_cell(const struct layout *layout, struct strbuf *line, const struct table_column *column,
	 struct screen_cell *cell)
{
	int used = column->right ? text_width(cell->text, layout->screen->ascii) : cell->width;

	put_spaces(line, cell->width - used);
	screen_put(layout->screen, line, cell);
}

static void
print_line(const struct table *table, const struct layout *layout, const char *const *cells,
	   bool heading)
{
	size_t last = table->columns_count - 1;
	struct strbuf line = { 0 };

	put_spaces(&line, layout->indent);
	for (size_t c = 0; c <= last; c++) {
		struct screen_cell cell = { .tone = heading ? TONE_QUIET : screen_tone_of(cells[c]),
					    .text = cells[c],
					    .width = layout->widths[c] };

		if (layout->widths[c] == HIDDEN)
			continue;
		if (c < last && !table->columns[c].right)
			cell.pad = cell.width;
		put_spaces(&line, c > 0 ? GAP : 0);
		put_cell(layout, &line, &table->columns[c], &cell);
	}
	fprintf(layout->screen->out, "%s\n", strbuf_text(&line));
	strbuf_finish(&line);
}

/* Cells that are broken stand in rest, from where they go on; NULL: nothing is left. */
static bool
fill_cells(const struct table *table, const struct layout *layout, const char **rest,
	   struct strbuf *texts)
{
	bool more = false;

	for (size_t c = 0; c < table->columns_count; c++) {
		strbuf_reset(&texts[c]);
		if (rest[c] == NULL)
			continue;
		if (table->columns[c].yield != TABLE_IS_BROKEN || layout->widths[c] <= 0) {
			strbuf_puts(&texts[c], rest[c]);
			rest[c] = NULL;
			continue;
		}
		rest[c] = screen_fill_line(layout->screen, &texts[c], rest[c], layout->widths[c]);
		more |= rest[c] != NULL;
	}
	return more;
}

/* The last line that a row may have takes what is left, and is cut. */
static void
print_row(const struct table *table, const struct layout *layout, char *const *cells)
{
	size_t count = table->columns_count;
	const char **rest = xcalloc(count, sizeof(*rest)), **line = xcalloc(count, sizeof(*line));
	struct strbuf *texts = xcalloc(count, sizeof(*texts));
	bool more = true;

	for (size_t c = 0; c < count; c++)
		rest[c] = cells[c];
	for (int lines = 1; more; lines++) {
		more = lines < LINES_MAX && fill_cells(table, layout, rest, texts);
		for (size_t c = 0; c < count; c++)
			line[c] = lines < LINES_MAX ? strbuf_text(&texts[c])
				  : rest[c]	    ? rest[c]
						    : "";
		print_line(table, layout, line, false);
	}
	for (size_t c = 0; c < count; c++)
		strbuf_finish(&texts[c]);
	free(texts);
	free(line);
	free(rest);
}

void
table_print(const struct table *table, const struct screen *screen, int indent)
{
	const char **headings = xcalloc(table->columns_count, sizeof(*headings));
	struct layout layout = { .screen = screen,
				 .widths = xcalloc(table->columns_count, sizeof(*layout.widths)),
				 .indent = indent };
	int room = screen->width - indent;

	measure(table, screen->ascii, layout.widths);
	if (screen->width != TEXT_WIDTH_ANY && total_width(table, layout.widths) > room) {
		hide_empty(table, layout.widths);
		shrink(table, layout.widths, room);
	}
	for (size_t c = 0; c < table->columns_count; c++)
		headings[c] = table->columns[c].heading;
	print_line(table, &layout, headings, true);
	for (size_t r = 0; r < table_rows(table); r++)
		print_row(table, &layout, table->cells + r * table->columns_count);
	free(headings);
	free(layout.widths);
}
