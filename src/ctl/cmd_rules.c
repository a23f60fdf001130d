/* SPDX-License-Identifier: Apache-2.0
 *
 * reconcilectl rules: from a verdict to an action, as the table in the program has it.
 */
#include "command.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/decide.h"
#include "table.h"
#include "view_json.h"

static void
print_json(const struct decision_row *rows, size_t count)
{
	struct strbuf json = { 0 };

	strbuf_puts(&json, "{\"rules\":[");
	for (size_t i = 0; i < count; i++) {
		strbuf_puts(&json, i > 0 ? ",{\"name\":" : "{\"name\":");
		view_json_text(&json, rows[i].name);
		strbuf_puts(&json, ",\"class\":");
		view_json_text(&json,
			       rows[i].class == CLASS_NONE ? NULL : class_name(rows[i].class));
		strbuf_puts(&json, ",\"when\":");
		view_json_text(&json, rows[i].when);
		strbuf_puts(&json, ",\"action\":");
		view_json_text(&json, action_name(rows[i].action));
		strbuf_putc(&json, '}');
	}
	strbuf_puts(&json, "]}");
	ctl_print_json(&json);
	strbuf_finish(&json);
}

static void
print_table(const struct screen *screen, const struct decision_row *rows, size_t count)
{
	static const struct table_column columns[] = { TABLE_LEFT("RULE"), TABLE_LEFT("CLASS"),
						       TABLE_WORDS("WHEN"), TABLE_LEFT("ACTION") };
	struct table *table = table_create(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < count; i++) {
		table_add(table, rows[i].name);
		table_add(table, rows[i].class == CLASS_NONE ? "every verdict"
							     : class_name(rows[i].class));
		table_add(table, rows[i].when);
		table_add(table, action_name(rows[i].action));
	}
	table_print(table, screen, 0);
	table_destroy(table);
}

static enum ctl_exit
run(struct ctl *ctl, int argc, char **argv)
{
	size_t count;
	const struct decision_row *rows = decision_rows(&count);

	if (ctl->json)
		print_json(rows, count);
	else
		print_table(&ctl->screen, rows, count);
	return CTL_DONE;
}

const struct command command_rules = {
	.name = "rules",
	.arguments = "",
	.help = "the rules from a verdict to an action, first match wins",
	.run = run,
};
