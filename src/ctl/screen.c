/* SPDX-License-Identifier: Apache-2.0
 *
 * Width, colours and characters of standard output.
 */
#include "screen.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "reconciled/base/attributes.h"
#include "reconciled/base/strbuf.h"
#include "text.h"

enum { HEADING_WIDTH = 17, ROOM_MIN = 10, FIELD_LINES_MAX = 8 };

/* Where the text of a field stands. */
struct field_line {
	int indent, room;
	enum tone tone;
};

/* clang-format off */
static const char *const sequences[] = {
	[TONE_PLAIN] = "",
	[TONE_STRONG] = "\033[1m",
	[TONE_QUIET] = "\033[2m",
	[TONE_GOOD] = "\033[32m",
	[TONE_BAD] = "\033[31m",
	[TONE_UNSURE] = "\033[33m",
};
/* clang-format on */

static const struct {
	const char *word;
	enum tone tone;
} toned[] = {
	{ "confirmed", TONE_GOOD },    { "compensated", TONE_GOOD },
	{ "correct", TONE_GOOD },      { "equal", TONE_GOOD },
	{ "ok", TONE_GOOD },	       { "manual_review", TONE_BAD },
	{ "divergent", TONE_BAD },     { "different", TONE_BAD },
	{ "older", TONE_BAD },	       { "newer", TONE_BAD },
	{ "failed", TONE_BAD },	       { "missing", TONE_BAD },
	{ "ambiguous", TONE_UNSURE },  { "inconclusive", TONE_UNSURE },
	{ "unreadable", TONE_UNSURE }, { "waiting", TONE_QUIET },
};

static int
terminal_width(void)
{
	struct winsize size = { 0 };

	if (!isatty(STDOUT_FILENO))
		return TEXT_WIDTH_ANY;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return 80;
}

void
screen_init(struct screen *ret_screen)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");

	*ret_screen = (struct screen){
		.out = stdout,
		.width = terminal_width(),
		.colour = isatty(STDOUT_FILENO) && (no_colour == NULL || *no_colour == '\0') &&
			  (term == NULL || strcmp(term, "dumb") != 0),
		.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
	};
}

void
screen_put(const struct screen *screen, struct strbuf *out, const struct screen_cell *cell)
{
	bool coloured = screen->colour && cell->tone != TONE_PLAIN;
	int used;

	if (coloured)
		strbuf_puts(out, sequences[cell->tone]);
	used = text_clean(out, cell->text, cell->width, screen->ascii);
	if (coloured)
		strbuf_puts(out, "\033[0m");
	for (; used < cell->pad; used++)
		strbuf_putc(out, ' ');
}

void
screen_line(const struct screen *screen, enum tone tone, const char *text)
{
	struct strbuf line = { 0 };

	screen_put(screen, &line, &(struct screen_cell){ tone, text, screen->width, 0 });
	fprintf(screen->out, "%s\n", strbuf_text(&line));
	strbuf_finish(&line);
}

const char *
screen_fill_line(const struct screen *screen, struct strbuf *line, const char *at, int room)
{
	struct strbuf word = { 0 };
	int used = 0, width;
	size_t len;

	for (; *at != '\0'; at += len + (at[len] == ' ')) {
		len = strcspn(at, " ");
		strbuf_reset(&word);
		strbuf_add(&word, at, len);
		width = text_width(strbuf_text(&word), screen->ascii);
		if (used > 0 && used + 1 + width > room)
			break;
		if (used > 0)
			strbuf_putc(line, ' ');
		strbuf_puts(line, strbuf_text(&word));
		used += width + (used > 0);
	}
	strbuf_finish(&word);
	return *at != '\0' ? at : NULL;
}

static void
print_field_line(const struct screen *screen, const struct field_line *field, const char *heading,
		 const char *text)
{
	struct strbuf line = { 0 };

	for (int i = 0; i < field->indent; i++)
		strbuf_putc(&line, ' ');
	screen_put(screen, &line,
		   &(struct screen_cell){ TONE_QUIET, heading, TEXT_WIDTH_ANY, HEADING_WIDTH });
	screen_put(screen, &line, &(struct screen_cell){ field->tone, text, field->room, 0 });
	fprintf(screen->out, "%s\n", strbuf_text(&line));
	strbuf_finish(&line);
}

void
screen_field(const struct screen *screen, int indent, const char *heading, enum tone tone,
	     const char *text)
{
	int room = screen->width - indent - HEADING_WIDTH;
	struct field_line to = { .indent = indent, .tone = tone };
	struct strbuf words = { 0 };

	if (screen->width == TEXT_WIDTH_ANY) {
		print_field_line(screen, &to, heading, text);
		return;
	}
	to.room = room < ROOM_MIN ? ROOM_MIN : room;
	for (int lines = 1; text != NULL; lines++) {
		strbuf_reset(&words);
		if (lines < FIELD_LINES_MAX) {
			text = screen_fill_line(screen, &words, text, to.room);
		} else {
			strbuf_puts(&words, text);
			text = NULL;
		}
		print_field_line(screen, &to, lines == 1 ? heading : "", strbuf_text(&words));
	}
	strbuf_finish(&words);
}

void
screen_command(const struct screen *screen, const char *heading, const char *command)
{
	struct strbuf line = { 0 };

	strbuf_puts(&line, "  ");
	screen_put(screen, &line,
		   &(struct screen_cell){ TONE_QUIET, heading, TEXT_WIDTH_ANY, HEADING_WIDTH });
	screen_put(screen, &line, &(struct screen_cell){ TONE_PLAIN, command, TEXT_WIDTH_ANY, 0 });
	fprintf(screen->out, "%s\n", strbuf_text(&line));
	strbuf_finish(&line);
}

enum tone
screen_tone_of(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(toned); i++)
		if (strcmp(toned[i].word, word) == 0)
			return toned[i].tone;
	return TONE_PLAIN;
}
