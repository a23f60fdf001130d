/* SPDX-License-Identifier: Apache-2.0
 *
 * Text from outside on its way to a terminal: what could move the cursor, colour, hide or reorder
 * is written out as an escape, and a text that is too wide is cut.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf;

enum { TEXT_WIDTH_ANY = 0 };

/*
 * Appends text as one line of at most width columns (TEXT_WIDTH_ANY: no limit), "…" where it was
 * cut. With ascii, everything beyond it is escaped and the mark is "...". Returns the columns used.
 */
int text_clean(struct strbuf *out, const char *text, int width, bool ascii);

/* Columns that the cleaned text takes without a limit. */
int text_width(const char *text, bool ascii);

/* Controls, marks of direction, invisible and unassigned characters: not to be shown as they are. */
bool text_is_unsafe(int32_t codepoint);

/* Appends JSON text; unsafe characters, which stand only inside its strings, become \u escapes. */
void text_clean_json(struct strbuf *out, const char *json);
