/* SPDX-License-Identifier: Apache-2.0
 *
 * A folder with a configuration for one test program, and problems as lines of text: the folder
 * is cut off, so that expectations begin with "targets.d/crm.yaml:3:7: ".
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reconciled/config/config.h"
#include "reconciled/config/problems.h"
#include "tap.h"

static char case_folder[200];

static inline const char *
case_path(const char *name)
{
	static char paths[4][400];
	static unsigned int turn;
	char *path = paths[turn++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", case_folder, name);
	return path;
}

static inline void
case_write_bytes(const char *name, const char *bytes, size_t len)
{
	FILE *file = fopen(case_path(name), "w");

	if (!file || fwrite(bytes, 1, len, file) != len || fclose(file) != 0)
		abort();
}

static inline void
case_write(const char *name, const char *text)
{
	case_write_bytes(name, text, strlen(text));
}

static inline void
case_begin(void)
{
	const char *base = getenv("TMPDIR");

	snprintf(case_folder, sizeof(case_folder), "%s/config-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(case_folder) || mkdir(case_path("policies.d"), 0700) != 0 ||
	    mkdir(case_path("targets.d"), 0700) != 0)
		abort();
}

static inline int
case_end(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf '%s'", case_folder);
	tap_ok(system(command) == 0, "the folder of the test is removed");
	return tap_done();
}

/* All problems, one a line, without the folder. The caller frees. */
static inline char *
case_lines(const struct problems *problems)
{
	size_t len = strlen(case_folder), size;
	char *printed = NULL, *lines, *to;
	FILE *out = open_memstream(&printed, &size);

	problems_print(problems, out);
	fclose(out);
	lines = to = calloc(1, size + 1);
	for (const char *from = printed; *from != '\0';) {
		if (strncmp(from, case_folder, len) == 0 && from[len] == '/')
			from += len + 1;
		else
			*to++ = *from++;
	}
	free(printed);
	return lines;
}

/* Loads reconciled.yaml of the folder and compares the problems; "" means that it loads. */
static inline void
case_load(unsigned parts, const char *want, const char *name)
{
	struct problems *problems = problems_create();
	struct config *config = config_load(case_path("reconciled.yaml"), parts, problems);
	char *lines = case_lines(problems);

	tap_str(lines, want, name);
	if ((config != NULL) != (want[0] == '\0'))
		tap_ok(false, "%s: a configuration comes back exactly without problems", name);
	config_unref(config);
	free(lines);
	problems_destroy(problems);
}

/* Leaves the lines of warnings, or those of errors. */
static inline void
case_keep(char *lines, bool warnings)
{
	char *to = lines;

	for (char *line = lines; *line != '\0';) {
		size_t len = strcspn(line, "\n") + 1;
		char *warning = strstr(line, ": warning: ");

		if ((warning && warning < line + len) == warnings) {
			memmove(to, line, len);
			to += len;
		}
		line += len;
	}
	*to = '\0';
}

/* The same for one file alone: its errors, or its warnings. */
static inline void
case_check_for(const char *file, bool warnings, const char *want, const char *name)
{
	struct problems *problems = problems_create();
	bool good = config_check_file(case_path(file), problems);
	char *lines = case_lines(problems);

	case_keep(lines, warnings);

	tap_str(lines, want, name);
	if (good != (problems_count_errors(problems) == 0))
		tap_ok(false, "%s: the file is good exactly without errors", name);
	free(lines);
	problems_destroy(problems);
}

static inline void
case_check(const char *file, const char *want, const char *name)
{
	case_check_for(file, false, want, name);
}

static inline void
case_check_warnings(const char *file, const char *want, const char *name)
{
	case_check_for(file, true, want, name);
}
