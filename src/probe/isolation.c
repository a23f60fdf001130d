/* SPDX-License-Identifier: Apache-2.0
 *
 * Targets that were never asked are no witnesses. Who goes on trial next needs no list: whoever
 * failed last waits longest.
 */
#include "isolation.h"

#include "gate.h"
#include "reconciled/base/log.h"

void
isolation_init(struct isolation *isolation, isolation_wake_fn *wake, void *owner)
{
	*isolation = (struct isolation){ .wake = wake, .owner = owner };
	TAILQ_INIT(&isolation->gates);
}

bool
isolation_holds_back(const struct isolation *isolation, const struct gate *gate)
{
	const struct gate *other;

	if (!isolation->on)
		return false;
	TAILQ_FOREACH(other, &isolation->gates, link)
		if (other != gate && other->breaker.state == BREAKER_HALF_OPEN)
			return true;
	return false;
}

static bool
is_unreached(const struct gate *gate)
{
	return gate->breaker.state != BREAKER_CLOSED && gate->breaker.unreached;
}

/* How many targets are out of reach; 0 when one of those that were asked is not. */
static int
count_unreached(const struct isolation *isolation)
{
	const struct gate *gate;
	int count = 0;

	TAILQ_FOREACH(gate, &isolation->gates, link) {
		if (gate->asked && !is_unreached(gate))
			return 0;
		count += gate->asked;
	}
	return count;
}

void
isolation_consider(struct isolation *isolation)
{
	int count;

	if (isolation->on)
		return;
	count = count_unreached(isolation);
	isolation->on = count >= 2;
	if (isolation->on)
		log_error("no target can be reached, the fault seems to be on this side",
			  F_INT("targets", count));
}

void
isolation_end(struct isolation *isolation, int64_t now_us)
{
	struct gate *gate;

	if (!isolation->on)
		return;
	isolation->on = false;
	log_info("targets can be reached again");
	TAILQ_FOREACH(gate, &isolation->gates, link)
		breaker_try_now(&gate->breaker, now_us);
	isolation->wake(isolation->owner);
}
