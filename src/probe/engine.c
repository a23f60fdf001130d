/* SPDX-License-Identifier: Apache-2.0
 *
 * The targets of one configuration, and what concerns all of them.
 */
#include "reconciled/probe/engine.h"

#include <stdlib.h>

#include "reconciled/base/xalloc.h"
#include "target.h"

static void
wake_all(void *owner)
{
	struct probe_engine *engine = owner;
	struct probe_target *target;

	TAILQ_FOREACH(target, &engine->targets, link)
		target_wake(target);
}

struct probe_engine *
probe_engine_create(struct event_base *base, struct curl_loop *curl)
{
	struct probe_engine *engine = xcalloc(1, sizeof(*engine));

	engine->base = base;
	engine->curl = curl;
	TAILQ_INIT(&engine->targets);
	isolation_init(&engine->isolation, wake_all, engine);
	standstill_init(&engine->standstill, base);
	return engine;
}

void
probe_engine_destroy(struct probe_engine *engine)
{
	struct probe_target *target;

	if (engine == NULL)
		return;
	while ((target = TAILQ_FIRST(&engine->targets)) != NULL) {
		TAILQ_REMOVE(&engine->targets, target, link);
		target_destroy(target);
	}
	standstill_finish(&engine->standstill);
	free(engine);
}

struct probe_target *
probe_engine_add(struct probe_engine *engine, const struct probe_target_options *options)
{
	struct probe_target *target = target_create(engine, options);

	TAILQ_INSERT_TAIL(&engine->targets, target, link);
	return target;
}

void
probe_engine_on_ready(struct probe_engine *engine, probe_ready_fn *ready, void *owner)
{
	engine->ready = ready;
	engine->ready_owner = owner;
}

void
probe_engine_on_answered(struct probe_engine *engine, probe_answered_fn *answered, void *owner)
{
	engine->answered = answered;
	engine->answered_owner = owner;
}

bool
probe_engine_is_isolated(const struct probe_engine *engine)
{
	return engine->isolation.on;
}
