/* SPDX-License-Identifier: Apache-2.0
 *
 * reconcilectl: finds the command, decodes its options, gives its exit code.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "reconciled/base/err.h"
#include "reconciled/base/standard_files.h"

static const struct command *const commands[] = {
	&command_status, &command_list,	 &command_show,	  &command_explain,
	&command_guard,	 &command_pause, &command_resume, &command_policy,
	&command_states, &command_rules, &command_schema,
};

/* clang-format off */
static const struct option_spec global_options[] = {
	{ "config", "FILE", option_set_text, offsetof(struct ctl, config_file),
	  "settings (" CTL_CONFIG_DEFAULT ")" },
	{ "json", NULL, option_set_flag, offsetof(struct ctl, json), "one JSON object in place of tables" },
	{ "help", NULL, option_set_flag, offsetof(struct ctl, help), "this text, or that of a command" },
	{ "version", NULL, option_set_flag, offsetof(struct ctl, version), "the version" },
	{ 0 },
};
/* clang-format on */

static enum ctl_exit
print_help(void)
{
	puts("usage: reconcilectl [--config FILE] [--json] COMMAND [ARGUMENT]...\n\ncommands:");
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		char left[48];

		snprintf(left, sizeof(left), "%s %s", commands[i]->name, commands[i]->arguments);
		printf("  %-26s %s\n", left, commands[i]->help);
	}
	puts("\noptions:");
	options_help(global_options);
	return CTL_DONE;
}

static enum ctl_exit
print_command_help(const struct command *command)
{
	printf("usage: reconcilectl %s%s%s%s\n%s\n", command->name,
	       command->options ? " [OPTION]..." : "", *command->arguments ? " " : "",
	       command->arguments, command->help);
	if (command->options != NULL) {
		puts("\noptions:");
		options_help(command->options);
	}
	return CTL_DONE;
}

static const struct command *
find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static enum ctl_exit
run_command(struct ctl *ctl, const struct command *command, int argc, char **argv)
{
	struct option_table tables[] = { { global_options, ctl },
					 { command->options, command->values } };
	struct option_source source = { .tables = tables, .tables_count = ARRAY_LEN(tables) };
	struct err err = { 0 };

	if (!options_take(&source, argv, &argc, &err))
		return ctl_fail(CTL_USAGE, "%s: %s", command->name, err.text);
	if (ctl->help)
		return print_command_help(command);
	if (argc < command->arguments_min ||
	    (command->arguments_max >= 0 && argc > command->arguments_max))
		return ctl_fail(CTL_USAGE, "usage: reconcilectl %s %s", command->name,
				command->arguments);
	return command->run(ctl, argc, argv);
}

static enum ctl_exit
run(struct ctl *ctl, int argc, char **argv)
{
	struct option_table table = { global_options, ctl };
	struct option_source source = { .tables = &table, .tables_count = 1, .first_only = true };
	const struct command *command;
	struct err err = { 0 };

	if (!options_take(&source, argv, &argc, &err))
		return ctl_fail(CTL_USAGE, "%s", err.text);
	if (ctl->version)
		return printf("reconcilectl %s\n", RECONCILED_VERSION) < 0 ? CTL_REFUSED : CTL_DONE;
	if (argc == 0)
		return ctl->help ? print_help()
				 : ctl_fail(CTL_USAGE, "no command (--help lists them)");
	command = find_command(argv[0]);
	if (command == NULL)
		return ctl_fail(CTL_USAGE, "unknown command \"%s\" (--help lists them)", argv[0]);
	return run_command(ctl, command, argc - 1, argv + 1);
}

int
main(int argc, char **argv)
{
	struct ctl ctl = { .config_file = CTL_CONFIG_DEFAULT };
	enum ctl_exit code;

	standard_files_reserve();
	setlocale(LC_CTYPE, "");
	screen_init(&ctl.screen);
	code = run(&ctl, argc > 0 ? argc - 1 : 0, argv + 1);
	ctl_finish(&ctl);
	return standard_output_is_complete("reconcilectl") ? code : CTL_REFUSED;
}
