/* SPDX-License-Identifier: Apache-2.0
 *
 * reconcilectl guard: what the guards hold back, and a person's word that lets something through.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "facts.h"
#include "guard_view.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/store/orders.h"
#include "reconciled/store/views.h"
#include "view_json.h"

enum { GUARDS_MAX = 1000, ACTIONS_MAX = 1000000, LIMIT_NONE = -1 };

static struct {
	const char *reason;
	int limit;
	bool rewind, history;
} options = { .limit = LIMIT_NONE };

static bool
set_actions(void *field, const char *text, struct err *err)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || number < 0 || number > ACTIONS_MAX)
		return err_set(err, ERR_INVALID, "\"%s\" is no number from 0 to %d", text,
			       ACTIONS_MAX);
	*(int *)field = (int)number;
	return true;
}

static const struct option_spec specs[] = {
	{ "limit", "N", set_actions, offsetof(__typeof__(options), limit),
	  "release: so many actions may go through" },
	{ "rewind", NULL, option_set_flag, offsetof(__typeof__(options), rewind),
	  "release: the guard of the database" },
	{ "reason", "TEXT", option_set_text, offsetof(__typeof__(options), reason),
	  "release: why, for those who come later" },
	{ "all", NULL, option_set_flag, offsetof(__typeof__(options), history),
	  "list: also what is over" },
	{ 0 },
};

static enum ctl_exit
list(struct ctl *ctl)
{
	enum ctl_exit code = ctl_connect(ctl);
	struct view *guards = NULL;
	struct strbuf json = { 0 };
	struct err err = { 0 };

	if (code != CTL_DONE)
		return code;
	if (!view_guards(ctl->db, options.history, GUARDS_MAX, &guards, &err))
		return ctl_fail(CTL_REFUSED, "%s", err.text);
	if (ctl->json) {
		strbuf_puts(&json, "{\"guards\":");
		view_json_rows(&json, guards, view_rows(guards));
		strbuf_putc(&json, '}');
		ctl_print_json(&json);
		strbuf_finish(&json);
	} else if (view_rows(guards) == 0) {
		screen_line(&ctl->screen, TONE_PLAIN, "No guard holds anything back.");
	} else {
		guard_view_print(&ctl->screen, guards);
	}
	view_destroy(guards);
	return CTL_DONE;
}

static void
print_released(struct ctl *ctl, const struct view *guard)
{
	const char *limit = facts_text(guard, 0, "action_limit");
	struct strbuf line = { 0 };

	if (ctl->json) {
		strbuf_puts(&line, "{\"guard\":");
		view_json_row(&line, guard, 0);
		strbuf_putc(&line, '}');
		ctl_print_json(&line);
	} else if (strcmp(facts_text(guard, 0, "kind"), "rewind") == 0) {
		screen_line(&ctl->screen, TONE_PLAIN,
			    "The rewind guard is released. What a worker could take is looked at "
			    "first.");
	} else {
		strbuf_printf(&line,
			      "The guard of %s is released. %s %s may go through before the "
			      "limits of the policy hold again.",
			      facts_text(guard, 0, "name"), limit,
			      strcmp(limit, "1") == 0 ? "action" : "actions");
		screen_line(&ctl->screen, TONE_PLAIN, strbuf_text(&line));
	}
	strbuf_finish(&line);
}

/* NULL: the arguments say which guard, and how far it opens. */
static const char *
wrong_release(const char *type)
{
	if (options.rewind)
		return type != NULL || options.limit != LIMIT_NONE
			       ? "guard release --rewind takes neither TYPE nor --limit"
			       : NULL;
	if (type == NULL)
		return "guard release: which one? TYPE or --rewind is missing";
	if (options.limit == LIMIT_NONE)
		return "guard release: how many actions may go through? --limit is missing";
	return NULL;
}

static enum ctl_exit
release(struct ctl *ctl, const char *type)
{
	struct guard_release order = { .kind = options.rewind ? "rewind" : "type",
				       .name = options.rewind ? "database" : type,
				       .reason = options.reason,
				       .action_limit = options.rewind ? 0 : options.limit };
	const char *wrong = wrong_release(type);
	struct view *guard = NULL;
	struct err err = { 0 };
	enum ctl_exit code;

	if (wrong != NULL)
		return ctl_fail(CTL_USAGE, "%s", wrong);
	if (options.reason == NULL)
		return ctl_fail(CTL_USAGE, "guard release: why? --reason is missing");
	code = ctl_connect(ctl);
	if (code != CTL_DONE)
		return code;
	if (!order_release(ctl->db, &order, &guard, &err))
		return ctl_fail(CTL_REFUSED, "%s", err.text);
	print_released(ctl, guard);
	view_destroy(guard);
	return CTL_DONE;
}

static enum ctl_exit
run(struct ctl *ctl, int argc, char **argv)
{
	if (strcmp(argv[0], "list") == 0 && argc == 1)
		return list(ctl);
	if (strcmp(argv[0], "release") == 0)
		return release(ctl, argc == 2 ? argv[1] : NULL);
	return ctl_fail(CTL_USAGE, "usage: reconcilectl guard list | release TYPE");
}

const struct command command_guard = {
	.name = "guard",
	.arguments = "list|release [TYPE]",
	.help = "guards that hold actions back, and releasing one",
	.arguments_min = 1,
	.arguments_max = 2,
	.options = specs,
	.values = &options,
	.run = run,
};
