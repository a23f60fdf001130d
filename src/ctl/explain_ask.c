/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine, the wiring of a target and the check are those of the daemon. What is learnt of the
 * target (breaker, rate, control object) begins anew with each call and ends with it.
 */
#include "explain_ask.h"

#include <signal.h>
#include <stdlib.h>

#include <event2/event.h>

#include "command.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/log.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/config/config.h"
#include "reconciled/net/curl_loop.h"
#include "reconciled/probe/engine.h"
#include "reconciled/reconcile/check.h"
#include "reconciled/store/work.h"
#include "reconciled/wiring/targets.h"

struct explain_ask {
	struct ctl *ctl;
	const struct config *config;
	struct curl_loop *curl;
	struct probe_engine *engine;
	const struct target *target;
	struct pass_type type;
	bool guarded;
	struct check *check;
	bool judged;
	struct event *timer;
	bool too_late;
	/* of the fetch */
	bool fetched;
	struct due_rows *rows;
	struct err err;
};

static void
on_judged(void *owner, struct check *check)
{
	struct explain_ask *asking = owner;

	asking->judged = true;
}

static void
on_too_late(evutil_socket_t fd, short what, void *owner)
{
	struct explain_ask *asking = owner;

	asking->too_late = true;
}

struct explain_ask *
explain_ask_create(struct ctl *ctl, const struct config *config, const struct policy *policy,
		   bool guarded)
{
	struct explain_ask *asking = xcalloc(1, sizeof(*asking));

	signal(SIGPIPE, SIG_IGN);
	/* What warnings would say is part of the explanation. */
	log_setup(LOG_LEVEL_ERR, LOG_FORMAT_LOGFMT);
	asking->ctl = ctl;
	asking->config = config;
	asking->guarded = guarded;
	asking->curl = curl_loop_create(ctl->base);
	asking->engine = probe_engine_create(ctl->base, asking->curl);
	asking->target = config_target(config, policy->target);
	asking->type = (struct pass_type){ policy, targets_add(asking->engine, asking->target) };
	asking->check = check_create(on_judged, asking);
	asking->timer = evtimer_new(ctl->base, on_too_late, asking);
	return asking;
}

void
explain_ask_destroy(struct explain_ask *asking)
{
	if (!asking)
		return;
	due_rows_destroy(asking->rows);
	check_destroy(asking->check);
	event_free(asking->timer);
	probe_engine_destroy(asking->engine);
	curl_loop_destroy(asking->curl);
	free(asking);
}

static void
on_fetched(void *owner, struct due_rows *rows, const struct err *err)
{
	struct explain_ask *asking = owner;
	struct check_subject *subject = check_subject(asking->check);

	asking->fetched = true;
	asking->rows = rows;
	if (err)
		asking->err = *err;
	else
		subject->clock_offset_us = due_rows_now_us(rows) - clock_monotonic_us();
}

/* What is waited for has a deadline of its own. */
static bool
turn(struct explain_ask *asking, const bool *over)
{
	while (!*over && event_base_loop(asking->ctl->base, EVLOOP_ONCE) == 0)
		continue;
	return *over;
}

static bool
fetch(struct explain_ask *asking, const char *operation_id, struct err *err)
{
	struct check_subject *subject = check_subject(asking->check);

	store_fetch_ids(asking->ctl->db, &operation_id, 1, on_fetched, asking);
	if (!turn(asking, &asking->fetched))
		return err_set(err, ERR_TRANSIENT, "could not read the operation");
	if (asking->err.code != ERR_NONE) {
		*err = asking->err;
		return false;
	}
	if (due_rows_count(asking->rows) == 0)
		return err_set(err, ERR_INVALID, "unknown operation \"%s\"", operation_id);
	due_rows_decode(asking->rows, 0, check_arena(asking->check), &subject->op);
	subject->type = &asking->type;
	return true;
}

/* Time for the control object, and for logging in before it. */
static int64_t
patience_us(const struct target *target)
{
	return 3 * target->total_timeout_us + 5 * SECOND;
}

/* The control object is asked first; behind a gate that is shut nothing can be asked. */
static bool
wait_for_turn(struct explain_ask *asking, struct err *err)
{
	timer_set(asking->timer, patience_us(asking->target));
	while (probe_target_free(asking->type.target) == 0 && !asking->too_late)
		if (event_base_loop(asking->ctl->base, EVLOOP_ONCE) != 0)
			break;
	evtimer_del(asking->timer);
	if (probe_target_free(asking->type.target) > 0)
		return true;
	return err_set(err, ERR_TRANSIENT,
		       "target \"%s\" could not be asked: it failed, or wants no questions now",
		       asking->type.policy->target);
}

bool
explain_ask_run(struct explain_ask *asking, const char *operation_id, struct err *err)
{
	const struct decide_context context = {
		.observe = asking->config->observe,
		.guarded = asking->guarded,
	};

	if (!fetch(asking, operation_id, err) || !wait_for_turn(asking, err))
		return false;
	check_start(asking->check, &context);
	if (!turn(asking, &asking->judged))
		return err_set(err, ERR_TRANSIENT, "target \"%s\" did not answer in time",
			       asking->type.policy->target);
	return true;
}

struct check *
explain_ask_check(const struct explain_ask *asking)
{
	return asking->check;
}

const struct operation *
explain_ask_operation(const struct explain_ask *asking)
{
	return &check_subject(asking->check)->op;
}

int64_t
explain_ask_now_us(const struct explain_ask *asking)
{
	return check_answered_us(asking->check);
}
