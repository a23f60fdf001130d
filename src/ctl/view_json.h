/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a view as JSON. Numbers and JSON columns are passed on as the database wrote them, so that
 * no digit is lost; members have the names of the columns.
 */
#pragma once

#include <stddef.h>

struct strbuf;
struct view;

void view_json_row(struct strbuf *out, const struct view *view, size_t row);

/* The first count rows as an array. */
void view_json_rows(struct strbuf *out, const struct view *view, size_t count);

/* One cell; null where there is no such column. */
void view_json_column(struct strbuf *out, const struct view *view, size_t row, const char *column);

/* A JSON string, or null. */
void view_json_text(struct strbuf *out, const char *text);
