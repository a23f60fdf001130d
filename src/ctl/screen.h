/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the program prints: how wide it is, whether colours are wanted, which characters it shows.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct strbuf;

struct screen {
	FILE *out;
	int width;   /* columns; TEXT_WIDTH_ANY when it is no terminal */
	bool colour; /* a terminal, and NO_COLOR is not set */
	bool ascii;  /* the locale shows nothing else */
};

enum tone { TONE_PLAIN, TONE_STRONG, TONE_QUIET, TONE_GOOD, TONE_BAD, TONE_UNSURE };

/* Looks at standard output and the environment; the locale must be set. */
void screen_init(struct screen *ret_screen);

struct screen_cell {
	enum tone tone;
	const char *text;
	int width; /* cut to it, or TEXT_WIDTH_ANY */
	int pad;   /* filled with spaces up to it */
};

/* Appends the cleaned text in its tone. */
void screen_put(const struct screen *screen, struct strbuf *out, const struct screen_cell *cell);

/* Appends the words that fit into room; returns where the next line begins, NULL at the end. */
const char *screen_fill_line(const struct screen *screen, struct strbuf *line, const char *at,
			     int room);

/* Prints one cleaned line, cut to the screen's width. */
void screen_line(const struct screen *screen, enum tone tone, const char *text);

/* Prints "  heading  text", the heading in a column of its own, a long text on several lines. */
void screen_field(const struct screen *screen, int indent, const char *heading, enum tone tone,
		  const char *text);

/* Prints a command for copying: never cut. */
void screen_command(const struct screen *screen, const char *heading, const char *command);

/* The tone of a class, status, action or result of a comparison; plain for every other word. */
enum tone screen_tone_of(const char *word);
