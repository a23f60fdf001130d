/* SPDX-License-Identifier: Apache-2.0
 *
 * reconcilectl schema NAME: the JSON Schema of one kind of file, for editors.
 */
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/config/schema.h"

static enum ctl_exit
refuse(const char *name)
{
	struct strbuf names = { 0 };
	enum ctl_exit code;

	for (size_t i = 0; schema_name(i); i++)
		strbuf_printf(&names, "%s%s", i ? ", " : "", schema_name(i));
	code = ctl_fail(CTL_USAGE, "no schema \"%.40s\" (there are: %s)", name,
			strbuf_text(&names));
	strbuf_finish(&names);
	return code;
}

static enum ctl_exit
run(struct ctl *ctl, int argc, char **argv)
{
	char *schema = schema_text(argv[0]);

	if (schema == NULL)
		return refuse(argv[0]);
	fputs(schema, stdout);
	free(schema);
	return CTL_DONE;
}

const struct command command_schema = {
	.name = "schema",
	.arguments = "config|target|policy|test",
	.help = "its JSON Schema, for editors",
	.arguments_min = 1,
	.arguments_max = 1,
	.run = run,
};
