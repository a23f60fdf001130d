/* SPDX-License-Identifier: Apache-2.0
 *
 * One heartbeat at a time: a slow database gets no second one.
 */
#include "guest.h"

#include <stdlib.h>

#include <event2/event.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"

struct guest {
	struct db *db;
	struct guest_callbacks callbacks;
	struct strbuf id;
	const char *name;
	bool joined, beating, left;
	struct event *timer;
};

static void on_timer(evutil_socket_t fd, short what, void *owner);

struct guest *
guest_create(struct event_base *base, struct db *db, const char *name,
	     const struct guest_callbacks *callbacks)
{
	struct guest *guest = xcalloc(1, sizeof(*guest));

	guest->db = db;
	guest->callbacks = *callbacks;
	guest->name = name;
	strbuf_printf(&guest->id, "once:%s", name);
	guest->timer = event_new(base, -1, EV_PERSIST, on_timer, guest);
	return guest;
}

void
guest_destroy(struct guest *guest)
{
	if (!guest)
		return;
	event_free(guest->timer);
	strbuf_finish(&guest->id);
	free(guest);
}

const char *
guest_id(const struct guest *guest)
{
	return strbuf_text(&guest->id);
}

static void
on_beat(void *owner, const struct cluster_view *view, const struct err *err)
{
	struct guest *guest = owner;

	guest->beating = false;
	if (guest->left)
		return;
	if (!err) {
		guest->joined = true;
		guest->callbacks.learnt(guest->callbacks.owner, view);
		return;
	}
	evtimer_del(guest->timer);
	guest->callbacks.failed(guest->callbacks.owner, err);
}

static void
on_timer(evutil_socket_t fd, short what, void *owner)
{
	struct guest *guest = owner;
	const struct beat beat = {
		.instance_id = guest_id(guest),
		.name = guest->name,
		.version = RECONCILED_VERSION,
	};

	if (guest->beating)
		return;
	guest->beating = true;
	store_beat(guest->db, &beat, on_beat, guest);
}

void
guest_join(struct guest *guest)
{
	timer_set(guest->timer, INSTANCE_BEAT_US);
	on_timer(-1, EV_TIMEOUT, guest);
}

bool
guest_leave(struct guest *guest, store_left_fn *done, void *owner)
{
	evtimer_del(guest->timer);
	if (!guest->joined || guest->left)
		return false;
	guest->left = true;
	store_leave(guest->db, guest_id(guest), done, owner);
	return true;
}
