/* SPDX-License-Identifier: Apache-2.0
 *
 * Another configuration while the daemon runs.
 */
#pragma once

struct daemon;

/* SIGHUP; owner is the daemon. One that comes during a reload makes another one afterwards. */
void reload_on_hangup(int fd, short what, void *owner);
