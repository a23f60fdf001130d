/* SPDX-License-Identifier: Apache-2.0
 *
 * "--name VALUE" and "--name=VALUE", looked up in the tables.
 */
#include "options.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/err.h"
#include "reconciled/core/duration.h"

enum { LIMIT_MAX = 10000 };

struct option_found {
	const struct option_spec *spec;
	void *values;
};

bool
option_set_text(void *field, const char *text, struct err *err)
{
	*(const char **)field = text;
	return true;
}

bool
option_set_flag(void *field, const char *text, struct err *err)
{
	*(bool *)field = true;
	return true;
}

bool
option_set_limit(void *field, const char *text, struct err *err)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || number < 1 || number > LIMIT_MAX)
		return err_set(err, ERR_INVALID, "\"%s\" is no number from 1 to %d", text,
			       LIMIT_MAX);
	*(int *)field = (int)number;
	return true;
}

bool
option_set_duration(void *field, const char *text, struct err *err)
{
	return duration_parse(text, false, field, err);
}

static struct option_found
find(const struct option_source *source, const char *name, size_t len)
{
	const struct option_spec *spec;

	for (size_t t = 0; t < source->tables_count; t++)
		for (spec = source->tables[t].specs; spec != NULL && spec->name != NULL; spec++)
			if (strlen(spec->name) == len && memcmp(spec->name, name, len) == 0)
				return (struct option_found){ spec, source->tables[t].values };
	return (struct option_found){ 0 };
}

/* argv[*at] is an option; *at moves on to its argument where it has one of its own. */
static bool
take_one(const struct option_source *source, char **argv, int argc, int *at, struct err *err)
{
	const char *name = argv[*at] + 2, *text = strchr(name, '=');
	size_t len = text ? (size_t)(text - name) : strlen(name);
	struct option_found found = find(source, name, len);

	if (found.spec == NULL)
		return err_set(err, ERR_INVALID, "unknown option \"--%.*s\" (--help lists them)",
			       (int)len, name);
	if (found.spec->argument == NULL && text != NULL)
		return err_set(err, ERR_INVALID, "option \"--%s\" takes no value",
			       found.spec->name);
	if (found.spec->argument != NULL && text == NULL) {
		if (*at + 1 == argc)
			return err_set(err, ERR_INVALID, "option \"--%s\" needs a value: %s",
				       found.spec->name, found.spec->argument);
		text = argv[++*at];
	} else if (text != NULL) {
		text++;
	}
	if (!found.spec->set((char *)found.values + found.spec->offset, text, err))
		return err_wrap(err, "option \"--%s\"", found.spec->name);
	return true;
}

bool
options_take(const struct option_source *source, char **argv, int *argc, struct err *err)
{
	int kept = 0, at = 0;

	for (; at < *argc; at++) {
		if (strcmp(argv[at], "--") == 0) {
			at++;
			break;
		}
		if (argv[at][0] == '-' && argv[at][1] != '-' && argv[at][1] != '\0')
			return err_set(err, ERR_INVALID,
				       "unknown option \"%s\" (--help lists them)", argv[at]);
		if (strncmp(argv[at], "--", 2) != 0) {
			if (source->first_only)
				break;
			argv[kept++] = argv[at];
		} else if (!take_one(source, argv, *argc, &at, err)) {
			return false;
		}
	}
	for (; at < *argc; at++)
		argv[kept++] = argv[at];
	*argc = kept;
	return true;
}

void
options_help(const struct option_spec *specs)
{
	char left[48];

	for (; specs != NULL && specs->name != NULL; specs++) {
		snprintf(left, sizeof(left), "--%s %s", specs->name,
			 specs->argument ? specs->argument : "");
		printf("  %-26s %s\n", left, specs->help);
	}
}
