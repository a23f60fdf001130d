/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of problems, kept in the order of file, line, column; equal places in order of arrival.
 */
#include "reconciled/config/problems.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/xalloc.h"

struct problems {
	struct arena *arena;
	struct problem **list;
	size_t count, size, errors;
};

enum { PROBLEM_TEXT_MAX = 1000 };

struct problems *
problems_create(void)
{
	struct problems *problems = xcalloc(1, sizeof(*problems));

	problems->arena = arena_create();
	return problems;
}

void
problems_destroy(struct problems *problems)
{
	if (!problems)
		return;
	arena_destroy(problems->arena);
	free(problems->list);
	free(problems);
}

static int
compare_place(const struct problem *a, const struct problem *b)
{
	int files = strcmp(a->file, b->file);

	if (files != 0)
		return files;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->column > b->column) - (a->column < b->column);
}

/* First index whose problem stands behind this one. Nearly always the end. */
static size_t
place_of(const struct problems *problems, const struct problem *problem)
{
	size_t low = 0, high = problems->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_place(problems->list[middle], problem) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
insert(struct problems *problems, struct problem *problem)
{
	size_t at = place_of(problems, problem);

	if (problems->count == problems->size) {
		problems->size = problems->size ? 2 * problems->size : 16;
		problems->list = xrealloc(problems->list, problems->size, sizeof(*problems->list));
	}
	memmove(problems->list + at + 1, problems->list + at,
		(problems->count - at) * sizeof(*problems->list));
	problems->list[at] = problem;
	problems->count++;
	problems->errors += !problem->warning;
}

static struct problem *
problem_create(struct problems *problems, const char *file, int line, int column)
{
	struct problem *problem = arena_new(problems->arena, struct problem);

	problem->file = arena_strdup(problems->arena, file);
	problem->line = line;
	problem->column = column;
	return problem;
}

/* A message is for terminals and logs: nothing in it may control them. C1 controls are two bytes.
 */
static char *
without_controls(char *text)
{
	for (unsigned char *c = (unsigned char *)text; *c != '\0'; c++)
		if (*c < 0x20 || *c == 0x7F)
			*c = '?';
		else if (*c == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0)
			c[0] = c[1] = '?';
	return text;
}

/* A text that was cut may end within a character; what is left of it goes. */
static void
cut_to_character(char *text, size_t len)
{
	size_t lead = len;

	while (lead > 0 && ((unsigned char)text[lead - 1] & 0xC0) == 0x80)
		lead--;
	if (lead == 0 || (unsigned char)text[lead - 1] < 0xC0)
		return;

	unsigned char first = (unsigned char)text[lead - 1];
	size_t want = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;

	if (len - (lead - 1) < want)
		text[lead - 1] = '\0';
}

static void PRINTF(3, 0)
	add_text(struct problems *problems, struct problem *problem, const char *fmt, va_list args)
{
	char text[PROBLEM_TEXT_MAX];

	vsnprintf(text, sizeof(text), fmt, args);
	cut_to_character(text, strlen(text));
	problem->text = without_controls(arena_strdup(problems->arena, text));
	insert(problems, problem);
}

void
problems_add(struct problems *problems, const char *file, int line, int column, const char *fmt,
	     ...)
{
	va_list args;

	va_start(args, fmt);
	add_text(problems, problem_create(problems, file, line, column), fmt, args);
	va_end(args);
}

void
problems_add_warning(struct problems *problems, const char *file, int line, int column,
		     const char *fmt, ...)
{
	struct problem *problem = problem_create(problems, file, line, column);
	va_list args;

	problem->warning = true;
	va_start(args, fmt);
	add_text(problems, problem, fmt, args);
	va_end(args);
}

void
problems_add_unsupported(struct problems *problems, const char *file, int line, int column,
			 const char *key)
{
	struct problem *problem = problem_create(problems, file, line, column);

	problem->text =
		without_controls(arena_printf(problems->arena, "%s: not supported yet", key));
	problem->unsupported = true;
	insert(problems, problem);
}

size_t
problems_count(const struct problems *problems)
{
	return problems->count;
}

size_t
problems_count_errors(const struct problems *problems)
{
	return problems->errors;
}

const struct problem *
problems_at(const struct problems *problems, size_t i)
{
	return problems->list[i];
}

void
problems_print(const struct problems *problems, FILE *out)
{
	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = problems->list[i];

		fputs(problem->file, out);
		if (problem->line > 0)
			fprintf(out, ":%d:%d", problem->line, problem->column);
		fprintf(out, ": %s%s\n", problem->warning ? "warning: " : "", problem->text);
	}
}
