/* SPDX-License-Identifier: Apache-2.0
 *
 * reconciled without --once: pass after pass until it is told to stop.
 */
#pragma once

#include "reconciled/daemon/once.h"

struct config;

/*
 * Takes over the reference. file is read again on SIGHUP. Ends on SIGTERM and SIGINT with
 * EXIT_DONE; EXIT_FAILED: the schema, the state directory or the address of the HTTP server
 * forbid to start.
 */
enum exit_code daemon_run(struct config *config, const char *file);
