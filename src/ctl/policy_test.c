/* SPDX-License-Identifier: Apache-2.0
 *
 * reconcilectl policy test FILE...: runs the cases and prints them for people, as JSON, or as TAP.
 * Needs neither network nor database.
 */
#include <stdio.h>

#include "case_run.h"
#include "policy.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/config/problems.h"
#include "text.h"
#include "view_json.h"

enum { MARK_WIDTH = 8, NAME_WIDTH_MIN = 16, NOTE_INDENT = 8 };

/* All files of one call. */
struct run {
	struct ctl *ctl;
	bool several; /* files */
	size_t passed, failed;
	bool broken; /* a file did not load */
	struct strbuf json;
	const struct printer *printer;
};

/* One case that was played. */
struct played {
	const struct test_file *tests;
	const struct test_case *test;
	const struct case_result *result;
};

struct printer {
	void (*begin)(struct run *run);
	void (*file)(struct run *run, const char *file);
	void (*broken)(struct run *run, const char *file);
	void (*played)(struct run *run, const struct played *of);
	void (*end)(struct run *run);
};

static void
put_verdict(struct strbuf *out, const struct case_result *result)
{
	strbuf_printf(out, "%s (%s) by %s, %s", class_name(result->verdict.class),
		      result->verdict.reason, result->verdict.rule, action_name(result->action));
}

static void
put_unasked(struct strbuf *out, const struct case_result *result)
{
	strbuf_printf(out, "nothing is written for %s, which would be asked next", result->unasked);
}

/* What a person must know beside the verdict, one line each; mark comes first. */
static void
put_notes(struct strbuf *out, const struct case_result *result, const char *mark)
{
	for (size_t i = 0; i < result->faults_count; i++)
		strbuf_printf(out, "%s%s\n", mark, result->faults[i]);
	if (result->unasked) {
		strbuf_puts(out, mark);
		put_unasked(out, result);
		strbuf_putc(out, '\n');
	}
}

static void
text_file(struct run *run, const char *file)
{
	if (run->several)
		screen_line(&run->ctl->screen, TONE_STRONG, file);
}

static void
text_broken(struct run *run, const char *file)
{
	struct strbuf line = { 0 };

	strbuf_printf(&line, "%s: does not load", file);
	screen_line(&run->ctl->screen, TONE_BAD, strbuf_text(&line));
	strbuf_finish(&line);
}

/* The name gives way where a line is too long, never the verdict. */
static int
name_width(const struct screen *screen, const char *verdict)
{
	int left = screen->width - MARK_WIDTH - 2 - text_width(verdict, screen->ascii);

	if (screen->width == TEXT_WIDTH_ANY)
		return TEXT_WIDTH_ANY;
	return left < NAME_WIDTH_MIN ? NAME_WIDTH_MIN : left;
}

static void
text_notes(const struct screen *screen, const struct case_result *result)
{
	struct strbuf note = { 0 };

	for (size_t i = 0; i < result->faults_count; i++) {
		strbuf_reset(&note);
		strbuf_printf(&note, "%*s%s", NOTE_INDENT, "", result->faults[i]);
		screen_line(screen, TONE_BAD, strbuf_text(&note));
	}
	if (result->unasked) {
		strbuf_reset(&note);
		strbuf_printf(&note, "%*s", NOTE_INDENT, "");
		put_unasked(&note, result);
		screen_line(screen, TONE_QUIET, strbuf_text(&note));
	}
	strbuf_finish(&note);
}

static void
text_played(struct run *run, const struct played *of)
{
	const struct screen *screen = &run->ctl->screen;
	bool ok = of->result->ok;
	struct strbuf line = { 0 }, verdict = { 0 };

	put_verdict(&verdict, of->result);
	screen_put(screen, &line,
		   &(struct screen_cell){ ok ? TONE_GOOD : TONE_BAD, ok ? "ok" : "not ok",
					  TEXT_WIDTH_ANY, MARK_WIDTH });
	screen_put(screen, &line,
		   &(struct screen_cell){ TONE_PLAIN, of->test->name,
					  name_width(screen, strbuf_text(&verdict)), 0 });
	strbuf_puts(&line, ": ");
	screen_put(screen, &line,
		   &(struct screen_cell){ TONE_QUIET, strbuf_text(&verdict), TEXT_WIDTH_ANY, 0 });
	fprintf(screen->out, "%s\n", strbuf_text(&line));
	text_notes(screen, of->result);
	strbuf_finish(&line);
	strbuf_finish(&verdict);
}

static void
text_end(struct run *run)
{
	struct strbuf line = { 0 };

	strbuf_printf(&line, "%zu passed, %zu failed", run->passed, run->failed);
	screen_line(&run->ctl->screen, run->failed > 0 ? TONE_BAD : TONE_GOOD, strbuf_text(&line));
	strbuf_finish(&line);
}

static void
json_member(struct strbuf *json, const char *name, const char *text)
{
	strbuf_printf(json, ",\"%s\":", name);
	view_json_text(json, text);
}

static void
json_faults(struct strbuf *json, const struct case_result *result)
{
	strbuf_puts(json, ",\"faults\":[");
	for (size_t i = 0; i < result->faults_count; i++) {
		if (i > 0)
			strbuf_putc(json, ',');
		view_json_text(json, result->faults[i]);
	}
	strbuf_putc(json, ']');
}

static void
json_begin(struct run *run)
{
	strbuf_puts(&run->json, "{\"cases\":[");
}

static void
json_played(struct run *run, const struct played *of)
{
	const struct case_result *result = of->result;
	struct strbuf *json = &run->json;

	if (run->passed + run->failed > 1)
		strbuf_putc(json, ',');
	strbuf_puts(json, "{\"name\":");
	view_json_text(json, of->test->name);
	if (run->several)
		json_member(json, "file", of->tests->file);
	json_member(json, "class", class_name(result->verdict.class));
	json_member(json, "reason", result->verdict.reason);
	json_member(json, "rule", result->verdict.rule);
	json_member(json, "action", action_name(result->action));
	strbuf_printf(json, ",\"ok\":%s", result->ok ? "true" : "false");
	if (result->unasked)
		json_member(json, "unasked", result->unasked);
	if (result->faults_count > 0)
		json_faults(json, result);
	strbuf_putc(json, '}');
}

static void
json_end(struct run *run)
{
	strbuf_printf(&run->json, "],\"passed\":%zu,\"failed\":%zu}", run->passed, run->failed);
	ctl_print_json(&run->json);
}

static void
tap_begin(struct run *run)
{
	puts("TAP version 13");
}

/* "#" would begin a directive. */
static void
tap_name(struct strbuf *out, const char *name)
{
	struct strbuf clean = { 0 };

	text_clean(&clean, name, TEXT_WIDTH_ANY, false);
	for (const char *c = strbuf_text(&clean); *c; c++) {
		if (*c == '#')
			strbuf_putc(out, '\\');
		strbuf_putc(out, *c);
	}
	strbuf_finish(&clean);
}

static void
tap_point(struct run *run, bool ok, const char *name, const char *notes)
{
	struct strbuf line = { 0 };

	strbuf_printf(&line, "%s %zu - ", ok ? "ok" : "not ok", run->passed + run->failed);
	tap_name(&line, name);
	printf("%s\n%s", strbuf_text(&line), notes);
	strbuf_finish(&line);
}

static void
tap_file(struct run *run, const char *file)
{
	struct strbuf clean = { 0 };

	text_clean(&clean, file, TEXT_WIDTH_ANY, false);
	printf("# %s\n", strbuf_text(&clean));
	strbuf_finish(&clean);
}

static void
tap_broken(struct run *run, const char *file)
{
	run->failed++;
	tap_point(run, false, file, "# does not load\n");
}

static void
tap_played(struct run *run, const struct played *of)
{
	struct strbuf notes = { 0 };

	strbuf_puts(&notes, "# ");
	put_verdict(&notes, of->result);
	strbuf_putc(&notes, '\n');
	put_notes(&notes, of->result, "# ");
	tap_point(run, of->result->ok, of->test->name, strbuf_text(&notes));
	strbuf_finish(&notes);
}

static void
tap_end(struct run *run)
{
	printf("1..%zu\n# %zu passed, %zu failed\n", run->passed + run->failed, run->passed,
	       run->failed);
}

static void
nothing(struct run *run)
{
}

static void
nothing_of_file(struct run *run, const char *file)
{
}

static const struct printer text_printer = { nothing, text_file, text_broken, text_played,
					     text_end };
static const struct printer json_printer = { json_begin, nothing_of_file, nothing_of_file,
					     json_played, json_end };
static const struct printer tap_printer = { tap_begin, tap_file, tap_broken, tap_played, tap_end };

static void
play_file(struct run *run, const struct test_file *tests)
{
	struct arena *arena = arena_create();

	for (size_t i = 0; i < tests->cases_count; i++) {
		struct case_result result;
		const struct played played = { tests, &tests->cases[i], &result };

		arena_reset(arena);
		case_run(arena, tests, played.test, &result);
		if (result.ok)
			run->passed++;
		else
			run->failed++;
		run->printer->played(run, &played);
	}
	arena_destroy(arena);
}

static void
run_file(struct run *run, const char *file)
{
	struct problems *problems = problems_create();
	struct test_file *tests = test_file_load(file, problems);

	run->printer->file(run, file);
	if (tests) {
		play_file(run, tests);
	} else {
		run->broken = true;
		policy_print_problems(problems);
		run->printer->broken(run, file);
	}
	test_file_destroy(tests);
	problems_destroy(problems);
}

enum ctl_exit
policy_test(struct ctl *ctl, bool tap, int argc, char **argv)
{
	struct run run = {
		.ctl = ctl,
		.several = argc > 1,
		.printer = tap	       ? &tap_printer
			   : ctl->json ? &json_printer
				       : &text_printer,
	};

	run.printer->begin(&run);
	for (int i = 0; i < argc; i++)
		run_file(&run, argv[i]);
	run.printer->end(&run);
	strbuf_finish(&run.json);
	if (run.broken)
		return CTL_USAGE;
	return run.failed > 0 ? CTL_REFUSED : CTL_DONE;
}
