/* SPDX-License-Identifier: Apache-2.0
 *
 * reconciled without --once: pass after pass until it is told to stop.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/daemon/once.h"

struct config;

/* Borrowed for the whole run. */
struct daemon_options {
	const char *file;	  /* read again on SIGHUP */
	const char *const *types; /* only these; count 0: all */
	size_t types_count;
	bool observe;
};

/*
 * Takes over the reference. Ends on SIGTERM and SIGINT with EXIT_DONE; EXIT_FAILED, after a message
 * on stderr: the schema, the state directory or the address of the HTTP server forbid to start.
 */
enum exit_code daemon_run(struct config *config, const struct daemon_options *options);
