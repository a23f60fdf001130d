/* SPDX-License-Identifier: Apache-2.0
 *
 * Long options from a table: decodes the command line and prints the help.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/base/attributes.h"

struct err;

/* Stores text, which is NULL for an option without argument, into the field. */
typedef bool option_set_fn(void *field, const char *text, struct err *err);

struct option_spec {
	const char *name;     /* without "--"; NULL ends the table */
	const char *argument; /* in capitals, or NULL: takes none */
	option_set_fn *set;
	size_t offset; /* of the field in the values */
	const char *help;
};

struct option_table {
	const struct option_spec *specs; /* or NULL: none */
	void *values;
};

bool option_set_text(void *field, const char *text, struct err *err);	  /* const char * */
bool option_set_flag(void *field, const char *text, struct err *err);	  /* bool */
bool option_set_limit(void *field, const char *text, struct err *err);	  /* int, 1 to 10000 */
bool option_set_duration(void *field, const char *text, struct err *err); /* int64_t microseconds */

/*
 * Takes the options of all tables from argv[0…argc-1], up to "--", and moves the other arguments to the
 * front; with first_only it stops at the first of them. Texts point into argv.
 */
struct option_source {
	const struct option_table *tables;
	size_t tables_count;
	bool first_only;
};
bool options_take(const struct option_source *source, char **argv, int *argc,
		  struct err *err) MUST_CHECK;

/* One line for each option. */
void options_help(const struct option_spec *specs);
