/* SPDX-License-Identifier: Apache-2.0
 *
 * A new answer is asked for after one period while the old one still counts, so that work goes on;
 * after two periods without one the old answer counts no more. A lost control is asked again soon,
 * then less often, at least once per period.
 */
#include "control.h"

#include "reconciled/base/arena.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/log.h"

#define FIRST_PAUSE SECOND

void
control_init(struct control *control)
{
	control->state = control->probe != NULL ? CONTROL_LOST : CONTROL_NONE;
	control->pause_us = FIRST_PAUSE;
	control->arena = arena_create();
}

void
control_finish(struct control *control)
{
	if (control->asking) {
		http_cancel(&control->query);
		gate_give(control->gate, control->ticket);
	}
	arena_destroy(control->arena);
	*control = (struct control){ 0 };
}

static void
report_change(const struct control *control, const struct reading *reading)
{
	if (control->state == CONTROL_FOUND)
		log_info("control object found again", F_STR("target", control->target));
	else
		log_warning("control object not found, absences at this target do not count",
			    F_STR("target", control->target),
			    F_STR("reading", reading_kind_name(reading->kind)),
			    F_STR("reason", reading->reason < REASON_COUNT
						    ? reason_name(reading->reason)
						    : ""),
			    F_INT("status", reading->response->status));
}

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void
plan(struct control *control)
{
	int64_t pause = control->every_us;

	if (control->state == CONTROL_FOUND) {
		control->pause_us = FIRST_PAUSE;
	} else {
		pause = least(control->pause_us, control->every_us);
		control->pause_us = least(control->pause_us * 2, control->every_us);
	}
	control->answered_us = clock_monotonic_us();
	control->ask_at_us = control->answered_us + pause;
}

/* Of a control that was answered. */
static void
take(struct control *control, const struct reading *reading)
{
	enum control_state seen = reading->kind == READING_FOUND ? CONTROL_FOUND : CONTROL_LOST;
	bool changed = control->known ? seen != control->state : seen == CONTROL_LOST;

	gate_note(control->gate, control->ticket, reading, control->began_us);
	control->state = seen;
	control->asking = false;
	control->known = true;
	plan(control);
	if (changed)
		report_change(control, reading);
	control->settled(control->owner, reading);
}

/* Between pages, and with a new login, it keeps its slot: it is one question in minutes. */
static void
on_page(void *owner, enum http_outcome outcome)
{
	struct control *control = owner;
	const struct reading *reading;

	if (outcome == HTTP_AGAIN) {
		http_start(control->peer, &control->query);
		return;
	}
	reading = http_reading(&control->query, control->arena, NULL);
	if (reading->next == NULL) {
		take(control, reading);
		return;
	}
	control->query.page = *reading->next;
	http_start(control->peer, &control->query);
}

static bool
is_time(const struct control *control)
{
	int64_t now_us = clock_monotonic_us();

	return now_us >= control->ask_at_us || gate_is_due_for_trial(control->gate, now_us);
}

void
control_step(struct control *control)
{
	if (control->probe == NULL || control->asking || !is_time(control) ||
	    !gate_take(control->gate, &control->ticket))
		return;
	control->asking = true;
	control->began_us = clock_monotonic_us();
	arena_reset(control->arena);
	control->query = (struct http_query){
		.arena = control->arena, .probe = control->probe, .done = on_page, .owner = control
	};
	http_start(control->peer, &control->query);
}

bool
control_is_lost(const struct control *control)
{
	return control->known && control->state == CONTROL_LOST;
}

bool
control_is_settled(const struct control *control)
{
	if (control->probe == NULL)
		return true;
	if (control->asking && control->gate->breaker.state == BREAKER_HALF_OPEN)
		return false;
	return control->answered_us != 0 &&
	       clock_monotonic_us() - control->answered_us < 2 * control->every_us;
}

void
control_inherit(struct control *control, const struct control *before)
{
	if (control->probe == NULL || before->probe == NULL)
		return;
	control->state = before->state;
	control->known = before->known;
}
