/* SPDX-License-Identifier: Apache-2.0
 *
 * What the service manager is told, if there is one: ready, reloading, stopping, a line of status,
 * and that the loop turns.
 */
#pragma once

struct event_base;
struct notify;

/* Feeds the watchdog from the loop at half its time, when one was asked for. */
struct notify *notify_create(struct event_base *base);
void notify_destroy(struct notify *notify); /* accepts NULL */

void notify_ready(void);
void notify_reloading(void);
void notify_stopping(void);
void notify_status(struct notify *notify, const char *text); /* sent only when it changed */
