/* SPDX-License-Identifier: Apache-2.0
 *
 * reconcilectl pause and resume: the operations of a type are left alone, or asked about again.
 */
#include <stddef.h>

#include "command.h"
#include "facts.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/store/orders.h"
#include "reconciled/store/views.h"
#include "view_json.h"

static struct {
	const char *reason;
} options;

static const struct option_spec specs[] = {
	{ "reason", "TEXT", option_set_text, offsetof(__typeof__(options), reason),
	  "why, for those who come later" },
	{ 0 },
};

typedef bool order_fn(struct db *db, const char *operation_type, const char *reason,
		      struct view **ret_view, struct err *err);

/* What holds now: perhaps somebody else had ordered it before. */
static void
print_type(struct ctl *ctl, const struct view *type)
{
	bool paused = *facts_text(type, 0, "paused") == 't';
	struct strbuf line = { 0 };

	if (ctl->json) {
		strbuf_puts(&line, "{\"type\":");
		view_json_row(&line, type, 0);
		strbuf_putc(&line, '}');
		ctl_print_json(&line);
		strbuf_finish(&line);
		return;
	}
	strbuf_printf(&line, "%s is %s", facts_text(type, 0, "operation_type"),
		      paused ? "paused" : "not paused");
	if (facts_get(type, 0, "paused_at") != NULL) {
		strbuf_puts(&line, ", since ");
		facts_time(&line, facts_get(type, 0, "paused_at"));
		strbuf_printf(&line, " by %s: %s", facts_text(type, 0, "paused_by"),
			      facts_text(type, 0, "pause_reason"));
	}
	screen_line(&ctl->screen, TONE_PLAIN, strbuf_text(&line));
	strbuf_finish(&line);
}

static enum ctl_exit
give(struct ctl *ctl, order_fn *order, const char *operation_type)
{
	struct view *type = NULL;
	struct err err = { 0 };
	enum ctl_exit code;

	if (options.reason == NULL)
		return ctl_fail(CTL_USAGE, "why? --reason is missing");
	code = ctl_connect(ctl);
	if (code != CTL_DONE)
		return code;
	if (!order(ctl->db, operation_type, options.reason, &type, &err))
		return ctl_fail(CTL_REFUSED, "%s", err.text);
	print_type(ctl, type);
	view_destroy(type);
	return CTL_DONE;
}

static enum ctl_exit
run_pause(struct ctl *ctl, int argc, char **argv)
{
	return give(ctl, order_pause, argv[0]);
}

static enum ctl_exit
run_resume(struct ctl *ctl, int argc, char **argv)
{
	return give(ctl, order_resume, argv[0]);
}

const struct command command_pause = {
	.name = "pause",
	.arguments = "TYPE",
	.help = "leave the operations of a type alone",
	.arguments_min = 1,
	.arguments_max = 1,
	.options = specs,
	.values = &options,
	.run = run_pause,
};

const struct command command_resume = {
	.name = "resume",
	.arguments = "TYPE",
	.help = "go on with a paused type",
	.arguments_min = 1,
	.arguments_max = 1,
	.options = specs,
	.values = &options,
	.run = run_resume,
};
