/* SPDX-License-Identifier: Apache-2.0
 *
 * One heartbeat at a time. What counts for the deadline is when an answered one was sent: the
 * database has noted it some time after that.
 */
#include <stdlib.h>

#include <event2/event.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/log.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/store/instances.h"

#include "pulse.h"
#include "standing.h"
#include "state_file.h"

struct pulse {
	struct state_file *state_file;
	const char *name;
	struct pulse_callbacks callbacks;
	struct event *beat, *silence;
	struct db *db; /* NULL: stopped */
	const struct policy *policies;
	size_t policies_count;
	int64_t sent_us; /* of the one under way; 0: none is */
	bool again;
	bool failing; /* told already */
};

static void send_beat(struct pulse *pulse);

static void
on_beat(evutil_socket_t fd, short what, void *owner)
{
	send_beat(owner);
}

static void
on_silence(evutil_socket_t fd, short what, void *owner)
{
	struct pulse *pulse = owner;

	pulse->callbacks.silent(pulse->callbacks.owner);
}

struct pulse *
pulse_create(struct event_base *base, struct state_file *state_file, const char *name,
	     const struct pulse_callbacks *callbacks)
{
	struct pulse *pulse = xcalloc(1, sizeof(*pulse));

	pulse->state_file = state_file;
	pulse->name = name;
	pulse->callbacks = *callbacks;
	pulse->beat = evtimer_new(base, on_beat, pulse);
	pulse->silence = evtimer_new(base, on_silence, pulse);
	return pulse;
}

void
pulse_destroy(struct pulse *pulse)
{
	if (!pulse)
		return;
	event_free(pulse->beat);
	event_free(pulse->silence);
	free(pulse);
}

void
pulse_announce(struct pulse *pulse, const struct policy *policies, size_t count)
{
	pulse->policies = policies;
	pulse->policies_count = count;
}

static void
note_failure(struct pulse *pulse, const struct err *err)
{
	if (!pulse->failing)
		log_warning("a heartbeat was not recorded", F_STR("error", err->text));
	pulse->failing = true;
}

/* An answer that comes too late is none: others may have taken over. */
static void
on_answer(void *owner, const struct cluster_view *view, const struct err *err)
{
	struct pulse *pulse = owner;
	int64_t sent_us = pulse->sent_us;
	int64_t left_us = sent_us + standing_silence_us() - clock_monotonic_us();

	pulse->sent_us = 0;
	timer_set(pulse->beat, pulse->again ? 0 : INSTANCE_BEAT_US);
	pulse->again = false;
	if (err) {
		note_failure(pulse, err);
		return;
	}
	state_file_note_beats(pulse->state_file, view->beats);
	if (left_us <= 0)
		return;
	pulse->failing = false;
	timer_set(pulse->silence, left_us);
	pulse->callbacks.answered(pulse->callbacks.owner, sent_us, view);
}

static void
send_beat(struct pulse *pulse)
{
	const struct beat beat = {
		.instance_id = state_file_instance_id(pulse->state_file),
		.name = pulse->name,
		.version = RECONCILED_VERSION,
		.policies = pulse->policies,
		.policies_count = pulse->policies_count,
		.known_beats = state_file_beats(pulse->state_file),
	};

	pulse->sent_us = clock_monotonic_us();
	store_beat(pulse->db, &beat, on_answer, pulse);
}

void
pulse_start(struct pulse *pulse, struct db *db)
{
	if (pulse->db) {
		pulse_now(pulse);
		return;
	}
	pulse->db = db;
	timer_set(pulse->silence, standing_silence_us());
	send_beat(pulse);
}

void
pulse_now(struct pulse *pulse)
{
	if (!pulse->db)
		return;
	if (pulse->sent_us != 0)
		pulse->again = true;
	else
		timer_set(pulse->beat, 0);
}

void
pulse_stop(struct pulse *pulse)
{
	event_del(pulse->beat);
	event_del(pulse->silence);
	pulse->db = NULL;
	pulse->sent_us = 0;
	pulse->again = false;
}
