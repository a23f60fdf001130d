/* SPDX-License-Identifier: Apache-2.0
 *
 * Configuration and connection of one call, and its ways to speak.
 */
#include <event2/event.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "command.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/config/config.h"
#include "reconciled/config/problems.h"
#include "reconciled/store/db.h"
#include "reconciled/store/work.h"
#include "text.h"

enum ctl_exit
ctl_fail(enum ctl_exit code, const char *fmt, ...)
{
	struct strbuf line = { 0 };
	struct err message = { 0 };
	va_list args;

	va_start(args, fmt);
	vsnprintf(message.text, sizeof(message.text), fmt, args);
	va_end(args);
	text_clean(&line, message.text, TEXT_WIDTH_ANY, false);
	fprintf(stderr, "reconcilectl: %s\n", strbuf_text(&line));
	strbuf_finish(&line);
	return code;
}

void
ctl_print_json(const struct strbuf *json)
{
	struct strbuf clean = { 0 };

	text_clean_json(&clean, strbuf_text(json));
	puts(strbuf_text(&clean));
	strbuf_finish(&clean);
}

static enum ctl_exit
load_config(struct ctl *ctl)
{
	struct problems *problems = problems_create();

	ctl->config = config_load(ctl->config_file, CONFIG_SETTINGS, problems);
	if (ctl->config == NULL)
		problems_print(problems, stderr);
	problems_destroy(problems);
	if (ctl->config == NULL && access(ctl->config_file, F_OK) != 0)
		return ctl_fail(CTL_USAGE,
				"the settings are not there (--config FILE names others)");
	return ctl->config ? CTL_DONE : CTL_USAGE;
}

struct schema_check {
	bool done;
	struct err err;
};

static void
on_checked(void *owner, const struct err *err)
{
	struct schema_check *check = owner;

	check->done = true;
	if (err != NULL)
		check->err = *err;
}

/* A missing or older schema is named once, with the command that mends it. */
static bool
check_schema(struct ctl *ctl, struct err *err)
{
	struct schema_check check = { 0 };

	store_check_schema(ctl->db, on_checked, &check);
	while (!check.done && event_base_loop(ctl->base, EVLOOP_ONCE) == 0)
		continue;
	*err = check.err;
	return check.done && check.err.code == ERR_NONE;
}

enum ctl_exit
ctl_connect(struct ctl *ctl)
{
	struct db_options options = { .application_name = "reconcilectl",
				      .connect_timeout_us = 10 * SECOND,
				      .statement_timeout_us = MINUTE };
	struct err err = { 0 };

	if (load_config(ctl) != CTL_DONE)
		return CTL_USAGE;
	options.conninfo = ctl->config->database;
	options.password = ctl->config->database_password;
	ctl->base = event_base_new();
	if (ctl->base == NULL)
		return ctl_fail(CTL_REFUSED, "could not start an event loop");
	ctl->db = db_create(ctl->base, &options);
	if (!db_connect_wait(ctl->db, &err) || !check_schema(ctl, &err))
		return ctl_fail(CTL_REFUSED, "%s", err.text);
	return CTL_DONE;
}

void
ctl_finish(struct ctl *ctl)
{
	if (ctl->db != NULL)
		db_destroy(ctl->db);
	if (ctl->base != NULL)
		event_base_free(ctl->base);
	if (ctl->config != NULL)
		config_unref(ctl->config);
	libevent_global_shutdown();
}
