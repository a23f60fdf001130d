/* SPDX-License-Identifier: Apache-2.0
 *
 * reconcilectl policy check FILE...: loads each policy or target file alone and says what is wrong.
 * policy test is in a file of its own.
 */
#include <stdio.h>
#include <string.h>

#include "policy.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/config/config.h"
#include "reconciled/config/problems.h"
#include "text.h"
#include "view_json.h"

static void
put_json_problems(struct strbuf *json, const struct problems *problems, bool warnings)
{
	size_t count = 0;

	for (size_t i = 0; i < problems_count(problems); i++) {
		const struct problem *problem = problems_at(problems, i);

		if (problem->warning != warnings)
			continue;
		strbuf_puts(json, count++ > 0 ? ",{\"file\":" : "{\"file\":");
		view_json_text(json, problem->file);
		strbuf_printf(json, ",\"line\":%d,\"column\":%d,\"message\":", problem->line,
			      problem->column);
		view_json_text(json, problem->text);
		if (!warnings)
			strbuf_printf(json, ",\"unsupported\":%s",
				      problem->unsupported ? "true" : "false");
		strbuf_puts(json, "}");
	}
}

static void
put_json(struct strbuf *json, const char *file, bool ok, const struct problems *problems)
{
	strbuf_puts(json, json->len > 0 ? ",{\"file\":" : "{\"files\":[{\"file\":");
	view_json_text(json, file);
	strbuf_printf(json, ",\"ok\":%s,\"errors\":[", ok ? "true" : "false");
	put_json_problems(json, problems, false);
	strbuf_puts(json, "],\"warnings\":[");
	put_json_problems(json, problems, true);
	strbuf_puts(json, "]}");
}

void
policy_print_problems(const struct problems *problems)
{
	struct strbuf line = { 0 }, clean = { 0 };

	for (size_t i = 0; i < problems_count(problems); i++) {
		const struct problem *problem = problems_at(problems, i);

		strbuf_reset(&line);
		strbuf_reset(&clean);
		strbuf_puts(&line, problem->file);
		if (problem->line > 0)
			strbuf_printf(&line, ":%d:%d", problem->line, problem->column);
		strbuf_printf(&line, ": %s%s", problem->warning ? "warning: " : "", problem->text);
		text_clean(&clean, strbuf_text(&line), TEXT_WIDTH_ANY, false);
		fprintf(stderr, "%s\n", strbuf_text(&clean));
	}
	strbuf_finish(&line);
	strbuf_finish(&clean);
}

static bool
check(struct ctl *ctl, const char *file, struct strbuf *json)
{
	struct problems *problems = problems_create();
	bool ok = config_check_file(file, problems);
	struct strbuf line = { 0 };

	if (ctl->json) {
		put_json(json, file, ok, problems);
	} else {
		policy_print_problems(problems);
		strbuf_printf(&line, "%s: %s", file, ok ? "ok" : "does not load");
		screen_line(&ctl->screen, ok ? TONE_GOOD : TONE_BAD, strbuf_text(&line));
	}
	strbuf_finish(&line);
	problems_destroy(problems);
	return ok;
}

static struct {
	bool tap;
} options;

static const struct option_spec specs[] = {
	{ "tap", NULL, option_set_flag, 0, "test: in the Test Anything Protocol" },
	{ 0 },
};

static enum ctl_exit
check_all(struct ctl *ctl, int argc, char **argv)
{
	struct strbuf json = { 0 };
	bool ok = true;

	for (int i = 0; i < argc; i++)
		ok = check(ctl, argv[i], &json) && ok;
	if (ctl->json) {
		strbuf_puts(&json, "]}");
		ctl_print_json(&json);
	}
	strbuf_finish(&json);
	return ok ? CTL_DONE : CTL_REFUSED;
}

static enum ctl_exit
run(struct ctl *ctl, int argc, char **argv)
{
	bool test = strcmp(argv[0], "test") == 0;

	if (!test && strcmp(argv[0], "check") != 0)
		return ctl_fail(
			CTL_USAGE,
			"unknown command \"policy %s\" (there are: policy check, policy test)",
			argv[0]);
	if (options.tap && (!test || ctl->json))
		return ctl_fail(CTL_USAGE, "--tap is for policy test, without --json");
	return test ? policy_test(ctl, options.tap, argc - 1, argv + 1)
		    : check_all(ctl, argc - 1, argv + 1);
}

const struct command command_policy = {
	.name = "policy",
	.arguments = "check|test FILE...",
	.help = "whether policies load, and whether they judge as tests say",
	.arguments_min = 2,
	.arguments_max = -1,
	.options = specs,
	.values = &options,
	.run = run,
};
