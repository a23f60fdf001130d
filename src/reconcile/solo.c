/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks for a suspect without disturbing anybody; only when there is one is everything else
 * stopped.
 */
#include "solo.h"

#include <assert.h>
#include <stdlib.h>

#include <event2/event.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/probe/engine.h"
#include "reconciled/store/work.h"

#include "source.h"

/* How long suspects are asked before everybody else goes on. */
#define PHASE_US SECOND

/* A phase has to wait for slow answers first: it takes at most one part in so many of the time. */
enum { REST_TIMES = 4 };

enum solo_state {
	SOLO_RESTING, /* the timer runs, or it was never started */
	SOLO_LOOKING, /* is there one? */
	SOLO_WAITING, /* there is: for quiet */
	SOLO_TAKING,
	SOLO_ASKING, /* until it is recorded */
	SOLO_STOPPED,
};

struct solo {
	const struct pass_options *options;
	const struct source *source;
	struct solo_callbacks callbacks;
	enum solo_state state;
	bool is_fetching;
	int64_t waiting_since_us, asking_since_us; /* of the phase, CLOCK_MONOTONIC */
	struct event *timer;
};

static void on_timer(evutil_socket_t fd, short what, void *owner);
static void on_suspect(void *owner, struct due_rows *rows, const struct err *err);

struct solo *
solo_create(const struct pass_options *options, const struct source *source,
	    const struct solo_callbacks *callbacks)
{
	struct solo *solo = xcalloc(1, sizeof(*solo));

	solo->options = options;
	solo->source = source;
	solo->callbacks = *callbacks;
	solo->timer = evtimer_new(options->base, on_timer, solo);
	return solo;
}

void
solo_destroy(struct solo *solo)
{
	if (!solo)
		return;
	event_free(solo->timer);
	free(solo);
}

static void
rest(struct solo *solo, int64_t pause_us)
{
	solo->state = SOLO_RESTING;
	timer_set(solo->timer, pause_us);
}

/* Asks for one of the types whose target lets us ask now; false: there is no such type. */
static bool
fetch(struct solo *solo, const char *note_instance_id)
{
	const struct pass_options *options = solo->options;
	const char **types = xcalloc(options->types_count, sizeof(*types));
	int *indexes = xcalloc(options->types_count, sizeof(*indexes));
	int *counts = xcalloc(options->types_count, sizeof(*counts));
	struct suspect_request request = {
		.types = types,
		.share_index = indexes,
		.share_count = counts,
		.note_instance_id = note_instance_id,
	};

	for (size_t i = 0; i < options->types_count; i++) {
		struct pass_share share = source_share(solo->source, i);

		if (share.count == 0 || probe_target_closed_us(options->types[i].target) > 0)
			continue;
		types[request.types_count] = options->types[i].policy->operation_type;
		indexes[request.types_count] = share.index;
		counts[request.types_count++] = share.count;
	}
	solo->is_fetching = request.types_count > 0;
	if (solo->is_fetching)
		store_fetch_suspect(options->read, &request, on_suspect, solo);
	free(types);
	free(indexes);
	free(counts);
	return solo->is_fetching;
}

static void
end_phase(struct solo *solo)
{
	int64_t took = clock_monotonic_us() - solo->waiting_since_us;
	int64_t pause = solo->options->interval_us;

	rest(solo, pause > REST_TIMES * took ? pause : REST_TIMES * took);
}

static void
on_timer(evutil_socket_t fd, short what, void *owner)
{
	struct solo *solo = owner;

	solo->state = SOLO_LOOKING;
	if (!fetch(solo, NULL))
		rest(solo, solo->options->interval_us);
}

static void
looked(struct solo *solo, bool found)
{
	if (!found) {
		rest(solo, solo->options->interval_us);
		return;
	}
	solo->state = SOLO_WAITING;
	solo->waiting_since_us = clock_monotonic_us();
	solo->callbacks.changed(solo->callbacks.owner, NULL);
}

static void
taken(struct solo *solo, const struct due_rows *rows)
{
	solo->state = SOLO_ASKING;
	if (due_rows_count(rows) == 0 || !solo->callbacks.suspect(solo->callbacks.owner, rows))
		end_phase(solo);
	solo->callbacks.changed(solo->callbacks.owner, NULL);
}

static void
on_suspect(void *owner, struct due_rows *rows, const struct err *err)
{
	struct solo *solo = owner;

	solo->is_fetching = false;
	if (err || solo->state == SOLO_STOPPED)
		solo->callbacks.changed(solo->callbacks.owner, err);
	else if (solo->state == SOLO_TAKING)
		taken(solo, rows);
	else
		looked(solo, due_rows_count(rows) > 0);
	due_rows_destroy(rows);
}

void
solo_start(struct solo *solo)
{
	if (solo->options->note_instance_id)
		timer_set(solo->timer, 0);
}

bool
solo_is_on(const struct solo *solo)
{
	return solo->state == SOLO_WAITING || solo->state == SOLO_TAKING ||
	       solo->state == SOLO_ASKING;
}

bool
solo_is_fetching(const struct solo *solo)
{
	return solo->is_fetching;
}

void
solo_quiet(struct solo *solo)
{
	int64_t now = clock_monotonic_us();

	assert(solo_is_on(solo));
	if (solo->is_fetching)
		return;
	if (solo->state == SOLO_WAITING)
		solo->asking_since_us = now;
	solo->state = SOLO_TAKING;
	if (now - solo->asking_since_us >= PHASE_US ||
	    !fetch(solo, solo->options->note_instance_id))
		end_phase(solo);
}

void
solo_stop(struct solo *solo)
{
	solo->state = SOLO_STOPPED;
	evtimer_del(solo->timer);
}
