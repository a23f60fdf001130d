/* SPDX-License-Identifier: Apache-2.0
 *
 * Cell by cell, by the type that the column has.
 */
#include "view_json.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/strbuf.h"
#include "reconciled/store/views.h"

void
view_json_text(struct strbuf *out, const char *text)
{
	json_t *string = text ? json_string(text) : NULL;
	char *dump = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;

	strbuf_puts(out, dump ? dump : "null");
	free(dump);
	json_decref(string);
}

/* numeric and float have values that JSON does not know: NaN, Infinity. */
static void
put_number(struct strbuf *out, const char *text)
{
	if (isdigit((unsigned char)text[*text == '-']))
		strbuf_puts(out, text);
	else
		view_json_text(out, text);
}

static void
put_cell(struct strbuf *out, const struct view *view, size_t row, size_t column)
{
	const char *text = view_text(view, row, column);

	if (text == NULL) {
		strbuf_puts(out, "null");
		return;
	}
	switch (view_column_type(view, column)) {
	case VIEW_TEXT:
		view_json_text(out, text);
		break;
	case VIEW_NUMBER:
		put_number(out, text);
		break;
	case VIEW_BOOL:
		strbuf_puts(out, *text == 't' ? "true" : "false");
		break;
	case VIEW_JSON:
		strbuf_puts(out, text);
		break;
	}
}

void
view_json_column(struct strbuf *out, const struct view *view, size_t row, const char *column)
{
	for (size_t c = 0; c < view_columns(view); c++)
		if (strcmp(view_column_name(view, c), column) == 0) {
			put_cell(out, view, row, c);
			return;
		}
	strbuf_puts(out, "null");
}

void
view_json_row(struct strbuf *out, const struct view *view, size_t row)
{
	strbuf_putc(out, '{');
	for (size_t c = 0; c < view_columns(view); c++) {
		if (c > 0)
			strbuf_putc(out, ',');
		view_json_text(out, view_column_name(view, c));
		strbuf_putc(out, ':');
		put_cell(out, view, row, c);
	}
	strbuf_putc(out, '}');
}

void
view_json_rows(struct strbuf *out, const struct view *view, size_t count)
{
	strbuf_putc(out, '[');
	for (size_t r = 0; r < count; r++) {
		if (r > 0)
			strbuf_putc(out, ',');
		view_json_row(out, view, r);
	}
	strbuf_putc(out, ']');
}
