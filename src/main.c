/* SPDX-License-Identifier: Apache-2.0
 *
 * reconciled: arguments in, exit code out.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reconciled/base/err.h"
#include "reconciled/base/log.h"
#include "reconciled/base/standard_files.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/config/config.h"
#include "reconciled/config/problems.h"
#include "reconciled/daemon/daemon.h"
#include "reconciled/daemon/once.h"
#include "reconciled/store/db.h"

enum { MIGRATE_CONNECT_SECONDS = 5, MIGRATE_STATEMENT_SECONDS = 600 };

enum command {
	COMMAND_DAEMON, /* without a flag */
	COMMAND_ONCE,
	COMMAND_CHECK,
	COMMAND_DUMP,
	COMMAND_MIGRATE,
	COMMAND_VERSION,
	COMMAND_HELP
};

struct arguments {
	const char *config_file;
	enum command command;
	const char *command_flag;
	const char **types, **operations; /* each with room for argc */
	struct once_options once;
	const char *only_once;	/* a flag that was given and needs --once */
	const char *of_looking; /* one that needs --once or the daemon */
};

static const char usage[] =
	"usage: reconciled [--config FILE] [--type T]... [--observe]\n"
	"       reconciled [--config FILE] --once [--type T]... [--operation ID]... [--observe]\n"
	"                  [--limit N] [--json] [--no-progress]\n"
	"       reconciled [--config FILE] --check-config | --dump-config | --migrate\n"
	"       reconciled --version | --help\n";

enum {
	OPT_CONFIG = 1,
	OPT_ONCE,
	OPT_TYPE,
	OPT_OPERATION,
	OPT_OBSERVE,
	OPT_LIMIT,
	OPT_JSON,
	OPT_NO_PROGRESS,
	OPT_CHECK,
	OPT_DUMP,
	OPT_MIGRATE,
	OPT_VERSION,
	OPT_HELP
};

static const struct option long_options[] = {
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "once", no_argument, NULL, OPT_ONCE },
	{ "type", required_argument, NULL, OPT_TYPE },
	{ "operation", required_argument, NULL, OPT_OPERATION },
	{ "observe", no_argument, NULL, OPT_OBSERVE },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "no-progress", no_argument, NULL, OPT_NO_PROGRESS },
	{ "check-config", no_argument, NULL, OPT_CHECK },
	{ "dump-config", no_argument, NULL, OPT_DUMP },
	{ "migrate", no_argument, NULL, OPT_MIGRATE },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

static const struct {
	enum command command;
	const char *flag;
} commands[] = {
	[OPT_ONCE] = { COMMAND_ONCE, "--once" },
	[OPT_CHECK] = { COMMAND_CHECK, "--check-config" },
	[OPT_DUMP] = { COMMAND_DUMP, "--dump-config" },
	[OPT_MIGRATE] = { COMMAND_MIGRATE, "--migrate" },
	[OPT_VERSION] = { COMMAND_VERSION, "--version" },
	[OPT_HELP] = { COMMAND_HELP, "--help" },
};

static bool
parse_limit(const char *text, int64_t *ret_limit)
{
	char *end;
	long long limit;

	errno = 0;
	limit = strtoll(text, &end, 10);
	if (errno != 0 || *text < '0' || *text > '9' || *end != '\0' || limit < 1) {
		fprintf(stderr,
			"reconciled: --limit: expected a whole number from 1 on, found \"%s\"\n",
			text);
		return false;
	}
	*ret_limit = limit;
	return true;
}

static bool
set_command(struct arguments *arguments, int opt)
{
	if (arguments->command_flag && arguments->command != commands[opt].command) {
		fprintf(stderr, "reconciled: %s and %s do not go together\n",
			arguments->command_flag, commands[opt].flag);
		return false;
	}
	arguments->command = commands[opt].command;
	arguments->command_flag = commands[opt].flag;
	return true;
}

/* One option; false after a message. */
static bool
take_option(struct arguments *arguments, int opt)
{
	struct once_options *once = &arguments->once;

	switch (opt) {
	case OPT_CONFIG:
		arguments->config_file = optarg;
		return true;
	case OPT_TYPE:
		arguments->types[once->types_count++] = optarg;
		arguments->of_looking = "--type";
		return true;
	case OPT_OPERATION:
		arguments->operations[once->operations_count++] = optarg;
		arguments->only_once = "--operation";
		return true;
	case OPT_OBSERVE:
		once->observe = true;
		arguments->of_looking = "--observe";
		return true;
	case OPT_LIMIT:
		arguments->only_once = "--limit";
		return parse_limit(optarg, &once->limit);
	case OPT_JSON:
		once->json = true;
		arguments->only_once = "--json";
		return true;
	case OPT_NO_PROGRESS:
		once->progress = false;
		arguments->only_once = "--no-progress";
		return true;
	case '?':
		return false; /* getopt_long said why */
	default:
		return set_command(arguments, opt);
	}
}

static bool
looks(enum command command)
{
	return command == COMMAND_ONCE || command == COMMAND_DAEMON;
}

static bool
check_arguments(const struct arguments *arguments, int argc, char **argv)
{
	if (optind < argc)
		fprintf(stderr, "reconciled: unexpected argument \"%s\"\n", argv[optind]);
	else if (arguments->only_once && arguments->command != COMMAND_ONCE)
		fprintf(stderr, "reconciled: %s needs --once\n", arguments->only_once);
	else if (arguments->of_looking && !looks(arguments->command))
		fprintf(stderr, "reconciled: %s and %s do not go together\n",
			arguments->command_flag, arguments->of_looking);
	else
		return true;
	return false;
}

static bool
parse_arguments(struct arguments *arguments, int argc, char **argv)
{
	bool ok = true;
	int opt;

	while ((opt = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		ok = take_option(arguments, opt) && ok;
	arguments->once.types = arguments->types;
	arguments->once.operations = arguments->operations;
	ok = ok && check_arguments(arguments, argc, argv);
	if (!ok)
		fputs(usage, stderr);
	return ok;
}

/* NULL after every problem was printed. */
static struct config *
load(const char *file, unsigned parts)
{
	struct problems *problems = problems_create();
	struct config *config = config_load(file, parts, problems);

	problems_print(problems, stderr);
	problems_destroy(problems);
	if (!config && access(file, F_OK) != 0)
		fputs("reconciled: the settings are not there (--config FILE names others)\n",
		      stderr);
	if (config)
		log_setup(config->log_level, config->log_format);
	return config;
}

static enum exit_code
check_config(const struct arguments *arguments)
{
	struct config *config = load(arguments->config_file, CONFIG_ALL | CONFIG_SECRETS);

	if (!config)
		return EXIT_USAGE;
	printf("%s: ok, %zu policies, %zu targets\n", arguments->config_file,
	       config->policies_count, config->targets_count);
	config_unref(config);
	return EXIT_DONE;
}

static enum exit_code
dump_config(const struct arguments *arguments)
{
	struct config *config = load(arguments->config_file, CONFIG_SETTINGS);

	if (!config)
		return EXIT_USAGE;
	config_dump(config, stdout);
	config_unref(config);
	return EXIT_DONE;
}

static void
on_migrated(void *owner, const char *name)
{
	printf("applied %s\n", name);
	(*(int *)owner)++;
}

static enum exit_code
migrate(const struct arguments *arguments)
{
	struct config *config = load(arguments->config_file, CONFIG_SETTINGS);
	struct err err = { 0 };
	int applied = 0;
	bool ok;

	if (!config)
		return EXIT_USAGE;
	ok = db_migrate(
		&(struct db_options){
			.conninfo = config->database,
			.password = config->database_password,
			.application_name = "reconciled --migrate",
			.connect_timeout_us = MIGRATE_CONNECT_SECONDS * (int64_t)1000000,
			.statement_timeout_us = MIGRATE_STATEMENT_SECONDS * (int64_t)1000000,
		},
		on_migrated, &applied, &err);
	if (ok && applied == 0)
		puts("the schema is up to date");
	if (!ok)
		fprintf(stderr, "reconciled: %s\n", err.text);
	config_unref(config);
	return ok ? EXIT_DONE : EXIT_FAILED;
}

/* Every --type must have a policy. */
static bool
types_are_known(const struct config *config, const struct once_options *once)
{
	bool ok = true;

	for (size_t i = 0; i < once->types_count; i++) {
		if (config_policy(config, once->types[i]))
			continue;
		fprintf(stderr, "reconciled: --type: no policy for \"%s\" in %s\n", once->types[i],
			config->policies_dir);
		ok = false;
	}
	return ok;
}

static enum exit_code
run_once(const struct arguments *arguments)
{
	struct config *config = load(arguments->config_file, CONFIG_ALL | CONFIG_SECRETS);
	enum exit_code code = EXIT_USAGE;

	if (!config)
		return EXIT_USAGE;
	if (types_are_known(config, &arguments->once))
		code = once_run(config, &arguments->once);
	config_unref(config);
	return code;
}

static enum exit_code
run_daemon(const struct arguments *arguments)
{
	struct config *config = load(arguments->config_file, CONFIG_ALL | CONFIG_SECRETS);
	const struct daemon_options options = {
		.file = arguments->config_file,
		.types = arguments->once.types,
		.types_count = arguments->once.types_count,
		.observe = arguments->once.observe,
	};

	if (!config)
		return EXIT_USAGE;
	if (types_are_known(config, &arguments->once))
		return daemon_run(config, &options);
	config_unref(config);
	return EXIT_USAGE;
}

static enum exit_code
print_version(const struct arguments *arguments)
{
	puts("reconciled " RECONCILED_VERSION);
	return EXIT_DONE;
}

static enum exit_code
print_help(const struct arguments *arguments)
{
	fputs(usage, stdout);
	return EXIT_DONE;
}

static enum exit_code (*const runners[])(const struct arguments *arguments) = {
	[COMMAND_DAEMON] = run_daemon,	[COMMAND_ONCE] = run_once,
	[COMMAND_CHECK] = check_config, [COMMAND_DUMP] = dump_config,
	[COMMAND_MIGRATE] = migrate,	[COMMAND_VERSION] = print_version,
	[COMMAND_HELP] = print_help,
};

int
main(int argc, char **argv)
{
	CLEANUP(xfree_at) const char **types = xcalloc((size_t)argc, sizeof(*types));
	CLEANUP(xfree_at) const char **operations = xcalloc((size_t)argc, sizeof(*operations));
	struct arguments arguments = {
		.config_file = "/etc/reconciled/reconciled.yaml",
		.types = types,
		.operations = operations,
		.once.progress = true,
	};

	enum exit_code code;

	standard_files_reserve();
	signal(SIGPIPE, SIG_IGN);
	if (!parse_arguments(&arguments, argc, argv))
		return EXIT_USAGE;
	code = runners[arguments.command](&arguments);
	return standard_output_is_complete("reconciled") ? (int)code : EXIT_FAILED;
}
