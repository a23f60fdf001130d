/* SPDX-License-Identifier: Apache-2.0
 *
 * Among what is held at a target is at most one batch of a probe that takes more.
 */
#include "batch.h"

#include "asking.h"
#include "reconciled/base/clock.h"
#include "target.h"

/* A moment in which the rows that are at hand, and those that come next, are started. */
#define GATHER_US (2 * MILLISECOND)

bool
batch_is_open(const struct asking *asking)
{
	return asking->is_held && asking->shared != NULL && asking->past.asked == 0 &&
	       asking->query.page.index == 0 && !asking->query.login_renewed &&
	       asking->runs_count < (size_t)asking->query.probe->batch_max;
}

static struct asking *
find_open(struct probe_target *target, const struct probe *probe)
{
	struct asking *asking;

	TAILQ_FOREACH(asking, &target->held, link)
		if (asking->query.probe == probe && batch_is_open(asking))
			return asking;
	return NULL;
}

/* Full, it waits for nothing but its turn. */
static void
close_batch(struct asking *asking)
{
	int64_t now_us = clock_monotonic_us();

	if (asking->due_us > now_us)
		asking->due_us = now_us;
	target_alarm(asking->target, now_us, now_us);
}

void
batch_start(struct probe_target *target, const struct probe_question *question,
	    struct probe_run *run)
{
	struct asking *asking = find_open(target, question->probe);

	if (asking == NULL) {
		asking = asking_begin(target, question, true);
		asking_hold(asking, GATHER_US);
		target_alarm(target, asking->due_us, asking->held_us);
	}
	asking_add(asking, run);
	if (!batch_is_open(asking))
		close_batch(asking);
}

/* The most operations that one question of this policy asks about. */
static int
most_at_once(const struct policy *policy)
{
	int most = 1;

	for (size_t i = 0; i < policy->probes_count; i++)
		if (policy->probes[i].batch_max > most)
			most = policy->probes[i].batch_max;
	return most;
}

static bool
asks_with(const struct policy *policy, const struct probe *probe)
{
	for (size_t i = 0; i < policy->probes_count; i++)
		if (&policy->probes[i] == probe)
			return true;
	return false;
}

/* Not every operation goes into a batch: when one waits for a slot of its own, places in batches
 * say nothing about the next. */
static int
open_places(const struct probe_target *target, const struct policy *policy, int64_t now_us)
{
	const struct asking *asking;
	int places = 0;

	TAILQ_FOREACH(asking, &target->held, link) {
		if (asking->shared == NULL && asking->due_us <= now_us)
			return 0;
		if (batch_is_open(asking) && asks_with(policy, asking->query.probe))
			places += asking->query.probe->batch_max - (int)asking->runs_count;
	}
	return places;
}

int
batch_room(const struct probe_target *target, const struct policy *policy, int free, int64_t now_us)
{
	int most = most_at_once(policy);

	return most > 1 ? free * most + open_places(target, policy, now_us) : free;
}
