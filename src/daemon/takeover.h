/* SPDX-License-Identifier: Apache-2.0
 *
 * Which configuration is in use, and what other instances hear of it.
 */
#pragma once

#include <stdbool.h>

struct daemon;

/* What was loaded takes over, if there is something: the old set must be idle. */
void takeover_run(struct daemon *daemon);
/* A reload ended, well or not: the service manager is told, and the next one may begin. */
void takeover_over(struct daemon *daemon);
/* From the next heartbeat on: whether this instance takes part in its types. */
void takeover_announce(struct daemon *daemon, bool take_part);
