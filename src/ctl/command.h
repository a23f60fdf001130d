/* SPDX-License-Identifier: Apache-2.0
 *
 * What a command is, and what it works with. One file for each command, one row in commands[].
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "options.h"
#include "screen.h"

struct config;
struct db;
struct err;
struct event_base;
struct strbuf;

#define CTL_CONFIG_DEFAULT "/etc/reconciled/reconciled.yaml"

enum ctl_exit { CTL_DONE, CTL_REFUSED, CTL_USAGE };

/* One call of the program. */
struct ctl {
	const char *config_file;
	bool json, help, version;
	struct screen screen;
	struct config *config;
	struct event_base *base;
	struct db *db; /* after ctl_connect */
};

struct command {
	const char *name;
	const char *arguments; /* for the usage line, or "" */
	const char *help;
	int arguments_min, arguments_max; /* max -1: any number */
	const struct option_spec *options;
	void *values; /* of the options */
	enum ctl_exit (*run)(struct ctl *ctl, int argc, char **argv);
};

extern const struct command command_status, command_list, command_show, command_explain,
	command_policy, command_states, command_rules, command_schema, command_guard, command_pause,
	command_resume;

/* Reads the configuration and connects; says on standard error why not. */
enum ctl_exit ctl_connect(struct ctl *ctl) MUST_CHECK;
void ctl_finish(struct ctl *ctl);

/* One line on standard error, safe to show; returns code. */
enum ctl_exit ctl_fail(enum ctl_exit code, const char *fmt, ...) PRINTF(2, 3);

/* Prints a JSON document and ends the line. */
void ctl_print_json(const struct strbuf *json);
