/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything that is wrong with a configuration, with its place: all of it, not the first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "reconciled/base/attributes.h"

struct problem {
	const char *file;
	int line, column; /* from 1; 0: the file as a whole */
	const char *text; /* "key: what was found, what is allowed" */
	bool unsupported; /* the language knows it, this version does not yet */
	bool warning;	  /* loads all the same: what it says is doubtful */
};

struct problems;

struct problems *problems_create(void);
void problems_destroy(struct problems *problems);
void problems_add(struct problems *problems, const char *file, int line, int column,
		  const char *fmt, ...) PRINTF(5, 6);
void problems_add_warning(struct problems *problems, const char *file, int line, int column,
			  const char *fmt, ...) PRINTF(5, 6);
void problems_add_unsupported(struct problems *problems, const char *file, int line, int column,
			      const char *key);
size_t problems_count(const struct problems *problems);
size_t problems_count_errors(const struct problems *problems); /* without warnings */
const struct problem *problems_at(const struct problems *problems,
				  size_t i); /* in order of place */

/* "FILE:LINE:COLUMN: key: message", one line each; "warning: " stands before the key of those. */
void problems_print(const struct problems *problems, FILE *out);
