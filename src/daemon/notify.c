/* SPDX-License-Identifier: Apache-2.0
 *
 * Datagrams to $NOTIFY_SOCKET by libsystemd; without one nothing happens. Failures are not told:
 * nobody could do anything about them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>
#include <systemd/sd-daemon.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"

#include "notify.h"

struct notify {
	struct event *watchdog;
	char *status;
};

static void
on_watchdog(evutil_socket_t fd, short what, void *owner)
{
	sd_notify(0, "WATCHDOG=1");
}

struct notify *
notify_create(struct event_base *base)
{
	struct notify *notify = xcalloc(1, sizeof(*notify));
	uint64_t patience_us;

	if (sd_watchdog_enabled(0, &patience_us) > 0) {
		notify->watchdog = event_new(base, -1, EV_PERSIST, on_watchdog, notify);
		timer_set(notify->watchdog, (int64_t)(patience_us / 2));
	}
	return notify;
}

void
notify_destroy(struct notify *notify)
{
	if (!notify)
		return;
	if (notify->watchdog)
		event_free(notify->watchdog);
	free(notify->status);
	free(notify);
}

void
notify_ready(void)
{
	sd_notify(0, "READY=1");
}

void
notify_more_time(int64_t more_us)
{
	if (more_us > 0)
		sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%" PRId64, more_us + SECOND);
}

/* Both in one datagram: the manager refuses the one without the other. */
void
notify_reloading(void)
{
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, clock_monotonic_us());
}

void
notify_stopping(void)
{
	sd_notify(0, "STOPPING=1");
}

void
notify_status(struct notify *notify, const char *text)
{
	if (notify->status && strcmp(notify->status, text) == 0)
		return;
	free(notify->status);
	notify->status = xstrdup(text);
	sd_notifyf(0, "STATUS=%s", text);
}
