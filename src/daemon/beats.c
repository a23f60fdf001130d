/* SPDX-License-Identifier: Apache-2.0
 *
 * Joining or serving, shares, and the funeral of those whose heartbeat has stopped.
 */
#include "reconciled/base/clock.h"
#include "reconciled/base/log.h"
#include "reconciled/store/instances.h"

#include "beats.h"
#include "connections.h"
#include "membership.h"
#include "state_file.h"
#include "states.h"

static void bury_dead(struct daemon *daemon);

static void
on_buried(void *owner, int count, const struct err *err)
{
	struct daemon *daemon = owner;

	daemon->burying = false;
	if (err)
		log_debug("dead instances were not looked for", F_STR("error", err->text));
	if (err || count < 0)
		return;
	log_warning("another instance died, what it had in flight waits half a minute",
		    F_INT("count", count));
	if (state_is(daemon, STATE_SERVING))
		bury_dead(daemon);
}

static void
bury_dead(struct daemon *daemon)
{
	if (daemon->burying || !standing_may_bury(&daemon->standing, clock_monotonic_us()))
		return;
	daemon->burying = true;
	store_bury(connections_watch(daemon->connections), strbuf_text(&daemon->actor),
		   state_file_instance_id(daemon->state_file), false, on_buried, daemon);
}

static void
note_view(struct daemon *daemon, const struct cluster_view *view)
{
	if (view->live_count != daemon->instances)
		log_info("instances alive", F_INT("count", (int64_t)view->live_count));
	daemon->instances = view->live_count;
	if (view->rewound && !daemon->rewound)
		log_error("the rewind guard is tripped: the database is older than an instance has "
			  "seen it; every action but confirmations, and the workers, wait for a "
			  "person");
	if (!view->rewound && daemon->rewound)
		log_info("the rewind guard was released");
	daemon->rewound = view->rewound;
}

static void
leave_arriving(struct daemon *daemon)
{
	bool join = standing_join_us(&daemon->standing, clock_monotonic_us()) > 0;

	state_go(daemon, join ? STATE_JOINING : STATE_PUBLISHING);
}

static void
leave_publishing(struct daemon *daemon, int64_t sent_us, const struct cluster_view *view)
{
	if (sent_us < daemon->published_us)
		return;
	if (daemon->next) /* loaded meanwhile */
		state_go(daemon, STATE_PUBLISHING);
	else if (serving_is_unknown_to(daemon->serving, view) ||
		 serving_is_foreign_to(daemon->serving, view))
		state_publish(daemon);
	else
		state_go(daemon, STATE_SERVING);
}

/* Somebody may have cleared the tables; without its types the instance would stand still. */
static void
take_share(struct daemon *daemon, const struct cluster_view *view)
{
	if (serving_is_unknown_to(daemon->serving, view)) {
		log_warning("the database does not know every operation type of this instance any "
			    "more, they are published again");
		state_go(daemon, STATE_SWITCHING);
		return;
	}
	serving_apply(daemon->serving, view);
	state_tell_serving(daemon);
	bury_dead(daemon);
}

/*
 * The database went back under us, without a connection being lost, and knows our policies no more.
 * Only at that moment: of two instances with different policies none may overrule the other for ever.
 */
static bool
is_forgotten(const struct daemon *daemon, const struct cluster_view *view)
{
	return !daemon->rewound && serving_is_foreign_to(daemon->serving, view);
}

void
beats_on_answered(void *owner, int64_t sent_us, const struct cluster_view *view)
{
	struct daemon *daemon = owner;
	const struct membership membership = { view, serving_config(daemon->serving),
					       state_file_instance_id(daemon->state_file) };
	bool forgotten = is_forgotten(daemon, view);

	standing_note(&daemon->standing, sent_us, membership_has_others(&membership),
		      serving_longest_us(daemon->serving));
	note_view(daemon, view);
	if (state_is(daemon, STATE_ARRIVING))
		leave_arriving(daemon);
	else if (state_is(daemon, STATE_PUBLISHING))
		leave_publishing(daemon, sent_us, view);
	else if (state_is(daemon, STATE_SERVING) && forgotten)
		state_go(daemon, STATE_SWITCHING); /* which leads to publishing */
	else if (state_is(daemon, STATE_SERVING))
		take_share(daemon, view);
}

/* Others take over from here on: what we still learned would only be asked twice. */
void
beats_on_silent(void *owner)
{
	struct err err = { 0 };

	err_fill(&err, ERR_TRANSIENT, "no heartbeat was answered for %d seconds",
		 (int)(standing_silence_us() / SECOND));
	state_give_up(owner, &err);
}
