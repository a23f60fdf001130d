/* SPDX-License-Identifier: Apache-2.0
 *
 * reconciled --once: one pass over everything due, with progress and a summary.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,	      /* usage or configuration */
	EXIT_UNAVAILABLE = 3, /* done, but a target could not be asked */
};

struct once_options {
	const char *const *types; /* only these; count 0: all */
	size_t types_count;
	const char *const *operations; /* only these, due or not */
	size_t operations_count;
	int64_t limit; /* over all types; 0: none */
	bool observe, json, progress;
};

enum exit_code once_run(const struct config *config, const struct once_options *options);
