/* SPDX-License-Identifier: Apache-2.0
 *
 * What the service manager is told, if there is one: ready, reloading, stopping, a line of status,
 * and that the loop turns.
 */
#pragma once

#include <stdint.h>

struct event_base;
struct notify;

/* Feeds the watchdog from the loop at half its time, when one was asked for. */
struct notify *notify_create(struct event_base *base);
void notify_destroy(struct notify *notify); /* accepts NULL */

void notify_ready(void);
void notify_reloading(void);
void notify_stopping(void);
/* Before notify_ready: the start may take that much longer, from now on. 0: says nothing. */
void notify_more_time(int64_t more_us);
void notify_status(struct notify *notify, const char *text); /* sent only when it changed */
