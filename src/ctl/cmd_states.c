/* SPDX-License-Identifier: Apache-2.0
 *
 * reconcilectl states: the life cycle, as the table in the program has it.
 */
#include <stdio.h>

#include "command.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/lifecycle.h"
#include "table.h"
#include "view_json.h"

static struct {
	bool dot;
} options;

static const struct option_spec specs[] = {
	{ "dot", NULL, option_set_flag, 0, "as a graph for dot(1)" },
	{ 0 },
};

static void
print_dot(const struct lifecycle_arrow *arrows, size_t count)
{
	puts("digraph states {\n\trankdir=LR;\n\tnode [shape=box];");
	for (enum status s = 0; s < STATUS_COUNT; s++)
		if (status_is_final(s))
			printf("\t%s [peripheries=2];\n", status_name(s));
	for (size_t i = 0; i < count; i++)
		printf("\t%s -> %s [label=\"%s: %s\"];\n", status_name(arrows[i].from),
		       status_name(arrows[i].to), lifecycle_who_name(arrows[i].who), arrows[i].on);
	puts("}");
}

static void
print_json(const struct lifecycle_arrow *arrows, size_t count)
{
	struct strbuf json = { 0 };

	strbuf_puts(&json, "{\"arrows\":[");
	for (size_t i = 0; i < count; i++) {
		strbuf_puts(&json, i > 0 ? ",{\"from\":" : "{\"from\":");
		view_json_text(&json, status_name(arrows[i].from));
		strbuf_puts(&json, ",\"to\":");
		view_json_text(&json, status_name(arrows[i].to));
		strbuf_puts(&json, ",\"who\":");
		view_json_text(&json, lifecycle_who_name(arrows[i].who));
		strbuf_puts(&json, ",\"on\":");
		view_json_text(&json, arrows[i].on);
		strbuf_puts(&json, ",\"when\":");
		view_json_text(&json, arrows[i].when);
		strbuf_putc(&json, '}');
	}
	strbuf_puts(&json, "]}");
	ctl_print_json(&json);
	strbuf_finish(&json);
}

static void
print_table(const struct screen *screen, const struct lifecycle_arrow *arrows, size_t count)
{
	static const struct table_column columns[] = {
		TABLE_LEFT("FROM"), TABLE_LEFT("TO"),	 TABLE_LEFT("WHO"),
		TABLE_LEFT("ON"),   TABLE_WORDS("WHEN"),
	};
	struct table *table = table_create(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < count; i++) {
		table_add(table, status_name(arrows[i].from));
		table_add(table, status_name(arrows[i].to));
		table_add(table, lifecycle_who_name(arrows[i].who));
		table_add(table, arrows[i].on);
		table_add(table, arrows[i].when);
	}
	table_print(table, screen, 0);
	table_destroy(table);
}

static enum ctl_exit
run(struct ctl *ctl, int argc, char **argv)
{
	size_t count;
	const struct lifecycle_arrow *arrows = lifecycle_arrows(&count);

	if (options.dot)
		print_dot(arrows, count);
	else if (ctl->json)
		print_json(arrows, count);
	else
		print_table(&ctl->screen, arrows, count);
	return CTL_DONE;
}

const struct command command_states = {
	.name = "states",
	.arguments = "",
	.help = "the states of an operation and who moves it between them",
	.options = specs,
	.values = &options,
	.run = run,
};
